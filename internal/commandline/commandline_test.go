package commandline

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// example has one flag of each kind, and a subcommand.
func example() (*Program, *Program) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringP("output", "o", "", "`FILE` to write; - is standard output")
	fs.String("data", "d", "`DIR` with the user's data")
	fs.String("format", "top", "how: one of those [known]")
	_ = fs.SetAnnotation("format", Values, []string{"top", "tree"})
	fs.Bool("quiet", false, "say nothing: not even this")
	fs.String("secret", "", "for tests")
	_ = fs.MarkHidden("secret")
	usage := "Usage: tool [flags]\n       tool sub [flags]\n\nDoes a thing.\n.And goes on.\n\nExamples:\n\n  tool " +
		"--data d-1 \\\n"
	sub := pflag.NewFlagSet("", pflag.ContinueOnError)
	sub.Int("runs", 10, "how often")
	return &Program{Name: "tool", Summary: "do a thing", Usage: usage, Sections: []Section{{Flags: fs}},
			Notes: "Exit status: 0."},
		&Program{Name: "tool sub", Summary: "do another thing", Usage: "Usage: tool sub",
			Sections: []Section{{"Sub", sub}}}
}

// TestBash runs the completion script in bash.
func TestBash(t *testing.T) {
	tool, sub := example()
	var script strings.Builder
	if err := WriteCompletion(&script, "bash", tool, sub); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"tool --", "--output --data --format --quiet"},
		{"tool --q", "--quiet"},
		{"tool --format t", "top tree"},
		{"tool --format to", "top"},
		{"tool --secr", ""},
		{"tool su", "sub"},
		{"tool sub --", "--runs"},
		{"tool sub --runs 1", ""},
	} {
		words := strings.Split(c.line, " ")
		run := exec.Command("bash", "-c", script.String()+`
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tool; echo "${COMPREPLY[*]}"`, "bash")
		run.Args = append(run.Args, words...)
		run.Dir = t.TempDir()
		out, err := run.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.line, got, err, c.want)
		}
	}
}

// TestShells checks that each completion has each visible flag, including the subcommand's.
func TestShells(t *testing.T) {
	tool, sub := example()
	for _, shell := range Shells() {
		var b strings.Builder
		if err := WriteCompletion(&b, shell, tool, sub); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"output", "data", "format", "quiet", "runs"} {
			if !strings.Contains(b.String(), flag) {
				t.Errorf("%s lacks %s", shell, flag)
			}
		}
		if strings.Contains(b.String(), "secret") {
			t.Errorf("%s shows a hidden flag", shell)
		}
		if path, err := exec.LookPath(shell); err == nil { // installed shells check the syntax
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(b.String())
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", shell, err, out)
			}
		}
	}
	if err := WriteCompletion(nil, "csh", tool); err == nil || !strings.Contains(err.Error(), "bash, fish, zsh") {
		t.Errorf("csh: got %v", err)
	}
}

func TestMan(t *testing.T) {
	tool, sub := example()
	var b strings.Builder
	if err := tool.WriteMan(&b, Version{Version: "v1.2.3", Date: "2026-11-21T10:00:00Z"}, sub); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for _, want := range []string{
		`.TH TOOL 1 "2026-11-21" "Fieldtrie v1.2.3" "Fieldtrie"`,
		`tool \- do a thing`,
		`tool sub [flags]`,
		`\&.And goes on.`,
		`  tool \-\-data d\-1 \e`,
		`\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR`,
		`how: one of those [known] (default top)`,
		`.SH TOOL SUB`,
		`\fB\-\-runs\fR \fIint\fR`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "secret") {
		t.Error("a hidden flag is shown")
	}
}

func TestHelp(t *testing.T) {
	tool, _ := example()
	var some, all strings.Builder
	if err := tool.WriteHelp(&some, "data"); err != nil {
		t.Fatal(err)
	}
	if err := tool.WriteHelp(&all); err != nil {
		t.Fatal(err)
	}
	if s := some.String(); !strings.Contains(s, "--data") || strings.Contains(s, "--quiet") ||
		!strings.HasSuffix(s, "Exit status: 0.\n") {
		t.Errorf("some flags:\n%s", s)
	}
	if s := all.String(); !strings.Contains(s, "--data") || !strings.Contains(s, "--quiet") {
		t.Errorf("all flags:\n%s", s)
	}
}

func TestVersion(t *testing.T) {
	v := Version{Version: "v1.2.3", Revision: "0123456789abcdef", Modified: true, Date: "2026-11-21T10:00:00Z",
		Go: "go1.26.7", Platform: "linux/amd64"}
	if got, want := v.String(),
		"v1.2.3 (0123456789ab and changes, 2026-11-21T10:00:00Z, go1.26.7, linux/amd64)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := ReadVersion(); got.Version == "" || got.Go == "" || got.Platform == "" {
		t.Errorf("of this program: %+v", got)
	}
}
