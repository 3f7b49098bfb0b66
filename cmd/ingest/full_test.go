//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// disks are small disks with file systems on which Badger is known to crash when they are full.
var disks = map[string]func(testing.TB, int64) *scratchdisk.Disk{"tmpfs": scratchdisk.Tmpfs, "ext4": scratchdisk.Ext4}

const diskSize = 1 << 30

// senders send traces, each once, until they are stopped.
type senders struct {
	next, accepted, refused, wrong atomic.Int64 // wrong: any other answer, or refused without Retry-After
	mu                             sync.Mutex
	acked                          map[int]bool
	stop                           chan struct{}
	wait                           sync.WaitGroup
}

func send(url string, first int) *senders {
	s := &senders{acked: map[int]bool{}, stop: make(chan struct{})}
	s.next.Store(int64(first))
	for range 8 {
		s.wait.Go(func() {
			for {
				select {
				case <-s.stop:
					return
				default:
					s.post(url)
				}
			}
		})
	}
	return s
}

func (s *senders) post(url string) {
	n := int(s.next.Add(1))
	res, err := http.Post(url+"/v1/traces", "application/json", strings.NewReader(crashTrace(n)))
	if err != nil {
		s.wrong.Add(1)
		time.Sleep(10 * time.Millisecond)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	switch {
	case res.StatusCode == http.StatusAccepted:
		s.mu.Lock()
		s.acked[n] = true
		s.mu.Unlock()
		s.accepted.Add(1)
	case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
		s.refused.Add(1)
	default:
		s.wrong.Add(1)
	}
}

// end stops the senders and returns the acknowledged traces.
func (s *senders) end() map[int]bool {
	close(s.stop)
	s.wait.Wait()
	return s.acked
}

// program returns the daemon: this test binary under the name that TestMain gave it.
func program(t *testing.T) string {
	t.Helper()
	return programOf(t, "ingest")
}

// wantStored checks that each acknowledged trace is stored once and no trace is stored twice.
func wantStored(t *testing.T, dir string, acked map[int]bool) {
	t.Helper()
	found := viewsIn(t, dir)
	lost, doubled := 0, 0
	for n := range acked {
		if found[fmt.Sprintf("%032x", n+1)] == 0 {
			lost++
		}
	}
	for _, c := range found {
		if c > 1 {
			doubled++
		}
	}
	if lost > 0 || doubled > 0 || len(acked) == 0 {
		t.Errorf("of %d acknowledged traces %d are lost; %d are stored twice", len(acked), lost, doubled)
	}
	t.Logf("%d traces acknowledged, %d found", len(acked), len(found))
}

// TestDiskFull fills the disk under load. The daemon must refuse traces and nothing else, and
// accept them again as soon as there is room.
func TestDiskFull(t *testing.T) {
	for kind, disk := range disks {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fs := disk(t, diskSize)
			dir := filepath.Join(fs.Dir, "data")
			d := launch(t, program(t), dir)
			s := send(d.public, 0)
			until(t, "traces", func() bool {
				return s.accepted.Load() > 200 && strings.Contains(d.get("/api/v1/catalog?since=1h"), "/crash/a")
			})
			fs.Fill(0, 8<<20, 2*time.Millisecond)
			until(t, "refusals", func() bool { return s.refused.Load() > 100 })
			if !strings.Contains(d.get("/api/v1/catalog?since=1h"), "/crash/a") {
				t.Error("queries fail")
			}
			until(t, "metrics that tell", func() bool {
				m := d.get("/metrics")
				return strings.Contains(m, "fieldtrie_store_refusing_for_space 1") &&
					metric(m, "fieldtrie_store_free_bytes") < 1<<20
			})
			if got := d.ask("/readyz"); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body,
				"takes no traces") {
				t.Errorf("on a full disk /readyz is %+v", got)
			}
			before := s.accepted.Load()
			time.Sleep(500 * time.Millisecond)
			if n := s.accepted.Load() - before; n != 0 {
				t.Errorf("%d traces accepted on a full disk", n)
			}
			fs.Empty()
			until(t, "traces again", func() bool { return s.accepted.Load() > before+200 })
			acked := s.end()
			if n := s.wrong.Load(); n != 0 {
				t.Errorf("%d requests were neither accepted nor refused with Retry-After", n)
			}
			if err := d.stop(syscall.SIGTERM); err != nil {
				t.Errorf("the daemon ended with %v\n%s", err, d.log.String())
			}
			wantStored(t, dir, acked)
		})
	}
}

// TestStopOnFullDisk stops the daemon while the disk is full: accepted traces are rolled up once
// there is room.
func TestStopOnFullDisk(t *testing.T) {
	t.Parallel()
	fs := scratchdisk.Ext4(t, diskSize)
	dir := filepath.Join(fs.Dir, "data")
	d := launch(t, program(t), dir)
	s := send(d.public, 0)
	until(t, "traces", func() bool { return s.accepted.Load() > 200 })
	fs.Fill(0, 8<<20, 2*time.Millisecond)
	until(t, "refusals", func() bool { return s.refused.Load() > 20 })
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the daemon ended with %v\n%s", err, d.log.String())
	}
	fs.Empty()
	wantStored(t, dir, s.end())
}

// metric returns the value of a metric without labels, or -1 if it is missing.
func metric(text, name string) float64 {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err == nil {
				return n
			}
		}
	}
	return -1
}

// TestStartOnFullDisk starts the daemon after a crash while the disk is full: it answers queries
// and refuses traces until there is room.
func TestStartOnFullDisk(t *testing.T) {
	for kind, disk := range disks {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fs := disk(t, diskSize)
			dir, bin := filepath.Join(fs.Dir, "data"), program(t)
			old := yesterday(t, dir)
			d := launch(t, bin, dir)
			s := send(d.public, 0)
			until(t, "traces", func() bool { return s.accepted.Load() > 200 })
			_ = d.stop(syscall.SIGKILL)
			acked := s.end()
			fs.Fill(0, 64<<20, 0)

			d = launch(t, bin, dir)
			if c := d.get("/api/v1/catalog"); !strings.Contains(c, old) {
				t.Errorf("the catalogue is %s", c)
			}
			s = send(d.public, 10_000)
			until(t, "refusals", func() bool { return s.refused.Load() > 20 })
			if n := s.accepted.Load(); n != 0 {
				t.Errorf("%d traces accepted on a full disk", n)
			}
			fs.Empty()
			until(t, "traces in the end", func() bool { return s.accepted.Load() > 200 })
			for n := range s.end() {
				acked[n] = true
			}
			until(t, "all in the catalogue", func() bool {
				return strings.Contains(d.get("/api/v1/catalog"), "/crash/a")
			})
			if err := d.stop(syscall.SIGTERM); err != nil {
				t.Errorf("the daemon ended with %v\n%s", err, d.log.String())
			}
			wantStored(t, dir, acked)
		})
	}
}

// yesterday stores a trace of the previous day and returns its page.
func yesterday(t *testing.T, dir string) string {
	t.Helper()
	at := time.Now().Add(-23 * time.Hour)
	n, end := storetest.OpenDirectory(t, dir, func() time.Time { return at })
	appendPage(t, n, "/yesterday", 1)
	end()
	return "/yesterday"
}

// TestDiskFails makes the disk fail under load: after the first error no trace is acknowledged, and
// the daemon reports the failure.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	fs := scratchdisk.Ext4(t, diskSize)
	dir, bin := filepath.Join(fs.Dir, "data"), program(t)
	d := launch(t, bin, dir)
	s := send(d.public, 0)
	until(t, "traces", func() bool { return s.accepted.Load() > 200 })
	fs.Cut()
	until(t, "refusals", func() bool { return s.wrong.Load()+s.refused.Load() > 5 })
	before := s.accepted.Load()
	until(t, "a daemon that is not ready", func() bool {
		got := d.ask("/readyz")
		return got.status == http.StatusServiceUnavailable && strings.Contains(got.body, "the store takes no traces: ")
	})
	_ = d.stop(syscall.SIGKILL)
	acked := s.end()
	if n := s.accepted.Load() - before; n != 0 {
		t.Errorf("%d traces accepted after the disk had failed", n)
	}
	fs.Remount()
	wantStored(t, dir, acked)
}
