// Package fresh caches values for a limited time, and recomputes requested values before they
// expire, so that callers need not wait.
package fresh

import (
	"context"
	"time"
)

const (
	// goodFor is the lifetime of a value as a multiple of the time to compute it: repeated requests
	// for one value use a fiftieth of a processor.
	goodFor = 50
	// pause is the pause between values computed ahead, as a multiple of the time to compute one:
	// computing ahead uses a quarter of a processor.
	pause = 3
	// aheadFor is the timeout for computing one value ahead.
	aheadFor = 30 * time.Second
)

// For returns the lifetime of a value that took took to compute and may be at most lag old. A cheap
// value is recomputed sooner, so that new data appears quickly on small systems.
func For(took, lag time.Duration) time.Duration { return min(lag, goodFor*took) }

// Due reports whether a value of this age and lifetime should be recomputed ahead.
func Due(age, good time.Duration) bool { return age >= good/3 }

// Ahead computes values before they are requested, one at a time, with pauses. It computes none
// after its context is done. It is safe for concurrent use by multiple goroutines.
type Ahead struct {
	ctx  context.Context
	turn chan struct{} // holds one element while a value is computed
}

// NewAhead returns an Ahead that stops when ctx is done.
func NewAhead(ctx context.Context) *Ahead { return &Ahead{ctx: ctx, turn: make(chan struct{}, 1)} }

// Do waits for its turn, calls f with a timeout of half a minute, and returns after the pause. If
// the context of a is done, f gets a context that is already done.
func (a *Ahead) Do(f func(context.Context)) {
	a.turn <- struct{}{} // waits for one value and one pause; for neither after a.ctx is done
	defer func() { <-a.turn }()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(a.ctx, aheadFor)
	defer cancel()
	f(ctx)
	select {
	case <-time.After(pause * time.Since(begin)):
	case <-a.ctx.Done():
	}
}
