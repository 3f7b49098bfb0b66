// Command mutate changes one place of the code at a time, and reports the changes that no test finds.
//
//	go run ./test/mutate [--only REGEXP] [--timeout DURATION] [--json] [--list]
//
// "make mutants" runs it. mutations.txt has the changes. To add one, append an entry, and run the program with --only:
//
//	== trie: weights saturate at the largest number
//	file: trie/weights.go
//	tests: ./trie -run TestAdd
//	- c < 0
//	+ c <= 0
//
// The lines with "-" are replaced by those with "+". Their text, joined by newlines, must occur exactly once in the file:
// add code around it until it does. Without a line with "+" the text is deleted. "tests" has the arguments of go test,
// and may be repeated; they should take seconds. A file below sdk takes the arguments of node --test instead, which runs
// in a copy of sdk. Lines with "#" are comments.
//
// A change that has no effect that a test could see has a line that says why:
//
//	survives: the caller sorts them again
//
// The working tree is never changed: go test reads the changed file with -overlay. A test that starts the go command, or
// a program of the project that was built before, does not see the change.
//
// Each change is one of these:
//
//   - killed: a test failed.
//   - timed out: the tests took longer than --timeout. This counts as killed.
//   - survived: all tests passed.
//   - explained: all tests passed, and a line says why.
//   - does not compile.
//   - does not apply: the file does not have the text, or has it several times.
//   - tests fail: they also fail without the change, so they say nothing.
//
// The exit status is 1 if a change survived, does not compile, does not apply or has failing tests.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

//go:embed mutations.txt
var list string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("mutate", flag.ContinueOnError)
	only := fs.String("only", "", "run the mutations whose name or file matches `REGEXP`")
	timeout := fs.Duration("timeout", 3*time.Minute, "how long the tests of a mutation may take; longer counts as killed")
	asJSON := fs.Bool("json", false, "write a line of JSON for each mutation, and no summary")
	names := fs.Bool("list", false, "list the mutations, and run none")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	all, err := parse(list)
	if err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	r, err := newRunner(root, *timeout)
	if err != nil {
		return err
	}
	defer r.close()
	var s summary
	for _, m := range all {
		if !chosen.MatchString(m.Name) && !chosen.MatchString(m.File) {
			continue
		}
		if *names {
			fmt.Fprintf(stdout, "%-36s %s\n", m.File, m.Name)
			continue
		}
		got := r.run(ctx, m)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.add(got)
		if err := write(stdout, got, *asJSON); err != nil {
			return err
		}
	}
	if *names {
		return nil
	}
	if !*asJSON {
		fmt.Fprintln(stdout, s.String())
	}
	if s.bad > 0 {
		return fmt.Errorf("%d of %d mutations need a test, an explanation or a correction", s.bad, s.all)
	}
	return nil
}

// write writes the result of a mutation as one line, and below it what went wrong.
func write(w io.Writer, r result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err := fmt.Fprintf(w, "%-16s %5.1f s  %-36s %s\n", r.Outcome, r.Seconds, r.File, r.Name)
	if err == nil && r.Detail != "" {
		_, err = fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(strings.TrimSpace(r.Detail), "\n", "\n    "))
	}
	return err
}

// summary counts results.
type summary struct {
	counts   map[outcome]int
	all, bad int
}

func (s *summary) add(r result) {
	if s.counts == nil {
		s.counts = map[outcome]int{}
	}
	s.counts[r.Outcome]++
	s.all++
	if r.Outcome.bad() {
		s.bad++
	}
}

func (s *summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d mutations", s.all)
	for _, o := range outcomes {
		if n := s.counts[o]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, o)
		}
	}
	return b.String()
}

// moduleRoot returns the folder of the module's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
