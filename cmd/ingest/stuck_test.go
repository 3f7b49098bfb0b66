//go:build linux

package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// programOf returns a program that TestMain has under a name.
func programOf(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stall has the store of a daemon of [stalling] stand still, until goOn is called.
func stall(t *testing.T, dir string) (goOn func()) {
	t.Helper()
	clock := dir + clockFile
	if err := syscall.Mkfifo(clock, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		// Those who wait are let go when the last writer closes the FIFO.
		w, err := os.OpenFile(clock, os.O_WRONLY, 0)
		if err == nil {
			err = errors.Join(os.Remove(clock), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// answered is an answer of a daemon.
type answered struct {
	status int
	after  string // Retry-After
	body   string
	err    error // there was none
}

// patient waits for longer than a daemon may take.
var patient = &http.Client{Timeout: 30 * time.Second}

// sendTrace sends the trace with number n.
func (d *running) sendTrace(n int) answered {
	return answerOf(patient.Post(d.public+"/v1/traces", "application/json", strings.NewReader(crashTrace(n))))
}

// ask asks the private address.
func (d *running) ask(path string) answered { return answerOf(patient.Get(d.private + path)) }

func answerOf(res *http.Response, err error) answered {
	if err != nil {
		return answered{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answered{err: err}
	}
	return answered{res.StatusCode, res.Header.Get("Retry-After"), string(b), nil}
}

// wantAccepted checks that the daemon takes a trace.
func (d *running) wantAccepted(n int) {
	d.t.Helper()
	if got := d.sendTrace(n); got.status != http.StatusAccepted {
		d.t.Fatalf("trace %d: got %+v, want status 202", n, got)
	}
}

// wantRefused checks that an answer sends a client away for now.
func wantRefused(t *testing.T, what string, got answered) {
	t.Helper()
	if got.status != http.StatusServiceUnavailable || got.after == "" || !strings.Contains(got.body, "the store has not written for too long") {
		t.Errorf("%s: got %+v, want status 503 with Retry-After, and the reason", what, got)
	}
}

// TestStuck has the store stand still under a daemon that shall go on: clients and
// supervisors are told, and no longer when the store goes on.
func TestStuck(t *testing.T) {
	t.Parallel()
	signs := listenForSigns(t, filepath.Join(t.TempDir(), "notify"))
	dir := filepath.Join(t.TempDir(), "data")
	d := launchIn(t, []string{"NOTIFY_SOCKET=" + signs.address, "WATCHDOG_USEC=1500000"}, programOf(t, "ingest-stalling"), dir, "--exit-when-stuck=false")
	signs.expect(nowReady)
	signs.expect(stillAlive)
	d.wantAccepted(1)
	if m := d.get("/metrics"); metric(m, "fieldtrie_store_stuck") != 0 || metric(m, "fieldtrie_store_oldest_wait_seconds") != 0 {
		t.Errorf("metrics tell of a store that is stuck, or of waiting, before anything waits")
	}

	goOn := stall(t, dir)
	wantRefused(t, "a trace that waits", d.sendTrace(2))
	wantRefused(t, "the next one", d.sendTrace(3))
	for _, path := range []string{"/healthz", "/readyz"} {
		got := d.ask(path)
		if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "store is stuck: ") ||
			!strings.Contains(got.body, "delivery has been waiting for its commit for ") || !strings.Contains(got.body, "committer has been ") {
			t.Errorf("%s: got %+v, want status 503 and what waits for what", path, got)
		}
	}
	m := d.get("/metrics")
	if stuck, oldest := metric(m, "fieldtrie_store_stuck"), metric(m, "fieldtrie_store_oldest_wait_seconds"); stuck != 1 || oldest < 10 {
		t.Errorf("metrics: got stuck %v and an oldest wait of %v s, want 1 and more than 10 s", stuck, oldest)
	}
	signs.expectNone(stillAlive)

	goOn()
	until(t, "ready again", func() bool { return d.get("/readyz") == "ready\n" })
	if got := d.ask("/healthz"); got.body != "ok\n" {
		t.Errorf("/healthz afterwards: got %+v, want ok", got)
	}
	signs.expect(stillAlive)
	for n := range 4 {
		d.wantAccepted(n)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the daemon ended with %v\n%s", err, d.log.String())
	}
	signs.expect(nowStopping)
	wantStored(t, dir, map[int]bool{0: true, 1: true, 2: true, 3: true})
}

// TestExitWhenStuck has the store stand still under a daemon that shall end then.
func TestExitWhenStuck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d := launchIn(t, []string{"WATCHDOG_USEC=30000000"}, programOf(t, "ingest-stalling"), dir)
	d.wantAccepted(1)
	_ = stall(t, dir)
	wantRefused(t, "a trace that waits", d.sendTrace(2))
	wantLeft(t, d, d.wait())

	d = launch(t, program(t), dir)
	d.wantAccepted(3)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the next daemon ended with %v\n%s", err, d.log.String())
	}
	wantStored(t, dir, map[int]bool{1: true, 3: true})
}

// TestDiskFreezes has a disk that does not answer any more, in the middle of what the store does
// with it through mapped files.
func TestDiskFreezes(t *testing.T) {
	t.Parallel()
	disk := scratchdisk.Ext4(t, diskSize)
	dir := filepath.Join(disk.Dir, "data")
	// The garbage collector stops all threads, again and again, and must find none that can not.
	d := launchIn(t, []string{"GOGC=2"}, program(t), dir, "--exit-when-stuck")
	d.wantAccepted(1)
	disk.Freeze()
	answers := make(chan answered, 1)
	go func() { answers <- d.sendTrace(2) }()
	until(t, "the end of the daemon", func() bool { return errors.Is(d.ask("/metrics").err, syscall.ECONNREFUSED) })
	wantRefused(t, "a trace that waits", <-answers)
	disk.Thaw() // or it could not end
	wantLeft(t, d, d.wait())
	wantStored(t, dir, map[int]bool{1: true})
}

// TestTerminateStuck stops a daemon of which the store stands still, before anybody knows
// that it is stuck, and afterwards.
func TestTerminateStuck(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		t.Run(map[bool]string{false: "waiting", true: "known"}[known], func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			d := launch(t, programOf(t, "ingest-stalling"), dir)
			d.wantAccepted(1)
			_ = stall(t, dir)
			answers := make(chan answered, 1)
			go func() { answers <- d.sendTrace(2) }()
			until(t, "a trace that waits", func() bool { return metric(d.get("/metrics"), "fieldtrie_store_oldest_wait_seconds") > 0 })
			if known {
				until(t, "a store that is stuck", func() bool { return d.ask("/healthz").status == http.StatusServiceUnavailable })
			}
			wantLeft(t, d, d.stop(syscall.SIGTERM))
			wantRefused(t, "a trace that waits", <-answers)
		})
	}
}

// wantLeft checks that a daemon left its store behind, and that its last line says why.
func wantLeft(t *testing.T, d *running, err error) {
	t.Helper()
	if x, ok := errors.AsType[*exec.ExitError](err); !ok || x.ExitCode() != 1 {
		t.Errorf("the daemon ended with %v, want status 1", err)
	}
	lines := strings.Split(strings.TrimSpace(d.log.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "ingest: store is stuck: ") || !strings.Contains(last, "delivery has been waiting for its commit for ") ||
		!strings.HasSuffix(last, "; what was acknowledged is on disk, and the next start goes on from there") {
		t.Errorf("last line of the log: got %q, want what waits for what", last)
	}
}
