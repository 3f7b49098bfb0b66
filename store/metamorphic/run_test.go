package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local"
)

// start is when the clock of a run begins.
var start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// run is a sequence of operations on a store.
type run struct {
	r       *rand.Rand
	base    string // the data directories of the run are in it
	dirs    int
	dir     string
	opts    local.Options
	clock   *clock
	maker   *maker
	model   *model
	watch   watch
	weights []int // of operations
	mode    mode
	broken  chan error    // gets the first panic
	moved   time.Duration // since all was rolled up
	turned  atomic.Int64  // partitions that workers ended meanwhile

	s *local.Store

	mu  sync.Mutex
	log []string // what was done
}

// newRun chooses how a store is used. Some operations are left out, so that others meet more
// often.
func newRun(seed uint64, in mode, base string) *run {
	r := rand.New(rand.NewPCG(seed, 1))
	x := &run{mode: in, broken: make(chan error, 1), r: r, base: base, clock: newClock(start)}
	x.maker = &maker{r: rand.New(rand.NewPCG(seed, 2))}
	x.opts = local.Options{
		Program:        "metamorphic",
		MemTableSize:   8 << 20,
		Now:            x.clock.Now,
		Partition:      []time.Duration{time.Hour, 15 * time.Minute}[r.IntN(2)],
		RollEvery:      []time.Duration{time.Nanosecond, 30 * time.Second}[r.IntN(2)],
		RollTraces:     []int{1, 50, 1 << 15}[r.IntN(3)],
		GroupTraces:    []int{4, 32, 256}[r.IntN(3)],
		OpenPartitions: []int{1, 2, 8}[r.IntN(3)],
	}
	x.opts.Retention = []time.Duration{0, 12 * x.opts.Partition, 26 * time.Hour}[r.IntN(3)]
	x.model = newModel(x.opts, x.clock)
	for _, op := range operations {
		w := op.weight
		if op.in > in || !op.always && r.IntN(4) == 0 {
			w = 0
		}
		x.weights = append(x.weights, w)
	}
	x.note("options: partition %v, retention %v, roll every %v or %d traces, groups of %d, %d open", x.opts.Partition,
		x.opts.Retention, x.opts.RollEvery, x.opts.RollTraces, x.opts.GroupTraces, x.opts.OpenPartitions)
	return x
}

// note takes down an operation before it begins.
func (x *run) note(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.log = append(x.log, fmt.Sprintf(format, args...))
}

// history returns what was done.
func (x *run) history() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.log, "\n")
}

// newDir returns the name of a directory that does not exist.
func (x *run) newDir() string {
	x.dirs++
	return filepath.Join(x.base, fmt.Sprint(x.dirs))
}

// maxTraces bounds a run: then another one finds more.
const maxTraces = 4000 / slowdown

// play does up to most operations, until the time is over. It returns the first thing that
// is wrong.
func (x *run) play(ctx context.Context, most int, until time.Time) (err error) {
	defer x.caught()
	x.dir = x.newDir()
	if err := x.open(); err != nil {
		return err
	}
	for range most {
		if time.Now().After(until) || len(x.model.instances) > maxTraces || ctx.Err() != nil {
			break
		}
		op := x.choose()
		if err := op.do(x, ctx); err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
		if err := x.watch.do("learn", func() error { return x.model.learn(ctx, x.s.Reader) }); err != nil {
			return fmt.Errorf("after %s: %w", op.name, err)
		}
	}
	return x.end(ctx)
}

// caught ends the run when the store panics: what it has locked then stays so.
func (x *run) caught() {
	if v := recover(); v != nil {
		select {
		case x.broken <- fmt.Errorf("panic: %v\n%s", v, debug.Stack()):
		default: // not the first
		}
	}
}

func (x *run) choose() *operation {
	sum := 0
	for _, w := range x.weights {
		sum += w
	}
	n := x.r.IntN(sum)
	for i, w := range x.weights {
		if n -= w; n < 0 {
			return &operations[i]
		}
	}
	panic("no operation")
}

// end checks all once more: at once, and after all is rolled up and a start.
func (x *run) end(ctx context.Context) error {
	x.note("the end")
	if err := errors.Join(x.everything(ctx), x.rollAll(ctx)); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	if err := errors.Join(x.close(), x.open(), x.everything(ctx)); err != nil {
		return fmt.Errorf("at the end, rolled up and opened again: %w", err)
	}
	return errors.Join(x.close(), os.RemoveAll(x.dir))
}

func (x *run) everything(ctx context.Context) error {
	return x.watch.do("check everything", func() error { return x.model.everything(ctx, x.s.Reader) })
}

func (x *run) open() error {
	return x.watch.do("open", func() (err error) {
		x.s, err = local.Open(x.dir, x.opts)
		return err
	})
}

func (x *run) close() error {
	err := x.watch.do("close", x.s.Close)
	if err == nil && x.opts.MinFree < 1<<60 {
		x.model.storedOutcomes()
	}
	return err
}

// rollAll rolls up all that is over, before it can expire.
func (x *run) rollAll(ctx context.Context) error {
	x.moved = 0
	x.turned.Store(0)
	err := x.watch.do("maintain", func() error { return x.s.Maintain(ctx) })
	for range 3 {
		err = errors.Join(err, x.watch.do("roll", func() error { return x.s.Roll(ctx) }))
	}
	return err
}

// move sets the clock forward. What is not rolled up is kept for twice its time only, so it
// is rolled up before that.
func (x *run) move(ctx context.Context, d time.Duration) error {
	if x.opts.Retention > 0 {
		d = min(d, x.opts.Retention/2)
		if x.passed()+d > x.opts.Retention {
			if err := x.rollAll(ctx); err != nil {
				return err
			}
		}
	}
	x.moved += d
	x.clock.move(d)
	return nil
}

// passed returns how far the clock moved since all was rolled up.
func (x *run) passed() time.Duration {
	return x.moved + time.Duration(x.turned.Load())*x.opts.Partition
}

// makeRoom sees to it that nothing expires before it is rolled up while workers end a few
// partitions.
func (x *run) makeRoom(ctx context.Context) error {
	if x.opts.Retention > 0 && x.passed()+4*x.opts.Partition > x.opts.Retention {
		return x.rollAll(ctx)
	}
	return nil
}
