package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// start is the initial time of the clock.
var start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// run is a sequence of operations on a store.
type run struct {
	r       *rand.Rand
	home    *home
	traits  traits
	clock   *clock
	maker   *maker
	model   *model
	watch   watch
	weights []int // weights of operations
	mode    mode
	broken  chan error    // receives the first panic
	moved   time.Duration // since all traces were rolled up
	turned  atomic.Int64  // hours that workers have ended meanwhile

	s *machines

	mu  sync.Mutex
	log []string // the operations so far
}

// newRun chooses how a store is used. It leaves out some operations, so that others are combined
// more often.
func newRun(seed uint64, in mode, base string) *run {
	r := rand.New(rand.NewPCG(seed, 1))
	x := &run{mode: in, broken: make(chan error, 1), r: r, clock: newClock(start)}
	x.maker = &maker{r: rand.New(rand.NewPCG(seed, 2))}
	x.home = newHome(seed, r, x.clock, base)
	x.traits = x.home.traits()
	x.model = newModel(x.traits, x.clock)
	for _, op := range operations {
		w := op.weight
		if op.in > in || op.directory && !x.home.isDirectory() || !op.always && r.IntN(4) == 0 {
			w = 0
		}
		x.weights = append(x.weights, w)
	}
	x.note("%v", x.home)
	return x
}

// note logs an operation before it begins.
func (x *run) note(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.log = append(x.log, fmt.Sprintf(format, args...))
}

// history returns the log of operations.
func (x *run) history() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.log, "\n")
}

// maxTraces bounds a run. Beyond that a run with another seed finds more.
const maxTraces = 4000 / slowdown

// play runs up to most operations until the time is over. It returns the first violation.
func (x *run) play(ctx context.Context, most int, until time.Time) (err error) {
	defer x.caught()
	if err := x.open(ctx); err != nil {
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
		if err := x.watch.do("learn", func() error { return x.model.learn(ctx, x.s) }); err != nil {
			return fmt.Errorf("after %s: %w", op.name, err)
		}
	}
	return x.end(ctx)
}

// caught ends the run when the store panics, because locks may still be held then.
func (x *run) caught() {
	if v := recover(); v != nil {
		select {
		case x.broken <- fmt.Errorf("panic: %v\n%s", v, debug.Stack()):
		default: // not the first one
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

// end checks everything again: immediately, and after all traces were rolled up and the store was
// reopened.
func (x *run) end(ctx context.Context) error {
	x.note("end of the run")
	if err := errors.Join(x.everything(ctx), x.rollAll(ctx)); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	if err := errors.Join(x.close(), x.open(ctx), x.everything(ctx)); err != nil {
		return fmt.Errorf("at the end, rolled up and opened again: %w", err)
	}
	return errors.Join(x.close(), x.home.at.remove())
}

func (x *run) everything(ctx context.Context) error {
	return x.watch.do("check everything", func() error { return x.model.everything(ctx, x.home, x.s) })
}

func (x *run) open(ctx context.Context) error {
	return x.watch.do("open", func() (err error) {
		x.s, err = x.home.open(ctx)
		return err
	})
}

func (x *run) close() error {
	err := x.watch.do("close", x.s.Close)
	if err == nil {
		x.model.storedOutcomes()
	}
	return err
}

// rollAll rolls up all traces before they can expire.
func (x *run) rollAll(ctx context.Context) error {
	x.moved = 0
	x.turned.Store(0)
	return x.watch.do("maintain", func() error { x.s.Maintain(ctx); return nil })
}

// move moves the clock forward. Segments are kept for only twice the retention, so it rolls them up
// before.
func (x *run) move(ctx context.Context, d time.Duration) error {
	if x.traits.retention > 0 {
		d = min(d, x.traits.retention/2)
		if x.passed()+d > x.traits.retention {
			if err := x.rollAll(ctx); err != nil {
				return err
			}
		}
	}
	x.moved += d
	x.clock.move(d)
	return nil
}

// passed returns how far the clock has moved since all traces were rolled up.
func (x *run) passed() time.Duration {
	return x.moved + time.Duration(x.turned.Load())*time.Hour
}

// makeRoom ensures that nothing expires before it is rolled up while workers end several hours.
func (x *run) makeRoom(ctx context.Context) error {
	if x.traits.retention > 0 && x.passed()+4*time.Hour > x.traits.retention {
		return x.rollAll(ctx)
	}
	return nil
}
