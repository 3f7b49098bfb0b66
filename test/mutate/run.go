package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// outcome is the result of a mutation; the package comment describes the values.
type outcome string

const (
	killed         outcome = "killed"
	timedOut       outcome = "timed out"
	explained      outcome = "explained"
	survived       outcome = "survived"
	doesNotCompile outcome = "does not compile"
	doesNotApply   outcome = "does not apply"
	testsFail      outcome = "tests fail"
)

var outcomes = []outcome{killed, timedOut, explained, survived, doesNotCompile, doesNotApply, testsFail}

// bad reports whether the mutation needs attention.
func (o outcome) bad() bool { return o != killed && o != timedOut && o != explained }

// result is the outcome of one mutation.
type result struct {
	Name    string  `json:"name"`
	File    string  `json:"file"`
	Outcome outcome `json:"outcome"`
	Seconds float64 `json:"seconds"`
	Detail  string  `json:"detail,omitempty"` // the reason, or the end of the output
}

// runner runs the tests of mutations, one after the other.
type runner struct {
	root    string // of the module
	work    string // a temporary folder
	timeout time.Duration
	failed  map[string]string // by tests that ran without a mutation: the end of their output, empty if they passed
}

func newRunner(root string, timeout time.Duration) (*runner, error) {
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	return &runner{root: root, work: work, timeout: timeout, failed: map[string]string{}}, nil
}

func (r *runner) close() { _ = os.RemoveAll(r.work) }

// run applies a mutation and runs its tests until one fails.
func (r *runner) run(ctx context.Context, m mutation) result {
	began := time.Now()
	o, detail := r.outcomeOf(ctx, m)
	return result{m.Name, m.File, o, time.Since(began).Seconds(), detail}
}

func (r *runner) outcomeOf(ctx context.Context, m mutation) (outcome, string) {
	text, err := m.apply(r.root)
	if err != nil {
		return doesNotApply, err.Error()
	}
	run, file := r.goTest, m.File
	if script, ok := strings.CutPrefix(m.File, "sdk/"); ok {
		run, file = r.node, script
	}
	for _, tests := range m.Tests {
		failed, found := r.failed[tests]
		if !found {
			_, failed = run(ctx, "", nil, tests)
			r.failed[tests] = failed
		}
		if failed != "" {
			return testsFail, failed
		}
		switch o, detail := run(ctx, file, text, tests); o {
		case survived:
		case killed, timedOut:
			return o, ""
		default:
			return o, detail
		}
	}
	if m.Survives != "" {
		return explained, m.Survives
	}
	return survived, ""
}

// buildFailed is the line of a package that go test could not build.
var buildFailed = regexp.MustCompile(`(?m)^FAIL\s+\S+ \[(build|setup) failed\]$`)

// goTest runs go test with a file replaced, or without a change if file is empty. The detail is
// empty if the tests pass.
func (r *runner) goTest(ctx context.Context, file string, text []byte, tests string) (outcome, string) {
	args := []string{"test", "-short", "-vet=off", "-failfast", "-timeout", r.timeout.String()}
	if file != "" {
		changed := filepath.Join(r.work, filepath.Base(file))
		overlay := filepath.Join(r.work, "overlay.json")
		replace := map[string]map[string]string{"Replace": {filepath.Join(r.root, filepath.FromSlash(file)): changed}}
		body, err := json.Marshal(replace)
		if err = errors.Join(err, os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, body, 0o600)); err != nil {
			return testsFail, err.Error()
		}
		args = append(args, "-count=1", "-overlay", overlay)
	}
	o, out := r.command(ctx, r.root, "go", append(args, strings.Fields(tests)...)...)
	switch {
	case o == killed && buildFailed.MatchString(out):
		return doesNotCompile, end(out)
	case o == killed && strings.Contains(out, "panic: test timed out after"):
		return timedOut, end(out)
	}
	return o, end(out)
}

// node runs tests of the browser script in a copy of sdk, with a file of it replaced if the name is
// not empty.
func (r *runner) node(ctx context.Context, file string, text []byte, tests string) (outcome, string) {
	to := filepath.Join(r.work, "sdk")
	if err := r.copyScript(to); err != nil {
		return testsFail, err.Error()
	}
	if file != "" {
		changed := filepath.Join(to, filepath.FromSlash(file))
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return testsFail, err.Error()
		}
		if o, out := r.command(ctx, to, "node", "--check", changed); o != survived {
			return doesNotCompile, end(out)
		}
	}
	args := []string{"--test", fmt.Sprintf("--test-timeout=%d", r.timeout.Milliseconds())}
	o, out := r.command(ctx, to, "node", append(args, strings.Fields(tests)...)...)
	return o, end(out)
}

// copyScript copies the files that tests of the browser script read, with the same relative paths.
func (r *runner) copyScript(to string) error {
	if _, err := os.Stat(to); err == nil { // only src changes
		if err := os.RemoveAll(filepath.Join(to, "src")); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(to, "src"), os.DirFS(filepath.Join(r.root, "sdk", "src")))
	}
	for _, name := range []string{"src", "test"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(r.root, "sdk", name))); err != nil {
			return err
		}
	}
	for _, name := range []string{"testdata", "sdk/dist", "sdk/package.json", "sdk/node_modules"} {
		from := filepath.Join(r.root, filepath.FromSlash(name))
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Symlink(from, filepath.Join(r.work, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command. The outcome is survived, killed or timedOut, and the text is its output,
// or empty if it succeeded.
func (r *runner) command(ctx context.Context, dir, name string, args ...string) (outcome, string) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout+time.Minute) // go test and node have the timeout, too
	defer cancel()
	var out bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &out
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	switch err := c.Run(); {
	case err == nil:
		return survived, ""
	case ctx.Err() != nil:
		return timedOut, "the tests did not end in time"
	case out.Len() == 0:
		return killed, err.Error()
	}
	return killed, out.String()
}

// end returns the end of an output.
func end(out string) string { return out[max(0, len(out)-2000):] }
