//go:build linux

package main

import (
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// programOf returns a program that TestMain provides under a name.
func programOf(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// freezing returns a disk that can stop responding, and a data directory on it.
func freezing(t *testing.T) (d *scratchdisk.Disk, dir string) {
	t.Helper()
	d = scratchdisk.Ext4(t, diskSize)
	return d, filepath.Join(d.Dir, "data")
}

// wantRefused checks that the daemon sends a client away temporarily, with the reason if the daemon
// knows that the store is stuck.
func wantRefused(t *testing.T, what string, got answered, known bool) {
	t.Helper()
	if got.status != http.StatusServiceUnavailable || got.after == "" || known && !strings.Contains(got.body,
		"the store has not written for too long") {
		t.Errorf("%s: got %+v, want status 503 with Retry-After, and the reason", what, got)
	}
}

// TestStuck freezes the disk of a daemon that keeps running: clients and supervisors are notified,
// until the disk responds again.
func TestStuck(t *testing.T) {
	t.Parallel()
	signs := listenForSigns(t, filepath.Join(t.TempDir(), "notify"))
	disk, dir := freezing(t)
	d := launchIn(t, []string{"NOTIFY_SOCKET=" + signs.address, "WATCHDOG_USEC=1500000"}, program(t), dir,
		"--exit-when-stuck=false")
	signs.expect(nowReady)
	signs.expect(stillAlive)
	d.wantAccepted(1)
	if m := d.get("/metrics"); metric(m, "fieldtrie_store_stuck") != 0 {
		t.Errorf("metrics report a stuck store before the disk is frozen")
	}

	disk.Freeze()
	wantRefused(t, "a trace that waits", d.sendTrace(2), false)
	wantRefused(t, "the next one", d.sendTrace(3), true)
	wantRefused(t, "one later", d.sendTrace(4), true)
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := d.ask(path); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body,
			"store is stuck: the disk of ") {
			t.Errorf("%s: got %+v, want status 503 and the reason", path, got)
		}
	}
	m := d.get("/metrics")
	if stuck, oldest := metric(m, "fieldtrie_store_stuck"),
		metric(m, "fieldtrie_store_oldest_wait_seconds"); stuck != 1 || oldest < 10 {
		t.Errorf("metrics: got stuck %v and an oldest wait of %v s, want 1 and more than 10 s", stuck, oldest)
	}
	signs.expectNone(stillAlive)

	disk.Thaw()
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

// TestExitWhenStuck freezes the disk of a daemon that should exit in this case, because its
// supervisor starts another one.
func TestExitWhenStuck(t *testing.T) {
	t.Parallel()
	disk, dir := freezing(t)
	// The garbage collector stops all threads again and again, and must not find one that waits for
	// the disk in a page fault of a mapped file.
	d := launchIn(t, []string{"WATCHDOG_USEC=30000000", "GOGC=2"}, program(t), dir)
	d.wantAccepted(1)
	disk.Freeze()
	wantRefused(t, "a trace that waits", d.sendTrace(2), false)
	d.wantEnd()
	disk.Thaw() // otherwise the kernel could not end the process
	wantLeft(t, d, d.wait())

	d = launch(t, program(t), dir)
	d.wantAccepted(3)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the next daemon ended with %v\n%s", err, d.log.String())
	}
	wantStored(t, dir, map[int]bool{1: true, 3: true})
}

// TestTerminateStuck stops a daemon whose disk does not respond, before and after the daemon has
// noticed.
func TestTerminateStuck(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		t.Run(map[bool]string{false: "waiting", true: "known"}[known], func(t *testing.T) {
			t.Parallel()
			disk, dir := freezing(t)
			d := launch(t, program(t), dir)
			d.wantAccepted(1)
			disk.Freeze()
			answers := make(chan answered, 1)
			go func() { answers <- d.sendTrace(2) }()
			until(t, "a trace that waits", func() bool {
				return metric(d.get("/metrics"), "fieldtrie_store_oldest_wait_seconds") > 0
			})
			if known {
				until(t, "a store that is stuck", func() bool {
					return d.ask("/healthz").status == http.StatusServiceUnavailable
				})
			}
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			wantRefused(t, "a trace that waits", <-answers, false)
			d.wantEnd()
			disk.Thaw()
			wantLeft(t, d, d.wait())
			wantStored(t, dir, map[int]bool{1: true})
		})
	}
}

// wantEnd waits until the daemon has logged why it exits.
func (d *running) wantEnd() {
	d.t.Helper()
	until(d.t, "the end of the daemon", func() bool { return strings.Contains(d.log.String(), lastWords) })
}

// lastWords ends the last log line of a daemon that leaves its store behind.
const lastWords = "; acknowledged traces are on disk, and the next start continues from there"

// wantLeft checks that a daemon left its store behind and that its last log line has the reason.
func wantLeft(t *testing.T, d *running, err error) {
	t.Helper()
	if x, ok := errors.AsType[*exec.ExitError](err); !ok || x.ExitCode() != 1 {
		t.Errorf("the daemon ended with %v, want status 1", err)
	}
	lines := strings.Split(strings.TrimSpace(d.log.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(strings.TrimPrefix(last, "ingest: "), "store is stuck: the disk of ") ||
		!strings.HasSuffix(last, lastWords) {
		t.Errorf("last line of the log: got %q, want the stuck operation", last)
	}
}
