package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/hostile"
)

// runMain is an environment variable with arguments. If it is set, the test binary runs aggregate
// with them.
const runMain = "FIELDTRIE_TEST_AGGREGATE"

// The first signal ends aggregate at any point, and leaves no unfinished file.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such signals")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "hostile")
	if err := os.WriteFile(file, hostile.Bytes(hostile.DeepFolded, 60_000), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(dir, "deep")
	if err := os.WriteFile(deep, hostile.Bytes(hostile.NestedSpeedscope, 200_000), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for name, c := range map[string]struct {
		args   string
		signal syscall.Signal
		status int
	}{
		"reading a pipe":         {"-f top -", syscall.SIGINT, 130},
		"computing":              {"-f json -o " + out + strings.Repeat(" "+deep, 200), syscall.SIGTERM, 143},
		"writing to a full pipe": {"-f cpuprofile " + deep, syscall.SIGINT, 130},
		"text to a full pipe":    {"-f tree --rows -1 " + deep, syscall.SIGTERM, 143},
		"timed, to a full pipe":  {"-f speedscope --timed " + deep, syscall.SIGINT, 130},
		"waiting for a reader":   {"-f pprof -o " + filepath.Join(dir, "fifo") + " " + file, syscall.SIGTERM, 143},
	} {
		t.Run(name, func(t *testing.T) {
			_ = exec.Command("mkfifo", filepath.Join(dir, "fifo")).Run()
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), runMain+"="+c.args)
			stdin, err := cmd.StdinPipe() // stays open and empty
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stdin.Close() }()
			stdout, err := cmd.StdoutPipe() // without a reader
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stdout.(io.Closer).Close() }()
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // until work is in progress
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				x, ok := errors.AsType[*exec.ExitError](err)
				if !ok || x.ExitCode() != c.status {
					t.Errorf("ended with %v, want status %d: %s", err, c.status, &complaints)
				}
			case <-time.After(30 * time.Second): // takes about 1 s, more on a busy machine
				_ = cmd.Process.Kill()
				t.Error("does not exit")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".out*")); left != nil {
				t.Errorf("left %s", left)
			}
		})
	}
}
