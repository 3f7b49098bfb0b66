package query

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Recent keeps answers for as long as they may be behind ([selection.Selection.Lag]): people who look
// at dashboards ask the same thing again and again, and often several of them at once. What
// is answered fast is made anew sooner, so that a trace shows at once where there are few.
// What somebody goes on to ask for is made anew before it is too old, one answer at a time,
// so that nobody waits for it. It is safe for concurrent use.
type Recent struct {
	ctx context.Context // ends what is made before somebody asks

	mu   sync.Mutex
	of   map[string]*recent
	size int // bytes of all

	ahead chan struct{} // holds one while an answer is made before somebody asks
}

// recent is an answer, or one that is being made.
type recent struct {
	made   chan struct{} // closed when answer and err are set
	answer any
	err    error

	at       time.Time // when it was begun
	until    time.Time // when it is too old; zero while it is being made
	size     int       // bytes
	renewing bool      // somebody is about to make the next one
	next     *recent   // the next one while that is being made
}

// NewRecent returns a Recent without answers. It makes none ahead when ctx is done.
func NewRecent(ctx context.Context) *Recent {
	return &Recent{ctx: ctx, of: make(map[string]*recent), ahead: make(chan struct{}, 1)}
}

// errNoAnswer is what those hear who wait for an answer that ends in a panic. They try themselves.
var errNoAnswer = errors.New("no answer was made")

const (
	// recentFor is how many times as long as it took to make it an answer is kept: all that
	// ask the same take a fiftieth of a processor.
	recentFor = 50
	// aheadPause is how many times as long as it took nothing is made ahead: that takes a
	// quarter of a processor.
	aheadPause = 3
	// aheadFor bounds the time to make one answer ahead.
	aheadFor = 30 * time.Second

	// maxRecent and maxRecentSize, in bytes, bound what is kept.
	maxRecent     = 1024
	maxRecentSize = 64 << 20
)

// sharedQuestion is one whose answer those who ask the same can share.
type sharedQuestion[T interface{ size() int }] struct {
	key    string // tells it from others
	lag    time.Duration
	answer func(context.Context) (T, error)
}

// recall returns an answer that was begun less than the lag ago, and how long ago that was. If
// there is none, it makes one; whoever asks the same meanwhile waits for that, no longer than
// ctx. Answers are shared, so nobody may change them.
func recall[T interface{ size() int }](ctx context.Context, r *Recent, q sharedQuestion[T]) (T, time.Duration, error) {
	if r == nil || q.lag <= 0 {
		x, err := q.answer(ctx)
		return x, 0, err
	}
	for {
		x, todo := r.find(q.key)
		switch todo {
		case makeIt:
			err := fill(ctx, r, q, x)
			if err != nil {
				return *new(T), 0, err
			}
			return x.answer.(T), 0, nil
		case renewIt:
			go renew(r, q, x)
		}
		select {
		case <-x.made:
		case <-ctx.Done():
			return *new(T), 0, ctx.Err()
		}
		if x.err == nil {
			return x.answer.(T), time.Since(x.at), nil
		}
		if err := ctx.Err(); err != nil {
			return *new(T), 0, err
		}
		// The other one may have been given up by who asked for it. What fails by itself fails for all: twenty who wait would
		// make it twenty times.
		if !errors.Is(x.err, context.Canceled) && !errors.Is(x.err, context.DeadlineExceeded) && !errors.Is(x.err, errNoAnswer) {
			return *new(T), 0, x.err
		}
	}
}

// toDo is what is left to who has found an answer.
type toDo int

const (
	useIt   toDo = iota
	renewIt      // and have the next one made
	makeIt       // it is empty
)

// find returns the answer under key, and what to do about it.
func (r *Recent) find(key string) (*recent, toDo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	x := r.of[key]
	if x != nil && !now.Before(x.until) && x.next != nil {
		x = x.next
	}
	switch {
	case x == nil || !x.until.IsZero() && !now.Before(x.until):
		x = newRecent(now)
		r.keep(key, x)
		return x, makeIt
	case x.until.IsZero() || x.renewing || now.Sub(x.at) < x.until.Sub(x.at)/3:
		return x, useIt
	}
	x.renewing = true
	return x, renewIt
}

func newRecent(now time.Time) *recent { return &recent{made: make(chan struct{}), at: now} }

// fill makes an answer and puts it under the key of q, or nothing if there is none.
func fill[T interface{ size() int }](ctx context.Context, r *Recent, q sharedQuestion[T], x *recent) error {
	var got T
	err := errNoAnswer
	defer func() { // also if it panics
		r.mu.Lock()
		defer r.mu.Unlock()
		now := time.Now()
		x.answer, x.err, x.until = got, err, x.at.Add(min(q.lag, recentFor*now.Sub(x.at)))
		if r.of[q.key] == x {
			r.drop(q.key)
		}
		if err == nil {
			if x.size = len(q.key) + got.size(); x.size <= maxRecentSize/4 {
				r.keep(q.key, x)
			}
		}
		close(x.made)
	}()
	got, err = q.answer(ctx)
	return err
}

// renew makes the answer that follows x, unless somebody else has. It waits for its turn.
func renew[T interface{ size() int }](r *Recent, q sharedQuestion[T], x *recent) {
	r.ahead <- struct{}{} // which waits for one answer and one pause each, and for neither once r.ctx is done
	defer func() { <-r.ahead }()
	begin := time.Now()
	next := newRecent(begin)
	r.mu.Lock()
	wanted := r.of[q.key] == x && r.ctx.Err() == nil
	if wanted {
		x.next = next
	}
	r.mu.Unlock()
	if !wanted {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, aheadFor)
	defer cancel()
	func() {
		// Who asks when x is too old is told what goes wrong, and a panic there is logged and
		// ends that request alone.
		defer func() { _ = recover() }()
		_ = fill(ctx, r, q, next)
	}()
	r.mu.Lock()
	x.renewing, x.next = false, nil
	r.mu.Unlock()
	select {
	case <-time.After(aheadPause * time.Since(begin)):
	case <-r.ctx.Done():
	}
}

// keep puts an answer in place of the one under key, and makes room for it. It is called with
// the lock held, as is drop.
func (r *Recent) keep(key string, x *recent) {
	r.drop(key)
	r.of[key] = x
	r.size += x.size
	now := time.Now()
	for k, other := range r.of {
		if other.isOver(now) {
			r.drop(k)
		}
	}
	for r.size > maxRecentSize || len(r.of) > maxRecent {
		oldest := ""
		for k, other := range r.of {
			if k != key && (oldest == "" || other.at.Before(r.of[oldest].at)) {
				oldest = k
			}
		}
		if oldest == "" {
			return
		}
		r.drop(oldest)
	}
}

// isOver reports whether an answer is too old, and nobody makes the next one.
func (x *recent) isOver(now time.Time) bool {
	return !x.until.IsZero() && !now.Before(x.until) && x.next == nil
}

func (r *Recent) drop(key string) {
	if x := r.of[key]; x != nil {
		r.size -= x.size
		delete(r.of, key)
	}
}

// alignment is what the beginning of a time is rounded down to, if an answer may be behind.
const alignment = 15 * time.Second

// recently returns s with its beginning rounded down, so that questions for the last hour are
// the same question for a while, and a text that tells it from others. An answer may be as old
// as the Lag that is left, and what it is made of as well.
func recently(s selection.Selection) (selection.Selection, string) {
	s.Lag /= 2
	if s.Lag > 0 && !s.Since.IsZero() {
		s.Since = s.Since.Truncate(min(s.Lag, alignment))
	}
	return s, fmt.Sprintf("%q %q %q %v %v %q %v %v %v", s.Page, s.Feature, s.Where, s.Since, s.Until, s.GroupBy, s.Lag, s.Minified, s.Parts)
}
