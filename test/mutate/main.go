// Command mutate tests the tests: it makes one small change in the code at a time and reports the
// changes that no test detects.
//
//	go run ./test/mutate [--only REGEXP] [--timeout DURATION] [--json] [--list]
//
// "make mutants" runs it. The changes are in mutations.txt. To add one, append an entry like this,
// and run the program with --only:
//
//	== trie: the sum of the two least numbers overflows
//	file: trie/weights.go
//	tests: ./trie -run TestAddSaturates
//	- b < 0 && c >= 0
//	+ b < 0 && c > 0
//
// The program replaces the text of the "-" lines with the text of the "+" lines, or deletes it. The
// text must occur exactly once in the file; add the code around it if it does not. The "tests" line
// has arguments of go test, with -short; it may be repeated, and should take seconds. For files
// below sdk it has arguments of node --test, which runs in a copy of sdk. "#" begins a comment.
//
// If no test can detect a change, its entry needs the reason:
//
//	survives: the caller sorts them again
//
// The working tree is not changed: go test reads the mutated file with -overlay. Tests that start
// the go command or a program from bin do not see the mutation.
//
// The results are:
//
//   - killed: a test failed.
//   - timed out: the tests took longer than --timeout. This counts as killed.
//   - survived: all tests passed.
//   - explained: all tests passed, and the entry has the reason.
//   - does not compile.
//   - does not apply: the text occurs in the file never or several times.
//   - tests fail: the tests fail without the mutation as well.
//
// The exit status is 0 if all mutations were killed, timed out or are explained, and else 1.
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
	timeout := fs.Duration("timeout", 3*time.Minute,
		"how long the tests of a mutation may take; longer counts as killed")
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

// write writes a line for a result, and its detail below.
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
