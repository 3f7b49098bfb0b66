package shared

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A query uses a manifest that was read less than 2 s before another node rolled up and deleted
// segments.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 3)
		r, err := OpenReader(t.Context(), s.Client().Bucket(time.Now), Options{})
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, n, 2)
		time.Sleep(14 * time.Second)            // the trace is not rolled up yet
		_ = r.Version(time.Time{}, time.Time{}) // caches the manifest, as an ETag does
		n.round(t.Context(), roll.Work{Close: true})
		time.Sleep(time.Second)
		seen := map[byte]bool{}
		stats, err := r.Select(t.Context(), store.Query{}, store.Wanted{None: true, Lag: time.Minute},
			func(rec store.Record) error {
				seen[rec.ID.View[0]] = true
				return nil
			}, func(store.Rolled) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !seen[2] && stats.Behind < 14*time.Second {
			t.Errorf("the response claims to include all traces up to %v ago, but lacks a trace acknowledged 15 s "+
				"before", stats.Behind)
		}
	})
}

func appendTo(t *testing.T, n *Node, views ...byte) {
	t.Helper()
	for _, v := range views {
		if _, err := n.Append(t.Context(), []store.Record{testRecord(v, "/a")}); err != nil {
			t.Fatal(err)
		}
	}
}

// A catalogue includes all acknowledged traces if the lag is 0, and otherwise reports its age. It
// comes from a single manifest.
func TestCatalogWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
		ask := func(lag time.Duration) (traces uint64, stats store.ScanStats) {
			t.Helper()
			list, stats, err := n.Catalog(t.Context(), time.Time{}, time.Time{}, lag)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.Tag == (store.Tag{}) {
					traces += e.Traces
				}
			}
			return traces, stats
		}
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		appendTo(t, n, 2)
		time.Sleep(5 * time.Second)
		if got, stats := ask(time.Minute); got != 1 || stats.Behind < 4*time.Second {
			t.Errorf("%d traces as of %v ago", got, stats.Behind)
		}
		go func() {
			time.Sleep(3 * time.Second)
			n.round(t.Context(), roll.Work{})
		}()
		if got, stats := ask(0); got != 2 || !stats.Complete() {
			t.Errorf("%d traces, %v", got, stats.Unreadable)
		}
	})
}

// Reading a catalogue from many objects takes about as long as a few requests, not all of them in
// sequence.
func TestCatalogInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1, RollEvery: time.Minute})
		for i := range 40 {
			appendTo(t, n, byte(i))
			settleNode(t.Context(), n, 1)
			time.Sleep(time.Hour)
		}
		r, err := OpenReader(t.Context(), s.Client().Bucket(time.Now), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Took = time.Second
		begin := time.Now()
		if _, stats, err := r.Catalog(t.Context(), time.Time{}, time.Time{}, time.Minute); err != nil ||
			!stats.Complete() {
			t.Fatal(stats.Unreadable, err)
		}
		if took := time.Since(begin); took > 6*time.Second {
			t.Errorf("it took as long as %v requests in sequence", took)
		}
	})
}

// A query that waits for a lost node returns the available data in time. So does a second,
// concurrent query.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, fakebucket.New(1), Options{Flush: time.Millisecond, Shards: 1})
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		appendTo(t, n, 2)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for range 2 {
			found := 0
			stats, err := n.Scan(ctx, store.Query{}, func(store.Record) error { found++; return nil })
			if err != nil || found != 1 || len(stats.Unreadable) != 1 ||
				!strings.Contains(stats.Unreadable[0].Err.Error(), "1 segments wait") {
				t.Errorf("%d traces, %v, %v", found, stats.Unreadable, err)
			}
		}
	})
}

// The first manifest of a shard may be written while a reader checks whether the shard is new. The
// reader must not report it as lost.
func TestFirstManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond})
		way := s.Client()
		r, err := OpenReader(t.Context(), way.Bucket(time.Now), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil {
			t.Fatal(err)
		}
		rolled := false
		way.Before = func(r *http.Request) {
			if strings.Contains(r.URL.Query().Get("prefix"), "raw/") && !rolled {
				rolled = true
				n.round(t.Context(), roll.Work{})
			}
		}
		stats, err := r.Scan(t.Context(), store.Query{Page: "/a"}, func(store.Record) error { return nil })
		if err != nil || !rolled {
			t.Fatalf("rolled up %v: %v", rolled, err)
		}
		for _, u := range stats.Unreadable {
			if strings.Contains(u.Err.Error(), "is lost") {
				t.Error(u.Err)
			}
		}
	})
}
