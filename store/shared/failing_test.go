package shared

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// If a store rejects the requests of all shards with the same error, a round logs one line.
func TestOneWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		var log bytes.Buffer
		n := openNode(t, s, Options{Flush: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		s.Faults, s.Which = 1, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/MANIFEST") }
		s.Denied = []string{http.MethodGet}
		n.round(t.Context(), roll.Work{Close: true})
		if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "[0 1 2 3 4 5 6 7]") ||
			!strings.Contains(got, "s3:GetObject") {
			t.Errorf("got %s", got)
		}
	})
}

// The error that a run is missing, which prevents its hour from being rolled up, is logged.
func TestMissingRunIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		n := openNode(t, s, o)
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		n.roller.Release()
		damage(t, n, keysUnder(t, n, "raw/")[0], true)
		var log bytes.Buffer
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		n = openNode(t, s, o)
		appendTo(t, n, 2)
		settleNode(t.Context(), n, 4)
		if got := log.String(); !strings.Contains(got, "raw/000/") {
			t.Errorf("got %q", got)
		}
	})
}

// Data that a query cannot read is logged once, and counted each time, like in the responses.
func TestUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		var log bytes.Buffer
		o := Options{Flush: time.Millisecond, Shards: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		n := openNode(t, s, o)
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		for range 2 {
			if stats, err := n.Select(t.Context(), store.Query{}, store.Wanted{}, nil, func(store.Rolled) error {
				return nil
			}); err != nil || !stats.Complete() {
				t.Fatalf("got %+v, %v", stats, err)
			}
		}
		if n.Unread() != 0 || log.Len() > 0 {
			t.Errorf("of a sound store: %d unread, log %q", n.Unread(), log.String())
		}
		key := keysUnder(t, n, "hours/")[0]
		damage(t, n, key, true)
		n = openNode(t, s, o) // without a cache that contains it
		log.Reset()
		for want := uint64(1); want <= 3; want++ {
			stats, err := n.Select(t.Context(), store.Query{}, store.Wanted{}, nil, func(store.Rolled) error {
				return nil
			})
			if err != nil || stats.Complete() || n.Unread() != want {
				t.Errorf("got %+v, %v, %d unread, want %d", stats, err, n.Unread(), want)
			}
		}
		if got := log.String(); strings.Count(got, "incomplete") != 1 || !strings.Contains(got, key) {
			t.Errorf("got log %s, want one line with %s", got, key)
		}
	})
}
