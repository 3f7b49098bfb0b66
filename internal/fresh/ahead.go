// Package fresh keeps values for as long as they may be behind, and makes those that are asked for
// again and again anew before they are too old, so that nobody waits for them.
package fresh

import (
	"context"
	"time"
)

const (
	// goodFor is how many times as long as it took to make it a value is good: all that ask for the
	// same take a fiftieth of a processor.
	goodFor = 50
	// pause is how many times as long as it took nothing is made ahead: that takes a quarter of a
	// processor.
	pause = 3
	// aheadFor bounds the time to make one value ahead.
	aheadFor = 30 * time.Second
)

// For returns how long a value is good that took so long to make and may be behind by the lag. What is
// made fast is made anew sooner, so that what came in shows at once where there is little.
func For(took, lag time.Duration) time.Duration { return min(lag, goodFor*took) }

// Due reports whether it is time to make the next value ahead, of one that is good for so long.
func Due(age, good time.Duration) bool { return age >= good/3 }

// Ahead makes values before somebody asks for them, one at a time, with pauses. It makes none when its
// context is done. Its methods may be called at once.
type Ahead struct {
	ctx  context.Context
	turn chan struct{} // holds one while a value is made
}

// NewAhead returns an Ahead for as long as ctx.
func NewAhead(ctx context.Context) *Ahead { return &Ahead{ctx: ctx, turn: make(chan struct{}, 1)} }

// Do calls f when its turn has come, with a context of half a minute, and returns after the pause. f is
// called with one that is done already if that of a is.
func (a *Ahead) Do(f func(context.Context)) {
	a.turn <- struct{}{} // which waits for one value and one pause each, and for neither once a.ctx is done
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
