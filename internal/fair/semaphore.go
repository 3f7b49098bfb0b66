// Package fair provides a fair semaphore, which bounds concurrent work in total and for each
// client. A client with a hundred requests waits for its own, while requests of other clients
// proceed.
package fair

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Semaphore bounds concurrent work. It is safe for concurrent use by multiple goroutines.
type Semaphore struct {
	o Options

	mu      sync.Mutex
	working map[string]int // turns in use, by client
	taken   int
	waiting []*waiter // longest waiting first
}

// Options configures a [Semaphore].
type Options struct {
	Turns   int // in use concurrently
	Each    int // in use by one known client, see [WithClient]; 0: Turns
	Waiting int // waiting requests of one client; 0: no limit
	Most    int // waiting requests of all clients; 0: no limit
}

type waiter struct {
	client string
	turn   chan struct{} // closed when the waiter gets its turn
}

// ErrTooMany is returned if too many requests, of a client or in total, are already waiting.
var ErrTooMany = errors.New("too many requests are waiting")

// New returns a semaphore with all turns free. o.Turns must be positive, or Take never succeeds.
func New(o Options) *Semaphore {
	if o.Each <= 0 {
		o.Each = o.Turns
	}
	return &Semaphore{o: o, working: map[string]int{}}
}

// Take waits for a turn. The caller must call done once to return it. The error is [ErrTooMany] or
// the cause of the end of ctx.
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

// enter acquires a turn, or returns a waiter for one.
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

// may reports whether a client may have one more turn. The client "" stands for all unknown
// clients.
func (s *Semaphore) may(client string) bool { return client == "" || s.working[client] < s.o.Each }

func (s *Semaphore) take(client string) {
	s.taken++
	s.working[client]++
}

// leave removes a waiter from the queue. It returns false if the waiter already has its turn.
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

// give returns a turn and passes it to the client with the fewest turns, and among equals to the
// one that has waited longest.
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

// Taken returns the number of turns in use and of waiting requests.
func (s *Semaphore) Taken() (taken, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, len(s.waiting)
}

type clientKey struct{}

// WithClient returns a context that carries the client of its work.
func WithClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// ClientOf returns the client of a context's work, or "" if it has none.
func ClientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
