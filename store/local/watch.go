package local

import (
	"context"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// How long something may wait, or go on without a next step, before the store counts as stuck.
const (
	waitLimit   = 10 * time.Second // a delivery for its commit
	commitLimit = time.Minute      // the committer with one thing
	stepLimit   = time.Minute      // a roll, maintenance, or closing a partition, with one step
)

// watch knows what goes on and since when, and tells when something has waited for too long.
// It goes by the monotonic clock, not by [Options.Now].
type watch struct {
	o Options

	mu     sync.Mutex
	tasks  map[*waiting]bool
	looked time.Time     // when it was looked last
	said   bool          // of the present trouble
	alarm  chan struct{} // closed while there is trouble

	trouble atomic.Pointer[error]
	done    chan struct{}
}

// waiting is something that goes on.
type waiting struct {
	w     *watch
	what  string
	limit time.Duration
	since time.Time // the beginning of the step
	at    string    // the step
}

func newWatch(o Options) *watch {
	return &watch{o: o, tasks: make(map[*waiting]bool), looked: time.Now(), alarm: make(chan struct{}), done: make(chan struct{})}
}

// alarmed returns a channel that is closed while something has waited for too long.
func (w *watch) alarmed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alarm
}

// begin says that something begins, of which no step may take longer than limit.
func (w *watch) begin(what string, limit time.Duration) *waiting {
	x := &waiting{w: w, what: what, limit: limit, since: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[x] = true
	return x
}

// step says what is done next: there was progress.
func (x *waiting) step(at string) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	x.at, x.since = at, time.Now()
}

// goOn says that there was progress within the step.
func (x *waiting) goOn() {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	x.since = time.Now()
}

// end says that it is over.
func (x *waiting) end() {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	delete(x.w.tasks, x)
}

// watchEvery is how often it is looked what goes on. If a look comes much later than that,
// the whole process did not run: then nothing has waited for anything in it.
const watchEvery = time.Second

func (w *watch) run() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-tick.C:
			w.look(time.Now())
		}
	}
}

func (w *watch) stop() { close(w.done) }

// look sees whether something has waited for too long, and says so once in the log.
func (w *watch) look(now time.Time) {
	err, first := w.judge(now)
	if err == nil {
		if w.trouble.Swap(nil) != nil {
			w.mu.Lock()
			w.alarm = make(chan struct{})
			w.mu.Unlock()
			w.o.Logger.Info("what was stuck goes on")
		}
		return
	}
	if w.trouble.Swap(&err) == nil {
		close(w.alarm) // which nobody else changes
	}
	if first {
		w.o.Logger.Error("the store is stuck; new traces are refused", logErr, err)
		time.AfterFunc(dumpAfter, w.dump)
	}
}

// dumpAfter is how long who asks for [Store.Stuck] has to end the process before all goroutines
// are stopped.
const dumpAfter = 5 * time.Second

// dump writes what all goroutines do to the log, unless it goes on. They stop meanwhile, and one
// that waits for a page of a mapped file can not: if the disk never answers, the process stands
// still from then on. The garbage collector would have the same effect a little later.
func (w *watch) dump() {
	if w.trouble.Load() == nil {
		return
	}
	var all strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&all, 2) // to a Builder
	w.o.Logger.Error("what goes on while the store is stuck", "goroutines", all.String())
}

func (w *watch) judge(now time.Time) (err error, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gap := now.Sub(w.looked) - watchEvery; gap > watchEvery {
		for x := range w.tasks {
			x.since = x.since.Add(gap)
		}
	}
	w.looked = now
	late := false
	worst := make(map[string]waits)
	for x := range w.tasks {
		age := now.Sub(x.since)
		late = late || age > x.limit
		if what := x.what + " has been " + x.doing(); age > watchEvery*5 {
			worst[what] = waits{worst[what].number + 1, max(worst[what].longest, age)}
		}
	}
	if !late {
		w.said = false
		return nil, false
	}
	first = !w.said
	w.said = true
	return fmt.Errorf("%w: %s", store.ErrStuck, summary(worst)), first
}

func (x *waiting) doing() string {
	if x.at == "" {
		return "at work"
	}
	return x.at
}

// waits are several that do the same.
type waits struct {
	number  int
	longest time.Duration
}

// summary says what goes on, for how long, and how often if that is more than once.
func summary(list map[string]waits) string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(list)) {
		text := fmt.Sprintf("%s for %v", what, list[what].longest.Round(time.Second))
		if n := list[what].number; n > 1 {
			text += fmt.Sprintf(" (%d of them)", n)
		}
		out = append(out, text)
	}
	return strings.Join(out[:min(len(out), 20)], "; ")
}

// Stuck returns an error that wraps [store.ErrStuck] and says what waits for what, if something has
// waited for too long: a delivery for its commit for ten seconds, or a roll, maintenance or
// the closing of a partition without progress for a minute. Meanwhile [Store.Append] refuses
// traces, and gives up those that wait.
func (s *Store) Stuck() error {
	if p := s.watch.trouble.Load(); p != nil {
		return *p
	}
	return nil
}

// OldestWait returns how long the delivery that has waited longest has waited for its commit,
// 0 if none waits.
func (s *Store) OldestWait() time.Duration {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	var oldest time.Duration
	for x := range s.watch.tasks {
		if x.limit == waitLimit {
			oldest = max(oldest, time.Since(x.since))
		}
	}
	return oldest
}

// newTimeout returns a context that ends after d, for what nobody asked for.
func newTimeout(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}
