package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommands has each command of ours that the documentation shows have flags that there are, of
// the program or of its subcommand, and subcommands that there are.
func TestCommands(t *testing.T) {
	flags := map[string][]string{} // by program, or program and subcommand
	for _, name := range named {
		for command, known := range flagsOf(t, filepath.Join(bin, name), name) {
			flags[command] = known
		}
	}
	if len(flags) < 6 || !slices.Contains(flags["aggregate report"], "lab") {
		t.Fatalf("got flags %v", flags)
	}
	checked := 0
	for file, text := range documents(t) {
		for _, command := range commandsOf(text) {
			words := strings.Fields(command)
			known := flags[words[0]]
			if len(words) > 1 && flags[words[0]+" "+words[1]] != nil {
				known = flags[words[0]+" "+words[1]]
			}
			checked++
			for _, m := range flag.FindAllStringSubmatch(command, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s: %s has no flag --%s:\n%s", file, words[0], m[1], command)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("%d commands are few", checked)
	}
}

// TestFlags checks that each flag which completions show is in a document.
func TestFlags(t *testing.T) {
	documented := map[string]bool{}
	for _, text := range documents(t) {
		for _, m := range regexp.MustCompile(`--([a-z][a-z0-9-]*)`).FindAllStringSubmatch(text, -1) {
			documented[m[1]] = true
		}
	}
	for _, name := range named {
		for command, known := range flagsOf(t, filepath.Join(bin, name), name) {
			for _, flag := range known {
				if !documented[flag] {
					t.Errorf("%s: --%s is in no document", command, flag)
				}
			}
		}
	}
}

// documents returns the documents for people who run the programs, by the names of their files.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

var flag = regexp.MustCompile(`\s--([a-z][a-z-]*)`)

// flagsOf returns the flags of a program and of its subcommands, which it tells shells.
func flagsOf(t *testing.T, path, name string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), path, "--completion", "fish").Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	known := map[string][]string{}
	of := regexp.MustCompile(`^complete -c \S+(?: -n '__fish_seen_subcommand_from (\S+)')?.*? -l (\S+)`)
	for line := range strings.Lines(string(out)) {
		if m := of.FindStringSubmatch(line); m != nil {
			command := strings.TrimSpace(name + " " + m[1])
			known[command] = append(known[command], m[2])
		}
	}
	for command := range known {
		known[command] = append(known[command], "help")
	}
	return known
}

// commandsOf returns the commands of our named in the examples of a file, each on one line, without
// comments and redirections.
func commandsOf(text string) (commands []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	fenced := false
	begin := regexp.MustCompile(`(?:^|[|;&]\s+|\brun: |\bscript: |\$ )(?:\S*/)?(` + strings.Join(named, "|") +
		`)(\s.*|$)`)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		code, ok := strings.CutPrefix(line, "    ")
		if !ok && !fenced {
			continue
		}
		if !ok {
			code = line
		}
		code, _, _ = strings.Cut(strings.TrimSpace(code), "   ") // what is behind is a comment
		m := begin.FindStringSubmatch(code)
		if m == nil {
			continue
		}
		command, _, _ := strings.Cut(m[1]+m[2], " # ")
		command, _, _ = strings.Cut(command, " | ")
		commands = append(commands, command)
	}
	return commands
}
