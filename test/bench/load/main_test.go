package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const traces = "../../../testdata/traces"

func TestUsage(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, &out, &out); err != nil || !strings.Contains(out.String(),
		"--kill-every") {
		t.Errorf("help: %v\n%s", err, &out)
	}
	for _, args := range [][]string{
		{"--no-such-flag"},
		{"a", "b"},
		{"--addr", "127.0.0.1:1", "--kill-every", "1s"},
		{"--addr", "127.0.0.1:1", "--", "--retention", "1h"},
		{"--pid", "1"},
		{"--kill-every", "-1s"},
		{"--addr", "127.0.0.1:1", "--zipf", "0.5", traces},
	} {
		if err := run(t.Context(), args, &out, &out); exitCode(err) != 2 {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestKill runs the program against a daemon that it kills.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a daemon and kills it")
	}
	t.Parallel()
	name := filepath.Join(t.TempDir(), "report.json")
	var out, log bytes.Buffer
	args := []string{"--rate", "200", "--for", "4s", "--restart", "--kill-every", "1s", "--retry", "--repeat", "0.1",
		"--json-report", name, traces}
	if err := run(t.Context(), args, &out, &log); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &log)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	// On a busy machine some of the 800 traces are not sent at all.
	if r.Kills == 0 || !r.Verified || r.Sent+r.Unsent != 800 || r.Stored < 200 || r.VerifiedTraces != r.Stored ||
		r.CPUSeconds == 0 || r.DiskBytes == 0 || r.Restarted == nil || r.Restarted.Cold == 0 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(out.String(), "exactly what was acknowledged") {
		t.Errorf("the table is\n%s", &out)
	}
}

func TestWatch(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip(err)
	}
	w := watch{pid: os.Getpid}
	w.begin()
	// Other processes may occupy the processor.
	for end := time.Now().Add(time.Minute); w.used() < 20*time.Millisecond && time.Now().Before(end); {
		w.look()
	}
	if w.used() < 20*time.Millisecond || w.rss < 1<<20 || w.anon < 1<<20 || w.anon > w.rss {
		t.Errorf("%v of processor time, %d bytes resident, %d anonymous", w.used(), w.rss, w.anon)
	}
}
