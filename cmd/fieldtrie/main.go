// Command fieldtrie runs the programs of Fieldtrie under one unique name: "fieldtrie ingest" runs
// ingest, and so on. The programs are in its own folder or in ../lib/fieldtrie.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/internal/spelling"
)

const usage = `Usage: fieldtrie ingest    [flags]              the daemon: collector, store, API, dashboard
       fieldtrie aggregate [flags] [FILE...]    query profiles and comparisons; read profile files
       fieldtrie upload    [flags] DIR...       send the names of functions after a build

Each command runs the program of that name, which also works on its own. Help texts and the
documentation omit the first word: "aggregate --list pages" is "fieldtrie aggregate --list pages".

Examples:

  fieldtrie ingest --data fieldtrie-data                  then open http://127.0.0.1:8419/
  fieldtrie aggregate --list pages
  fieldtrie upload --addr 127.0.0.1:8419 --release 2026.11.3 dist/

  fieldtrie ingest --help`

const notes = `Exit status: the status of the program; 2 for an unknown program.`

// programs returns the programs that fieldtrie runs.
func programs() []string { return []string{"ingest", "aggregate", "upload"} }

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs a program, or handles flags of fieldtrie itself, and returns the exit status. On
// Unix the program replaces this process and execute does not return.
func execute(args []string, stdout, stderr io.Writer) int {
	code, err := run(args, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "fieldtrie:", output.PrintableLines(err.Error()))
	}
	return code
}

// wrongUsage is the exit status for a wrong command line, the same as in the programs.
const wrongUsage = 2

func run(args []string, stdout io.Writer) (code int, err error) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return start(args[0], args[1:])
	}
	var asked commandline.Asked
	about := pflag.NewFlagSet("", pflag.ContinueOnError)
	asked.Add(about)
	p := commandline.Program{Name: "fieldtrie", Summary: "JavaScript profiles from real users", Usage: usage,
		Notes:    notes,
		Sections: []commandline.Section{{Flags: about}}}
	err = commandline.Parse(p.Flags(), args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		err = p.WriteHelp(stdout)
	case err != nil:
		return wrongUsage, fmt.Errorf("%w; flags of a program follow its name: fieldtrie aggregate %s", err, args[0])
	case asked.Completion != "":
		// The programs have their own completions, so only the first word is completed here.
		all := []*commandline.Program{&p}
		for _, name := range programs() {
			all = append(all, &commandline.Program{Name: p.Name + " " + name})
		}
		err = commandline.WriteCompletion(stdout, asked.Completion, all...)
	case asked.Any():
		err = asked.Answer(stdout, &p)
	default:
		return wrongUsage, fmt.Errorf("name a program: %s; see fieldtrie --help", strings.Join(programs(), ", "))
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

func start(name string, args []string) (code int, err error) {
	if !slices.Contains(programs(), name) {
		hint := strings.Join(programs(), ", ")
		if near := spelling.Likely(name, programs()); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return wrongUsage, fmt.Errorf("there is no program %.80q: %s", name, hint)
	}
	path, err := find(name)
	if err != nil {
		return 1, err
	}
	return replace(path, args)
}

// find returns the path of a program. It looks in the private directory of a package first, because
// fieldtrie's folder may have an unrelated program with the same name.
func find(name string) (string, error) {
	own, err := os.Executable()
	if err != nil { // a system without /proc
		if own, err = exec.LookPath(os.Args[0]); err != nil {
			return "", err
		}
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return "", err
	}
	beside := filepath.Dir(own)
	file := name
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	places := []string{filepath.Join(filepath.Dir(beside), "lib", "fieldtrie"), beside}
	for _, dir := range places {
		if path, err := exec.LookPath(filepath.Join(dir, file)); err == nil {
			return path, nil
		}
	}
	hint := "build it: go build ./cmd/" + name
	if name == "ingest" && runtime.GOOS != "linux" {
		hint = "releases have the daemon for Linux alone; on other systems " + hint
	}
	return "", fmt.Errorf("%s is neither in %s nor in %s; %s", file, places[0], places[1], hint)
}
