package query

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Recent keeps answers for as long as they may be behind ([Selection.Lag]): people who look
// at dashboards ask the same thing again and again, and often several of them at once. What
// is answered fast is made anew sooner, so that a trace shows at once where there are few. It
// is safe for concurrent use.
type Recent struct {
	mu sync.Mutex
	of map[string]*recent
}

// recent is an answer, or one that is being made.
type recent struct {
	made   chan struct{} // closed when the fields below are set
	at     time.Time     // when it was begun
	until  time.Time     // when it is to be made anew; zero while it is being made
	answer any
	err    error
}

// NewRecent returns a Recent without answers.
func NewRecent() *Recent { return &Recent{of: make(map[string]*recent)} }

// errNoAnswer is what those hear who wait for an answer that ends in a panic. They try themselves.
var errNoAnswer = errors.New("no answer was made")

// recentFor is how many times as long as it took to make it an answer is kept: all that ask
// the same take a fiftieth of a processor.
const recentFor = 50

// maxRecent bounds how many answers are kept.
const maxRecent = 256

// answerRecent returns the answer under key that was begun less than lag ago, and how long
// ago that was. If there is none, it calls answer; whoever asks the same meanwhile waits for
// that, no longer than ctx. Answers are shared, so nobody may change them.
func answerRecent[T any](ctx context.Context, r *Recent, key string, lag time.Duration, answer func() (T, error)) (T, time.Duration, error) {
	if r == nil || lag <= 0 {
		x, err := answer()
		return x, 0, err
	}
	for {
		x, mine := r.find(key, lag)
		if mine {
			got, err := *new(T), errNoAnswer
			defer func() { r.set(key, x, got, err) }() // also if answer panics
			got, err = answer()
			return got, 0, err
		}
		select {
		case <-x.made:
		case <-ctx.Done():
			return *new(T), 0, ctx.Err()
		}
		if x.err == nil {
			return x.answer.(T), time.Since(x.at), nil
		}
		// The other one may have been given up by who asked for it.
		if err := ctx.Err(); err != nil {
			return *new(T), 0, err
		}
	}
}

// find returns the answer under key, or one that the caller is to make.
func (r *Recent) find(key string, lag time.Duration) (x *recent, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if x := r.of[key]; x != nil && x.fresh(now, lag) {
		return x, false
	}
	for k, x := range r.of {
		if !x.fresh(now, lag) || len(r.of) >= maxRecent {
			delete(r.of, k)
		}
	}
	x = &recent{made: make(chan struct{}), at: now}
	r.of[key] = x
	return x, true
}

// fresh reports whether an answer, or one that is being made, is good enough.
func (x *recent) fresh(now time.Time, lag time.Duration) bool {
	return now.Sub(x.at) < lag && (x.until.IsZero() || now.Before(x.until))
}

// set says what came of an answer. An error is not kept.
func (r *Recent) set(key string, x *recent, answer any, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	x.answer, x.err, x.until = answer, err, now.Add(recentFor*now.Sub(x.at))
	if err != nil && r.of[key] == x {
		delete(r.of, key)
	}
	close(x.made)
}

// recently returns s with its beginning rounded down to what may be missing, so that
// questions for the last hour are the same question for a while, and a text that tells it
// from others.
func (s Selection) recently() (Selection, string) {
	if s.Lag > 0 && !s.Since.IsZero() {
		s.Since = s.Since.Truncate(s.Lag)
	}
	return s, fmt.Sprintf("%q %q %q %v %v %q %v", s.Page, s.Feature, s.Where, s.Since, s.Until, s.GroupBy, s.Lag)
}
