package query

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// StepCache caches rollups of past steps of less than an hour. The store has no such rollups, and
// dashboards query the same steps repeatedly, with different labels. It is safe for concurrent use
// by multiple goroutines.
type StepCache struct {
	mu   sync.Mutex
	kept *lru.Cache[*pageSteps]
}

// pageSteps has the steps of one length and some pages. A query must hold turn to use the fields
// below it.
type pageSteps struct {
	key  string
	turn chan struct{} // holds one while a query uses the steps

	begun       time.Time // read time of the oldest step
	since, upTo time.Time // the range of steps: complete ones that are over
	steps       []step
	open        openSteps
}

// openSteps has the steps that may still change, as last read.
type openSteps struct {
	at    time.Time // start of the read; zero before the first read
	until time.Time // time of the next read
	steps []step
	stats Stats
}

// step is the sum of the traces of a page and partition that were received in a step.
type step struct {
	at   time.Time
	page string
	stepSums
	traces int64
}

const (
	// settled is the time after which an ended step is complete. The store refuses traces that wait
	// for a commit for more than a sixth of it.
	settled = time.Minute
	// rereadAfter is the age at which steps are read again, in case of late traces.
	rereadAfter = 10 * time.Minute
	// maxStepBytes is the maximum size of the cache in bytes.
	maxStepBytes = 64 << 20
)

// NewStepCache returns an empty StepCache.
func NewStepCache() *StepCache { return &StepCache{kept: lru.New[*pageSteps](maxStepBytes, nil)} }

// stepSeries calls take for the sums of each step, over the selected traces. It does not read the
// traces of cached steps.
func (l Local) stepSeries(ctx context.Context, sel selection.Selection, length time.Duration,
	take func(step)) (Stats, error) {
	if l.Steps == nil || sel.Lag <= 0 || !sel.Until.IsZero() || !sel.Since.Equal(sel.Since.Truncate(length)) {
		steps, stats, err := l.readSteps(ctx, sel, length)
		for _, s := range steps {
			take(s)
		}
		return stats, err
	}
	f, err := l.Steps.take(ctx, l.key(stepsKey(sel, length)))
	if err != nil {
		return Stats{}, err
	}
	defer l.Steps.give(f)
	now := l.Reader.Now()
	if f.since.IsZero() || sel.Since.Before(f.since) || sel.Since.After(f.upTo) || now.Before(f.upTo) ||
		now.Sub(f.begun) > rereadAfter {
		f.begun, f.since, f.upTo, f.steps, f.open = now, sel.Since, sel.Since, nil, openSteps{}
	}
	begin := time.Now()
	kept := begin.Before(f.open.until)
	if !kept {
		rest := sel
		rest.Since = f.upTo
		steps, stats, err := l.readSteps(ctx, rest, length)
		if err != nil {
			return Stats{}, err
		}
		f.open = openSteps{begin, begin.Add(fresh.For(time.Since(begin), sel.Lag)), steps, stats}
		f.settle(now.Add(-settled).Truncate(length))
	}
	stats := f.open.stats
	stats.Age = fresh.Age{Behind: time.Since(f.open.at), Kept: kept}
	for _, s := range f.steps {
		if !s.at.Before(sel.Since) {
			take(s)
			stats.Traces += uint64(s.traces)
		}
	}
	for _, s := range f.open.steps {
		if !s.at.Before(sel.Since) {
			take(s)
		}
	}
	return stats, nil
}

// settle records that the steps before over are complete. Steps with warnings are read again each
// time, so that responses repeat the warnings.
func (f *pageSteps) settle(over time.Time) {
	if !over.After(f.upTo) || len(f.open.stats.Warnings) > 0 {
		return
	}
	read := f.open.steps
	f.upTo, f.open.steps = over, nil
	for _, s := range read {
		if s.at.Before(over) {
			f.steps = append(f.steps, s)
			f.open.stats.Traces -= uint64(s.traces)
		} else {
			f.open.steps = append(f.open.steps, s)
		}
	}
}

// stepsKey returns the cache key of the steps of some pages.
func stepsKey(sel selection.Selection, length time.Duration) string {
	var ofPages []selection.Matcher
	for _, m := range sel.Where {
		if m.Key == selection.KeyPage {
			ofPages = append(ofPages, m)
		}
	}
	return fmt.Sprintf("%q %q %v", sel.Page, ofPages, length)
}

// readSteps reads traces and returns their sums by step.
func (l Local) readSteps(ctx context.Context, sel selection.Selection, length time.Duration) (steps []step, stats Stats,
	err error) {
	var own rollup.Own
	r := &recording{reading: reading{sel: sel}, step: length, flat: true, take: func(at time.Time,
		x store.Rolled) error {
		_, traces := x.Record.Views()
		steps = append(steps, step{at, x.Page, stepSumsOf(x, &own), traces})
		return nil
	}}
	stats, err = l.readRecords(ctx, store.Wanted{None: true}, r)
	return steps, stats, err
}

// take returns the steps under key, once no other query uses them.
func (c *StepCache) take(ctx context.Context, key string) (*pageSteps, error) {
	c.mu.Lock()
	x, ok := c.kept.Get(key)
	if !ok {
		x = &pageSteps{key: key, turn: make(chan struct{}, 1)}
		c.kept.Put(key, x, 0)
	}
	c.mu.Unlock()
	select {
	case x.turn <- struct{}{}:
		return x, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// give releases steps, and updates their size. Steps that were evicted meanwhile have no size.
func (c *StepCache) give(x *pageSteps) {
	size := 500
	for _, steps := range [][]step{x.steps, x.open.steps} {
		for i := range steps {
			size += steps[i].size()
		}
	}
	<-x.turn
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.kept.Get(x.key); ok && now == x {
		c.kept.Put(x.key, x, int64(size))
	}
}

// stepSums has the sums of a record, without stacks.
type stepSums struct {
	cells         []rollup.Cell
	weights       []trie.Weight // by cell
	own           []int64       // part of weights in the profiling script, in µs, by cell
	touches       []rollup.Touch
	distributions []rollup.Distribution
	outcomes      []rollup.Outcome
}

// stepSumsOf adds up the nodes of a record by cell. own marks the nodes of the profiling script.
func stepSumsOf(x store.Rolled, own *rollup.Own) stepSums {
	r := x.Record
	s := stepSums{r.Cells, make([]trie.Weight, len(r.Cells)), make([]int64, len(r.Cells)), r.Touches, r.Distributions,
		r.Outcomes}
	r.EachWeight(func(c int, n trie.NodeID, self, samples int64) {
		s.weights[c].Self += self
		s.weights[c].Samples += samples
		if own.Is(x.Stacks, n) {
			s.own[c] += self
		}
	})
	return s
}

// size returns the approximate size of s in bytes.
func (s *stepSums) size() int {
	r := rollup.Record{Cells: s.cells, Touches: s.touches, Distributions: slices.Clip(s.distributions)}
	return 200 + r.Size() + 32*len(s.weights)
}

// DefaultStep returns the default step of a series, which gives about 100 points up to 50 days.
func DefaultStep(since, until, now time.Time) time.Duration {
	if until.IsZero() {
		until = now
	}
	for _, hours := range []time.Duration{1, 3, 6, 12} {
		if until.Sub(since) <= 100*hours*time.Hour {
			return hours * time.Hour
		}
	}
	return 24 * time.Hour
}
