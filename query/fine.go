package query

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Fine keeps what traces sum up to in steps of less than an hour that are over. There are no
// rollups of these, and dashboards ask for the same steps again and again, grouped by one label
// and another. It is safe for concurrent use.
type Fine struct {
	mu   sync.Mutex
	of   map[string]*fineSteps
	size int // bytes of all
	tick uint64
}

// fineSteps are the steps of one length of some pages. The fields below turn belong to who
// holds the turn.
type fineSteps struct {
	key  string
	turn chan struct{} // holds one while somebody works on it
	used uint64
	size int // bytes, as they are counted

	begun       time.Time // when its oldest step was read
	since, upTo time.Time // what it has: whole steps that are over
	steps       []step
	open        openSteps
}

// openSteps are those since the ones that are over, as they were read last.
type openSteps struct {
	at    time.Time // when that was begun; zero if they were not read
	until time.Time // when they are to be read again
	steps []step
	stats Stats
}

// step is what the traces of a page and partition that were received in a step sum up to.
type step struct {
	at   time.Time
	page string
	stepSums
	traces int64
}

const (
	// settled is how long after its end a step is taken to have all its traces. The store
	// refuses traces when one has waited for its commit for longer than a sixth of that.
	settled = time.Minute
	// fineFor is after how long steps are read again, whatever may have come late.
	fineFor = 10 * time.Minute
	// maxFineSize bounds, in bytes, what is kept.
	maxFineSize = 64 << 20
)

// NewFine returns a Fine that has nothing yet.
func NewFine() *Fine { return &Fine{of: make(map[string]*fineSteps)} }

// fineSeries reads the traces that sel asks for and hands over what those of each step sum up
// to. Of the steps that are known it reads none.
func (l Local) fineSeries(ctx context.Context, sel selection.Selection, length time.Duration, take func(step)) (Stats, error) {
	if l.Fine == nil || sel.Lag <= 0 || !sel.Until.IsZero() || !sel.Since.Equal(sel.Since.Truncate(length)) {
		steps, stats, err := l.readSteps(ctx, sel, length)
		for _, s := range steps {
			take(s)
		}
		return stats, err
	}
	f, err := l.Fine.take(ctx, l.key(fineKey(sel, length)))
	if err != nil {
		return Stats{}, err
	}
	defer l.Fine.give(f)
	now := l.Reader.Now()
	if f.since.IsZero() || sel.Since.Before(f.since) || sel.Since.After(f.upTo) || now.Before(f.upTo) || now.Sub(f.begun) > fineFor {
		f.begun, f.since, f.upTo, f.steps, f.open = now, sel.Since, sel.Since, nil, openSteps{}
	}
	if begin := time.Now(); !begin.Before(f.open.until) {
		rest := sel
		rest.Since = f.upTo
		steps, stats, err := l.readSteps(ctx, rest, length)
		if err != nil {
			return Stats{}, err
		}
		f.open = openSteps{begin, begin.Add(min(sel.Lag, recentFor*time.Since(begin))), steps, stats}
		f.settle(now.Add(-settled).Truncate(length))
	}
	stats := f.open.stats
	stats.Behind = time.Since(f.open.at)
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

// settle takes note that what was read is all there is of the steps before over. If something
// is amiss with it, it is read each time, and said.
func (f *fineSteps) settle(over time.Time) {
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

// fineKey tells steps of some pages from others.
func fineKey(sel selection.Selection, length time.Duration) string {
	var ofPages []selection.Matcher
	for _, m := range sel.Where {
		if m.Key == selection.KeyPage {
			ofPages = append(ofPages, m)
		}
	}
	return fmt.Sprintf("%q %q %v", sel.Page, ofPages, length)
}

// readSteps reads traces, and returns what they sum up to.
func (l Local) readSteps(ctx context.Context, sel selection.Selection, length time.Duration) (steps []step, stats Stats, err error) {
	r := &recording{reading: reading{sel: sel}, step: length, flat: true, take: func(at time.Time, x store.Rolled) error {
		_, traces := x.Record.Views()
		steps = append(steps, step{at, x.Page, stepSumsOf(x.Record), traces})
		return nil
	}}
	stats, err = l.readRecords(ctx, store.Wanted{None: true}, r)
	return steps, stats, err
}

// take returns the steps under key, and waits for their turn.
func (f *Fine) take(ctx context.Context, key string) (*fineSteps, error) {
	f.mu.Lock()
	x := f.of[key]
	if x == nil {
		x = &fineSteps{key: key, turn: make(chan struct{}, 1)}
		f.of[key] = x
	}
	f.tick++
	x.used = f.tick
	f.mu.Unlock()
	select {
	case x.turn <- struct{}{}:
		return x, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// give ends a turn, and drops what was not used for the longest time if all takes too much. Who
// has what is dropped meanwhile may go on with it.
func (f *Fine) give(x *fineSteps) {
	size := 500
	for _, steps := range [][]step{x.steps, x.open.steps} {
		for i := range steps {
			size += steps[i].size()
		}
	}
	<-x.turn
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[x.key] != x {
		return // it was dropped meanwhile, and takes no room here any more
	}
	f.size += size - x.size
	x.size = size
	for f.size > maxFineSize && len(f.of) > 0 {
		oldest := ""
		for key, other := range f.of {
			if oldest == "" || other.used < f.of[oldest].used {
				oldest = key
			}
		}
		f.size -= f.of[oldest].size
		delete(f.of, oldest)
	}
}

// stepSums are what a record says of its page views, without stacks.
type stepSums struct {
	cells         []rollup.Cell
	weights       []trie.Weight // by cell
	touches       []rollup.Touch
	distributions []rollup.Distribution
	outcomes      []rollup.Outcome
}

// stepSumsOf returns what a record says.
func stepSumsOf(r *rollup.Record) stepSums {
	s := stepSums{r.Cells, make([]trie.Weight, len(r.Cells)), r.Touches, r.Distributions, r.Outcomes}
	r.EachWeight(func(c int, _ trie.NodeID, self, samples int64) {
		s.weights[c].Self += self
		s.weights[c].Samples += samples
	})
	return s
}

// size returns about how many bytes s takes.
func (s *stepSums) size() int {
	r := rollup.Record{Cells: s.cells, Touches: s.touches, Distributions: slices.Clip(s.distributions)}
	return 200 + r.Size() + 24*len(s.weights)
}
