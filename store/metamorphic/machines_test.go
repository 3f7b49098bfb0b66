package metamorphic

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/backup"
	"github.com/fieldtrie/fieldtrie/store/shared/check"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// machines are the nodes of a store, which are used in turn.
type machines struct {
	*home
	at      target
	nodes   []*shared.Node
	cuts    []func(requests int)
	turn    atomic.Int64
	rolling sync.Mutex
}

func (s *machines) node() *shared.Node { return s.nodes[int(s.turn.Add(1))%len(s.nodes)] }

// still prevents the clock from moving, because no operation takes hours.
func (s *machines) still() (done func()) {
	s.moving.RLock()
	return s.moving.RUnlock
}

// round lets all nodes roll up, close and sweep, twice: the second time they take over shards
// without an owner.
func (s *machines) round(ctx context.Context) {
	s.rolling.Lock()
	defer s.rolling.Unlock()
	for range 2 {
		for _, n := range s.nodes {
			n.RollUp(ctx)
		}
	}
}

// asked prepares a query: the object store works, and all traces are rolled up.
func (s *machines) asked(ctx context.Context) (done func()) {
	moves, fails := s.still(), s.works()
	s.round(ctx)
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
				s.round(ctx)
			}
		}
	})
	return func() {
		cancel()
		group.Wait()
		fails()
		moves()
	}
}

func (s *machines) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	defer s.still()()
	return s.node().Append(ctx, recs)
}

func (s *machines) CountViews(page, reason string, views int64) {
	s.node().CountViews(page, reason, views)
}

func (s *machines) CountVitals(page string, vitals []rollup.Vital) {
	s.node().CountVitals(page, vitals)
}

func (s *machines) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error,
	rolled func(store.Rolled) error) (store.ScanStats, error) {
	defer s.asked(ctx)()
	return s.node().Select(ctx, q, want, trace, rolled)
}

func (s *machines) Scan(ctx context.Context, q store.Query, f func(store.Record) error) (store.ScanStats, error) {
	defer s.asked(ctx)()
	return s.node().Scan(ctx, q, f)
}

func (s *machines) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry,
	store.ScanStats, error) {
	defer s.asked(ctx)()
	return s.node().Catalog(ctx, since, until, lag)
}

// Version returns the version of one node. Other nodes may have newer data.
func (s *machines) Version(since, until time.Time) string {
	defer s.asked(context.Background())()
	return s.nodes[0].Version(since, until)
}

func (s *machines) HasTraces(since, until time.Time) bool { return s.nodes[0].HasTraces(since, until) }
func (s *machines) HasHours(since, until time.Time) bool  { return s.nodes[0].HasHours(since, until) }
func (s *machines) Deleted() string                       { return s.nodes[0].Deleted() }
func (s *machines) Now() time.Time                        { return s.nodes[0].Now() }

// Roll lets one node roll up, close and sweep. Maintain does the same for all nodes.
func (s *machines) Roll(ctx context.Context) {
	defer s.still()()
	s.rolling.Lock()
	defer s.rolling.Unlock()
	s.node().RollUp(ctx)
}

func (s *machines) Maintain(ctx context.Context) {
	defer s.still()()
	s.round(ctx)
}

func (s *machines) Backup(ctx context.Context, w io.Writer) (backup.Stats, error) {
	defer s.works()()
	return s.node().Backup(ctx, w)
}

func (s *machines) Verify(ctx context.Context, moving check.Moving) (check.Verified, error) {
	defer s.asked(ctx)()
	return s.nodes[0].Verify(ctx, moving)
}

// Close rolls up all traces before it closes the nodes, because readers cannot do that.
func (s *machines) Close() error {
	ctx := context.Background()
	defer s.asked(ctx)()
	var errs []error
	for _, n := range s.nodes {
		errs = append(errs, n.Close(ctx))
	}
	if s.at.dir == "" { // Close of a directory's node has done that
		s.round(ctx)
	}
	return errors.Join(errs...)
}
