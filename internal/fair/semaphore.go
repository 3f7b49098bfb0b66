// Package fair has a fair semaphore: it bounds how much work is done at once, by all and by one client.
// A client that asks for a hundred things waits for its own, and others get their turns meanwhile.
package fair

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Semaphore bounds how much work is done at once. It is safe for concurrent use.
type Semaphore struct {
	o Options

	mu      sync.Mutex
	working map[string]int // turns that are taken, by client
	taken   int
	waiting []*waiter // the longest waiting first
}

// Options bound a [Semaphore].
type Options struct {
	Turns   int // taken at once
	Each    int // of these by one client that is known, see [WithClient]; 0 is all
	Waiting int // that wait, of one client; 0 is no bound
	Most    int // that wait, of all; 0 is no bound
}

type waiter struct {
	client string
	turn   chan struct{} // closed when it is the waiter's
}

// ErrTooMany says that too many requests, of a client or of all, are already waiting.
var ErrTooMany = errors.New("too many wait for their turn")

// New returns a semaphore.
func New(o Options) *Semaphore {
	if o.Each <= 0 {
		o.Each = o.Turns
	}
	return &Semaphore{o: o, working: map[string]int{}}
}

// Take waits for a turn and takes it. done gives it back, and is to be called once. The error is
// [ErrTooMany], or what ended ctx.
func (s *Semaphore) Take(ctx context.Context, client string) (done func(), err error) {
	w, err := s.enter(client)
	if err != nil {
		return nil, err
	}
	if w != nil {
		select {
		case <-w.turn:
		case <-ctx.Done():
			if s.leave(w) {
				return nil, context.Cause(ctx)
			}
		}
	}
	return func() { s.give(client) }, nil
}

// enter takes a turn, or returns who waits for one.
func (s *Semaphore) enter(client string) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken < s.o.Turns && s.may(client) {
		s.take(client)
		return nil, nil
	}
	own := 0
	for _, w := range s.waiting {
		if w.client == client {
			own++
		}
	}
	if s.o.Waiting > 0 && own >= s.o.Waiting || s.o.Most > 0 && len(s.waiting) >= s.o.Most {
		return nil, ErrTooMany
	}
	w := &waiter{client, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	return w, nil
}

// may reports whether a client may have one turn more. The client "" is all who can not be told
// apart.
func (s *Semaphore) may(client string) bool { return client == "" || s.working[client] < s.o.Each }

func (s *Semaphore) take(client string) {
	s.taken++
	s.working[client]++
}

// leave takes a waiter out of the line, and reports false if it has its turn already.
func (s *Semaphore) leave(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, w)
	if i < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

// give gives a turn back, to the client with the fewest turns; of several, the one who waited longest.
func (s *Semaphore) give(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.working[client]--; s.working[client] == 0 {
		delete(s.working, client)
	}
	next := -1
	for i, w := range s.waiting {
		if n := s.working[w.client]; s.may(w.client) && (next < 0 || n < s.working[s.waiting[next].client]) {
			next = i
		}
	}
	if next >= 0 {
		w := s.waiting[next]
		s.waiting = slices.Delete(s.waiting, next, next+1)
		s.take(w.client)
		close(w.turn)
	}
}

// Taken returns how many turns are taken, and how many wait for one.
func (s *Semaphore) Taken() (taken, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, len(s.waiting)
}

type clientKey struct{}

// WithClient returns a context with the client of its work.
func WithClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// ClientOf returns the client of a context's work, or "" if it has none.
func ClientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
