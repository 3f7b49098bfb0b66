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

// StepCache keeps the rollups of steps of less than an hour that are over. The store has none of
// these, and dashboards ask for the same steps again and again, grouped by one label and another.
// It is safe for concurrent use.
type StepCache struct {
	mu   sync.Mutex
	kept *lru.Cache[*pageSteps]
}

// pageSteps are the steps of one length of some pages. The fields below turn belong to who
// holds the turn.
type pageSteps struct {
	key  string
	turn chan struct{} // holds one while a query uses the steps

	begun       time.Time // when its oldest step was read
	since, upTo time.Time // what it has: whole steps that are over
	steps       []step
	open        openSteps
}

// openSteps are the steps that may still change, as last read.
type openSteps struct {
	at    time.Time // when that was begun; zero if they were not read
	until time.Time // when they are to be read again
	steps []step
	stats Stats
}

// step is the sums of the traces of a page and partition that were received in a step.
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
	// rereadAfter is after how long steps are read again, whatever may have come late.
	rereadAfter = 10 * time.Minute
	// maxStepBytes bounds, in bytes, what is kept.
	maxStepBytes = 64 << 20
)

// NewStepCache returns a StepCache that has nothing yet.
func NewStepCache() *StepCache { return &StepCache{kept: lru.New[*pageSteps](maxStepBytes, nil)} }

// stepSeries reads the traces that sel asks for and hands over what those of each step sum up
// to. Of the steps that are known it reads none.
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

// stepsKey tells steps of some pages from others.
func stepsKey(sel selection.Selection, length time.Duration) string {
	var ofPages []selection.Matcher
	for _, m := range sel.Where {
		if m.Key == selection.KeyPage {
			ofPages = append(ofPages, m)
		}
	}
	return fmt.Sprintf("%q %q %v", sel.Page, ofPages, length)
}

// readSteps reads traces, and returns what they sum up to.
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

// take returns the steps under key, and waits for their turn.
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

// give ends a turn, and counts what the steps take now. What was dropped meanwhile takes no room.
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

// stepSums are what a record says of its page views, without stacks.
type stepSums struct {
	cells         []rollup.Cell
	weights       []trie.Weight // by cell
	own           []int64       // µs of them, by cell: of the profiling script
	touches       []rollup.Touch
	distributions []rollup.Distribution
	outcomes      []rollup.Outcome
}

// stepSumsOf returns what a record says.
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

// size returns about how many bytes s takes.
func (s *stepSums) size() int {
	r := rollup.Record{Cells: s.cells, Touches: s.touches, Distributions: slices.Clip(s.distributions)}
	return 200 + r.Size() + 32*len(s.weights)
}

// DefaultStep returns the default step of a series, which gives at most some hundred points.
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
