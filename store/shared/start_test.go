package shared

import (
	"bytes"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Start retries if the store is busy, and fails if the store rejects the request.
func TestStartOnBusyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		for range 20 {
			s.Faults, s.Which = 0.3, func(r *http.Request) bool { return r.Method == http.MethodPut }
			openNode(t, s, Options{})
		}
		s.Faults, s.Denied = 0, []string{http.MethodPut}
		begin := time.Now()
		if _, err := Open(t.Context(), s.Client().Bucket(time.Now), Options{}); err == nil || time.Since(begin) > 0 {
			t.Errorf("got %v", err)
		}
	})
}

// A node that is closed empties its spool if the store is available, and otherwise logs what is
// left.
func TestCloseEmptiesSpool(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for _, away := range []bool{false, true} {
			s := fakebucket.New(1)
			client := s.Client()
			var log bytes.Buffer
			n, err := Open(t.Context(), client.Bucket(time.Now), Options{Spool: filepath.Join(dir, "spool"),
				Flush: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			client.CutAfter(0)
			if res, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil ||
				res.Durability != store.Spool {
				t.Fatal(res, err)
			}
			if !away {
				client.CutAfter(-1)
			}
			if err := n.Close(t.Context()); err != nil {
				t.Error(err)
			}
			left := n.Counters().SpoolSegments
			if said := strings.Contains(log.String(), "segments=1"); said != away || (left > 0) != away {
				t.Errorf("away: %v: %d segments are left; %s", away, left, log.String())
			}
		}
	})
}
