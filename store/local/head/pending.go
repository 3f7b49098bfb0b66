package head

import (
	"slices"
	"sync"
	"time"
)

// Pending is what was committed and is not rolled up yet, as far as the committer knows. The
// zero value is empty. It is safe for concurrent use.
type Pending struct {
	mu     sync.Mutex
	pages  map[string]bool
	traces int
	since  time.Time // when the oldest of it was received, zero if there is none
	all    bool      // there may be more: look at all pages

	waiting int // keys of traces that are in no rollup yet
}

// Coming says that so many keys of traces are about to be committed: a roll may see them
// before Note is called.
func (f *Pending) Coming(keys int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting += keys
}

// Note takes down what was committed.
func (f *Pending) Note(pages map[string]bool, traces int, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range pages {
		f.add(p)
	}
	f.traces += traces
	if f.since.IsZero() {
		f.since = now
	}
}

func (f *Pending) add(page string) {
	if f.pages == nil {
		f.pages = make(map[string]bool)
	}
	f.pages[page] = true
}

// take empties f if most traces wait, or one has waited for longest.
func (f *Pending) take(now time.Time, most int, longest time.Duration) (pages []string, all, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since.IsZero() || f.traces < most && now.Sub(f.since).Abs() < longest {
		return nil, false, false
	}
	for p := range f.pages {
		pages = append(pages, p)
	}
	slices.Sort(pages)
	all = f.all
	f.pages, f.traces, f.since, f.all = nil, 0, time.Time{}, false
	return pages, all, true
}

// more says that a page has more than was taken: there is no waiting for it.
func (f *Pending) more(page string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(page)
	f.since = time.Unix(1, 0) // long ago
}

// Rolled says that so many keys of traces went into rollups, or were not committed after all.
func (f *Pending) Rolled(keys int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = max(0, f.waiting-keys)
}

// Waiting returns how many keys of traces are in no rollup yet.
func (f *Pending) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

// Everything says that a partition is being written to that may have had something since a time.
func (f *Pending) Everything(since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages, f.traces, f.since, f.all = nil, 0, since, true
}
