package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/programs"
)

// programsDir returns a folder with the programs, which look for each other in their own directory.
func programsDir(t *testing.T) string {
	t.Helper()
	dir, done, err := programs.Dir("demo", "ingest", "aggregate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return dir
}

// demo returns the command that runs the demo with its own directory for temporary
// files.
func demo(t *testing.T, bin string) (*exec.Cmd, string, *bytes.Buffer) {
	t.Helper()
	tmp := t.TempDir()
	cmd := exec.Command(filepath.Join(bin, "demo"))
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, tmp, &out
}

// files returns all files below dir.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDemo(t *testing.T) {
	bin := programsDir(t)
	t.Run("to its end", func(t *testing.T) {
		cmd, tmp, out := demo(t, bin)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{"20 traces accepted", "20 page views, 20 traces:", "go tool pprof -http=: "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the demo does not say %q:\n%s", want, out)
			}
		}
		if left := files(t, tmp); len(left) != 1 || filepath.Base(left[0]) != "profile.pb.gz" {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		for _, after := range []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
			cmd, tmp, out := demo(t, bin)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			finished := cmd.Process.Signal(syscall.SIGINT) != nil
			// Without a word it has not begun: on a busy machine it does not hear signals yet.
			if err := cmd.Wait(); err != nil && !finished && out.Len() > 0 {
				t.Errorf("interrupted after %v: %v\n%s", after, err, out)
			}
			left := files(t, tmp)
			if strings.Contains(out.String(), "Try next") {
				continue // it was over before the signal
			}
			if len(left) > 0 {
				t.Errorf("interrupted after %v: left behind: %v\n%s", after, left, out)
			}
			if daemonOn(tmp) {
				t.Errorf("interrupted after %v: ingest still runs", after)
			}
		}
	})
}

// daemonOn reports whether a process has a file below dir on its command line.
func daemonOn(dir string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), dir) {
			return true
		}
	}
	return false
}
