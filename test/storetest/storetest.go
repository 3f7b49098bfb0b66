// Package storetest opens stores for tests of packages that use them: in a directory, or in a
// bucket if BACKEND=bucket is set. So the same tests cover both kinds.
package storetest

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Options configures a store. The zero value disables retention.
type Options struct {
	Now func() time.Time // the clock: time.Now

	// Retention is how long traces are kept; HourRetention and DayRetention are how long their
	// rollups are.
	Retention, HourRetention, DayRetention time.Duration

	MaxPayload int64         // bytes of a trace: 16 MiB
	Rollups    rollup.Limits // limits of the growth of rollups
}

// Durability is the durability that the stores guarantee.
func Durability() store.Durability {
	if inBucket() {
		return store.Bucket
	}
	return store.Local
}

func inBucket() bool { return os.Getenv("BACKEND") == "bucket" }

// Open opens an empty store, which is closed with the test.
func Open(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Now == nil {
		o.Now = time.Now
	}
	n, err := shared.Open(t.Context(), place(t, o.Now), shared.Options{Flush: time.Millisecond,
		Retention: o.Retention, HourRetention: o.HourRetention, DayRetention: o.DayRetention, MaxPayload: o.MaxPayload,
		Rollups: o.Rollups,
		Logger:  slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil { // closing it again does nothing
			t.Errorf("close the store: %v", err)
		}
	})
	return &Store{Node: n}
}

// place returns an empty place for objects.
func place(t testing.TB, now func() time.Time) objects.Store {
	t.Helper()
	if inBucket() {
		fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // concurrent tests set the same values
		server := fakebucket.New(1)
		server.Now = now
		return server.Client().Bucket(now)
	}
	d, err := directory.Open(t.TempDir(), directory.Options{MinFree: -1, Now: now, Warn: func(err error) {
		t.Error(err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// OpenDirectory opens the data directory dir, which no daemon may use, with the clock now, or
// [time.Now] if it is nil. end closes it.
func OpenDirectory(t testing.TB, dir string, now func() time.Time) (n *shared.Node, end func()) {
	t.Helper()
	place, err := shared.OpenPlace(t.Context(), dir, shared.PlaceOptions{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if n, err = shared.Open(t.Context(), place, shared.Options{}); err != nil {
		t.Fatal(err)
	}
	return n, func() {
		t.Helper()
		if err := n.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// Store is a store without background rollups. Before each query it rolls up all traces received
// since the last one.
type Store struct {
	*shared.Node

	mu    sync.Mutex
	dirty bool
}

func (s *Store) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = true
}

func (s *Store) settle(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirty {
		s.Node.RollUp(ctx)
		s.dirty = ctx.Err() != nil // a cancelled query may leave some traces behind
	}
}

// settling rolls up new data while a query waits for it, until it is stopped.
func (s *Store) settling(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
				s.settle(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// RollUp is like [shared.Node.RollUp], but safe for concurrent use.
func (s *Store) RollUp(ctx context.Context) {
	s.touch()
	s.settle(ctx)
}

// Append is [shared.Node.Append].
func (s *Store) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	defer s.touch()
	return s.Node.Append(ctx, recs)
}

// CountViews is [shared.Node.CountViews].
func (s *Store) CountViews(page, reason string, views int64) {
	defer s.touch()
	s.Node.CountViews(page, reason, views)
}

// CountVitals is [shared.Node.CountVitals].
func (s *Store) CountVitals(page string, vitals []rollup.Vital) {
	defer s.touch()
	s.Node.CountVitals(page, vitals)
}

// Select is like [shared.Reader.Select], after all received traces are rolled up.
func (s *Store) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error,
	rolled func(store.Rolled) error) (store.ScanStats, error) {
	s.settle(ctx)
	defer s.settling(ctx)()
	return s.Node.Select(ctx, q, want, trace, rolled)
}

// Scan is like [shared.Reader.Scan], after all received traces are rolled up.
func (s *Store) Scan(ctx context.Context, q store.Query, f func(store.Record) error) (store.ScanStats, error) {
	s.settle(ctx)
	defer s.settling(ctx)()
	return s.Node.Scan(ctx, q, f)
}

// Catalog is like [shared.Reader.Catalog], after all received traces are rolled up.
func (s *Store) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry,
	store.ScanStats, error) {
	s.settle(ctx)
	return s.Node.Catalog(ctx, since, until, lag)
}

// Version is like [shared.Reader.Version], for all received traces.
func (s *Store) Version(since, until time.Time) string {
	s.settle(context.Background())
	return s.Node.Version(since, until)
}
