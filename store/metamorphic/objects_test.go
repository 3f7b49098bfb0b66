package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	objectsdir "github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/move"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // that of a test can always be set
	os.Exit(m.Run())
}

// ofObjects is the home of a store whose objects are in a bucket that nodes share, or in a directory of
// one node. While something is stored or rolled up the object store refuses requests, tears bodies,
// answers late or not at all; queries are asked of an object store that works, after what came in is
// rolled up.
type ofObjects struct {
	// connect returns a place for objects, and what cuts it off after so many requests.
	connect func(readOnly bool) (_ objects.Store, cutAfter func(requests int), _ error)
	dir     string             // that they are in; "" if it is a bucket
	server  *fakebucket.Server // nil if it is a directory
	clock   *clock
	r       *rand.Rand // where crashes are
	nodes   int
	opts    shared.Options
	working atomic.Int64 // how much is under way that the object store must work for
	moving  sync.RWMutex // held while the clock is moved
}

func newOfObjects(seed uint64, r *rand.Rand, c *clock) *ofObjects {
	return &ofObjects{clock: c, r: rand.New(rand.NewPCG(seed, 4)), nodes: 1 + r.IntN(3),
		opts: shared.Options{Shards: 1 + r.IntN(3), RollRows: 1 + r.IntN(200), Flush: time.Millisecond, TakeOver: time.Nanosecond,
			GiveUp:      200 * time.Millisecond * slowdown,
			CacheMemory: []int64{1, 64 << 10, 64 << 20}[r.IntN(3)],
			Retention:   []time.Duration{0, 12 * time.Hour, 26 * time.Hour}[r.IntN(3)]}}
}

func newBucket(seed uint64, r *rand.Rand, c *clock) *ofObjects {
	h := newOfObjects(seed, r, c)
	h.server = fakebucket.New(seed)
	h.connect = func(bool) (objects.Store, func(int), error) {
		to := h.server.Client()
		return to.Bucket(c.Now), to.CutAfter, nil
	}
	h.server.Now, h.server.Faults = c.Now, []float64{0, 0, 0.02, 0.1}[r.IntN(4)]
	if h.server.Faults == 0 {
		h.opts.GiveUp = time.Minute // no call may fail, also on a busy machine
	}
	h.server.Which = func(*http.Request) bool { return h.working.Load() == 0 }
	c.alone = func(move func()) {
		h.moving.Lock()
		defer h.moving.Unlock()
		h.server.Deliver()
		move()
	}
	return h
}

func (h *ofObjects) String() string {
	o := &h.opts
	return fmt.Sprintf("objects: %d nodes, %d shards, retention %v, %d rows at once, cache of %d, %v of requests fail",
		h.nodes, o.Shards, o.Retention, o.RollRows, o.CacheMemory, h.faults())
}

func (h *ofObjects) traits() traits {
	return traits{width: time.Hour, retention: h.opts.Retention, lateRepeats: true, slack: 2 * time.Second}
}

// faults is the share of requests that fail.
func (h *ofObjects) faults() float64 {
	if h.server == nil {
		return 0
	}
	return h.server.Faults
}

// works has the object store work until the function that it returns is called.
func (h *ofObjects) works() (no func()) {
	h.working.Add(1)
	return func() { h.working.Add(-1) }
}

func (h *ofObjects) open(ctx context.Context) (engine, error) {
	defer h.works()()
	s := &machines{ofObjects: h}
	for range h.nodes {
		place, cut, err := h.connect(false)
		if err != nil {
			return nil, err
		}
		n, err := shared.Open(ctx, place, h.opts)
		if err != nil {
			return nil, err
		}
		s.cuts, s.nodes = append(s.cuts, cut), append(s.nodes, n)
	}
	return s, nil
}

func (h *ofObjects) read(ctx context.Context, f func(reader) error) error {
	defer h.works()()
	place, _, err := h.connect(true)
	if err != nil {
		return err
	}
	r, err := shared.OpenReader(ctx, place, h.opts)
	if err != nil {
		return err
	}
	return f(r)
}

// crash cuts the machines off while they roll up, each at any request.
func (h *ofObjects) crash(ctx context.Context, s engine) error {
	m := s.(*machines)
	for i, n := range m.nodes {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond*slowdown) // who is cut off would try again
		m.cuts[i](h.r.IntN(12))
		n.RollUp(short)
		m.cuts[i](0)
		_ = n.Close(short) // it can not store anything any more
		cancel()
	}
	return nil
}

// sound verifies the bucket.
func (h *ofObjects) sound(ctx context.Context, r reader, _ *model) error {
	defer h.works()()
	v, err := r.(interface {
		Verify(context.Context, move.Moving) (move.Verified, error)
	}).Verify(ctx, func(int, int, uint64) {})
	if err == nil && len(v.Findings) > 0 {
		err = fmt.Errorf("verify: %+v", v.Findings)
	}
	return err
}

func (h *ofObjects) glance(engine) error { return nil }

func (h *ofObjects) failing(err error) bool {
	return h.faults() > 0 && !errors.Is(err, context.Canceled)
}

func (h *ofObjects) remove() error {
	if h.dir == "" {
		return nil
	}
	return os.RemoveAll(h.dir)
}

// newObjectsDirectory returns the home of a store whose objects are in a directory.
func newObjectsDirectory(seed uint64, r *rand.Rand, c *clock, base string) *ofObjects {
	h := newOfObjects(seed, r, c)
	h.dir, h.nodes, h.opts.GiveUp = filepath.Join(base, "objects"), 1, time.Minute
	h.connect = func(readOnly bool) (objects.Store, func(int), error) {
		d, err := objectsdir.Open(h.dir, objectsdir.Options{Now: c.Now, ReadOnly: readOnly, MinFree: -1})
		if err != nil {
			return nil, nil, err
		}
		to := &cutOff{Store: d}
		to.left.Store(math.MaxInt64)
		return to, func(n int) { to.left.Store(int64(n)) }, nil
	}
	c.alone = func(move func()) {
		h.moving.Lock()
		defer h.moving.Unlock()
		move()
	}
	return h
}

// cutOff is a place that does nothing any more after so many calls that change it, as if the process was killed.
type cutOff struct {
	objects.Store
	left atomic.Int64
}

var errCut = errors.New("the process was killed")

func (c *cutOff) Put(ctx context.Context, key string, body []byte, on objects.Condition) (objects.Tag, error) {
	if c.left.Add(-1) < 0 {
		return "", errCut
	}
	return c.Store.Put(ctx, key, body, on)
}

func (c *cutOff) Delete(ctx context.Context, keys ...string) error {
	if c.left.Add(-1) < 0 {
		return errCut
	}
	return c.Store.Delete(ctx, keys...)
}

func (c *cutOff) Close() error { return c.Store.(io.Closer).Close() }

// machines are the nodes on a bucket, of which each gets something in turn.
type machines struct {
	*ofObjects
	nodes   []*shared.Node
	cuts    []func(requests int)
	turn    atomic.Int64
	rolling sync.Mutex
}

func (s *machines) node() *shared.Node { return s.nodes[int(s.turn.Add(1))%len(s.nodes)] }

// still keeps the clock from being moved meanwhile: nothing takes hours.
func (s *machines) still() (done func()) {
	s.moving.RLock()
	return s.moving.RUnlock
}

// round has all nodes roll up and tidy up. The second time they take over what has no owner.
func (s *machines) round(ctx context.Context) {
	s.rolling.Lock()
	defer s.rolling.Unlock()
	for range 2 {
		for _, n := range s.nodes {
			n.RollUp(ctx)
		}
	}
}

// asked makes ready for a query: the object store works, and what comes is rolled up.
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

func (s *machines) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error, rolled func(store.Rolled) error) (store.ScanStats, error) {
	defer s.asked(ctx)()
	return s.node().Select(ctx, q, want, trace, rolled)
}

func (s *machines) Scan(ctx context.Context, q store.Query, f func(store.Record) error) (store.ScanStats, error) {
	defer s.asked(ctx)()
	return s.node().Scan(ctx, q, f)
}

func (s *machines) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry, store.ScanStats, error) {
	defer s.asked(ctx)()
	return s.node().Catalog(ctx, since, until, lag)
}

// Version is that of one node: others may know something newer.
func (s *machines) Version(since, until time.Time) string {
	defer s.asked(context.Background())()
	return s.nodes[0].Version(since, until)
}

func (s *machines) HasTraces(since, until time.Time) bool { return s.nodes[0].HasTraces(since, until) }
func (s *machines) HasHours(since, until time.Time) bool  { return s.nodes[0].HasHours(since, until) }
func (s *machines) Now() time.Time                        { return s.nodes[0].Now() }

func (s *machines) Roll(ctx context.Context) error {
	defer s.still()()
	s.rolling.Lock()
	defer s.rolling.Unlock()
	s.node().RollUp(ctx)
	return nil
}

func (s *machines) Maintain(ctx context.Context) error {
	defer s.still()()
	s.round(ctx)
	return nil
}

func (s *machines) Verify(ctx context.Context, moving move.Moving) (move.Verified, error) {
	defer s.asked(ctx)()
	return s.nodes[0].Verify(ctx, moving)
}

// Close leaves nothing to be rolled up for those who only read.
func (s *machines) Close() error {
	ctx := context.Background()
	defer s.asked(ctx)()
	var errs []error
	for _, n := range s.nodes {
		errs = append(errs, n.Close(ctx))
	}
	if s.dir == "" { // a node of a directory has done so
		s.round(ctx)
	}
	return errors.Join(errs...)
}
