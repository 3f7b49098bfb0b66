// Package storetest opens stores for tests of the code above them: in a directory, or in a bucket
// if BACKEND=bucket is set. So the same tests cover both kinds.
package storetest

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Store is the common interface of both kinds.
type Store interface {
	store.Store

	Maintain(ctx context.Context) error
	Roll(ctx context.Context) error
	Close() error
}

// InBucket reports whether stores are in a bucket.
func InBucket() bool { return os.Getenv("BACKEND") == "bucket" }

// Durability is the durability that the stores guarantee.
func Durability() store.Durability {
	if InBucket() {
		return store.Bucket
	}
	return store.Local
}

// Open opens an empty store, which is closed with the test. Options that are not for a bucket are left out there.
func Open(t testing.TB, o local.Options) Store {
	t.Helper()
	if !InBucket() {
		s, err := local.Open(t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // tests at once set the same
	server := fakebucket.New(1)
	now := o.Now
	if now == nil {
		now = time.Now
	}
	server.Now = now
	n, err := shared.Open(t.Context(), server.Client().Bucket(now), shared.Options{Flush: time.Millisecond,
		Retention: o.Retention, HourRetention: o.HourRetention, DayRetention: o.DayRetention, Rollups: o.Rollups,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	return &inBucket{Node: n}
}

// inBucket is a store in a bucket. Before each query it rolls up everything received since the last
// one.
type inBucket struct {
	*shared.Node

	mu    sync.Mutex
	dirty bool
}

func (s *inBucket) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = true
}

func (s *inBucket) settle(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirty {
		s.RollUp(ctx)
		s.dirty = false
	}
}

// settling rolls up new data while a query waits for it, until it is stopped.
func (s *inBucket) settling(ctx context.Context) (stop func()) {
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

func (s *inBucket) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	defer s.touch()
	return s.Node.Append(ctx, recs)
}

func (s *inBucket) CountViews(page, reason string, views int64) {
	defer s.touch()
	s.Node.CountViews(page, reason, views)
}

func (s *inBucket) CountVitals(page string, vitals []rollup.Vital) {
	defer s.touch()
	s.Node.CountVitals(page, vitals)
}

func (s *inBucket) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error, rolled func(store.Rolled) error) (store.ScanStats, error) {
	s.settle(ctx)
	defer s.settling(ctx)()
	return s.Node.Select(ctx, q, want, trace, rolled)
}

func (s *inBucket) Scan(ctx context.Context, q store.Query, f func(store.Record) error) (store.ScanStats, error) {
	s.settle(ctx)
	defer s.settling(ctx)()
	return s.Node.Scan(ctx, q, f)
}

func (s *inBucket) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry, store.ScanStats, error) {
	s.settle(ctx)
	return s.Node.Catalog(ctx, since, until, lag)
}

func (s *inBucket) Version(since, until time.Time) string {
	s.settle(context.Background())
	return s.Node.Version(since, until)
}

// Maintain and Roll do the same.
func (s *inBucket) Maintain(ctx context.Context) error { return s.Roll(ctx) }

func (s *inBucket) Roll(ctx context.Context) error {
	s.touch()
	s.settle(ctx)
	return nil
}

func (s *inBucket) Close() error { return s.Node.Close(context.Background()) }
