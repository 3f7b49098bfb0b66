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
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/check"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // cannot fail for these names
	os.Exit(m.Run())
}

// reader is the interface that is queried.
type reader interface {
	store.Reader
	store.Scanner
	Verify(context.Context, check.Moving) (check.Verified, error)
}

// traits are the properties in which homes differ.
type traits struct {
	retention time.Duration
	slack     time.Duration // maximum error of receive times
}

// home is where the store of a run keeps its data: a bucket that nodes share, or a directory of one
// node. While traces are stored or rolled up, the object store of a bucket rejects requests,
// truncates bodies, and responds late or never. During queries it works, and all traces are rolled
// up before.
type home struct {
	at      target
	base    string  // parent of the directories of the run; "" for a bucket
	made    int     // number of targets so far
	faults  float64 // share of requests that fail
	minFree int64   // minimum free space of the disk, in bytes
	clock   *clock
	r       *rand.Rand // determines when crashes happen
	nodes   int
	opts    shared.Options
	working atomic.Int64 // number of operations during which the object store must work
	moving  sync.RWMutex // held while the clock is moved
}

// target is a location of objects.
type target struct {
	dir    string             // "" for a bucket
	server *fakebucket.Server // nil for a directory
}

// newHome returns a home in a directory below base, or in a bucket if base is "".
func newHome(seed uint64, r *rand.Rand, c *clock, base string) *home {
	h := &home{base: base, minFree: -1, clock: c, r: rand.New(rand.NewPCG(seed, 4)), nodes: 1 + r.IntN(3),
		opts: shared.Options{Shards: 1 + r.IntN(3), RollRows: 1 + r.IntN(200), Flush: time.Millisecond,
			TakeOver:    time.Nanosecond,
			GiveUp:      200 * time.Millisecond * slowdown,
			CacheMemory: []int64{1, 64 << 10, 64 << 20}[r.IntN(3)],
			Retention:   []time.Duration{0, 12 * time.Hour, 26 * time.Hour}[r.IntN(3)]}}
	if h.isDirectory() {
		h.nodes = 1
	} else {
		h.faults = []float64{0, 0, 0.02, 0.1}[r.IntN(4)]
	}
	if h.faults == 0 {
		h.opts.GiveUp = time.Minute // calls must not fail on a busy machine
	}
	c.alone = func(move func()) {
		h.moving.Lock()
		defer h.moving.Unlock()
		if h.at.server != nil {
			h.at.server.Deliver()
		}
		move()
	}
	h.at = h.empty()
	return h
}

func (h *home) isDirectory() bool { return h.base != "" }

// empty returns a new directory or a new fake bucket, whichever kind h has.
func (h *home) empty() target {
	h.made++
	if h.isDirectory() {
		return target{dir: filepath.Join(h.base, fmt.Sprint(h.made))}
	}
	s := fakebucket.New(h.r.Uint64())
	s.Now, s.Faults, s.Which = h.clock.Now, h.faults, func(*http.Request) bool { return h.working.Load() == 0 }
	return target{server: s}
}

// connect opens the store at a target. It also returns a function that cuts it off after a number
// of requests.
func (h *home) connect(at target, readOnly bool) (_ objects.Store, cutAfter func(requests int), _ error) {
	if at.server != nil {
		to := at.server.Client()
		return to.Bucket(h.clock.Now), to.CutAfter, nil
	}
	d, err := directory.Open(at.dir, directory.Options{Now: h.clock.Now, ReadOnly: readOnly, MinFree: h.minFree})
	if err != nil {
		return nil, nil, err
	}
	to := &cutOff{Store: d}
	to.left.Store(math.MaxInt64)
	return to, func(n int) { to.left.Store(int64(n)) }, nil
}

func (h *home) String() string {
	o := &h.opts
	kind := "bucket"
	if h.isDirectory() {
		kind = "directory"
	}
	return fmt.Sprintf("%s: %d nodes, %d shards, retention %v, %d rows a batch, cache of %d, %v of requests fail",
		kind, h.nodes, o.Shards, o.Retention, o.RollRows, o.CacheMemory, h.faults)
}

func (h *home) traits() traits {
	t := traits{retention: h.opts.Retention}
	if !h.isDirectory() {
		t.slack = 2 * time.Second // its clock has a precision of one second
	}
	return t
}

// works makes the object store work until the returned function is called.
func (h *home) works() (no func()) {
	h.working.Add(1)
	return func() { h.working.Add(-1) }
}

// open opens the store for writing.
func (h *home) open(ctx context.Context) (*machines, error) { return h.openAt(ctx, h.at) }

func (h *home) openAt(ctx context.Context, at target) (*machines, error) {
	defer h.works()()
	s := &machines{home: h, at: at}
	for range h.nodes {
		place, cut, err := h.connect(at, false)
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

func (h *home) read(ctx context.Context, f func(reader) error) error {
	defer h.works()()
	place, _, err := h.connect(h.at, true)
	if err != nil {
		return err
	}
	r, err := shared.OpenReader(ctx, place, h.opts)
	if err != nil {
		return err
	}
	return f(r)
}

// crash ends the open machines like killed processes, at random points.
func (h *home) crash(ctx context.Context, s *machines) error {
	if h.isDirectory() && h.r.IntN(2) == 0 {
		return h.copied(s)
	}
	for i, n := range s.nodes { // they are cut off at random requests while they roll up
		// A node that is cut off would retry for a long time.
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond*slowdown)
		s.cuts[i](h.r.IntN(12))
		n.RollUp(short)
		s.cuts[i](0)
		_ = n.Close(short) // it cannot store anything any more
		cancel()
	}
	return nil
}

// copied continues with a directory as a crash would leave it.
func (h *home) copied(s *machines) error {
	to := h.empty()
	if err := crashCopy(h.at.dir, to.dir); err != nil {
		return err
	}
	return errors.Join(s.Close(), h.goOn(to))
}

// goOn replaces the closed target by another one.
func (h *home) goOn(to target) error {
	err := h.at.remove()
	h.at = to
	return err
}

// sound returns the problems that the store itself finds.
func (h *home) sound(ctx context.Context, r reader) error {
	defer h.works()()
	v, err := r.Verify(ctx, func(int, int, uint64) {})
	if err == nil && len(v.Findings) > 0 {
		err = fmt.Errorf("verify: %+v", v.Findings)
	}
	return err
}

// failing reports whether an error may come from an injected fault. The data that was being stored
// may or may not be stored then.
func (h *home) failing(err error) bool { return h.faults > 0 && !errors.Is(err, context.Canceled) }

// remove deletes the target.
func (t target) remove() error {
	if t.dir == "" {
		return nil
	}
	return os.RemoveAll(t.dir)
}

// cutOff is a store that fails after a number of modifying calls, as if the process was killed.
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
