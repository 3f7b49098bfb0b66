// Package turn bounds how much work goes on at once, and shares the turns out between clients:
// one that asks for a hundred things waits for its own, and others get their turns meanwhile.
package turn

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Line is a line of those who wait for their turn. It is safe for concurrent use.
type Line struct {
	o Options

	mu      sync.Mutex
	working map[string]int // turns that are taken, by client
	taken   int
	waiting []*waiter // the longest waiting first
}

// Options bound a [Line].
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

// ErrTooMany says that too many of a client, or of all, wait already.
var ErrTooMany = errors.New("too many wait for their turn")

// New returns a line.
func New(o Options) *Line {
	if o.Each <= 0 {
		o.Each = o.Turns
	}
	return &Line{o: o, working: map[string]int{}}
}

// Take waits for a turn and takes it. done gives it back, and is to be called once. The error is
// [ErrTooMany], or what ended ctx.
func (l *Line) Take(ctx context.Context, client string) (done func(), err error) {
	w, err := l.enter(client)
	if err != nil {
		return nil, err
	}
	if w != nil {
		select {
		case <-w.turn:
		case <-ctx.Done():
			if l.leave(w) {
				return nil, context.Cause(ctx)
			}
		}
	}
	return func() { l.give(client) }, nil
}

// enter takes a turn, or returns who waits for one.
func (l *Line) enter(client string) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken < l.o.Turns && l.may(client) {
		l.take(client)
		return nil, nil
	}
	own := 0
	for _, w := range l.waiting {
		if w.client == client {
			own++
		}
	}
	if l.o.Waiting > 0 && own >= l.o.Waiting || l.o.Most > 0 && len(l.waiting) >= l.o.Most {
		return nil, ErrTooMany
	}
	w := &waiter{client, make(chan struct{})}
	l.waiting = append(l.waiting, w)
	return w, nil
}

// may reports whether a client may have one turn more. The client "" is all who can not be told
// apart.
func (l *Line) may(client string) bool { return client == "" || l.working[client] < l.o.Each }

func (l *Line) take(client string) {
	l.taken++
	l.working[client]++
}

// leave takes a waiter out of the line, and reports false if it has its turn already.
func (l *Line) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}

// give gives a turn back, to the client with the fewest turns; of several, the one who waited longest.
func (l *Line) give(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	if l.working[client]--; l.working[client] == 0 {
		delete(l.working, client)
	}
	next := -1
	for i, w := range l.waiting {
		if n := l.working[w.client]; l.may(w.client) && (next < 0 || n < l.working[l.waiting[next].client]) {
			next = i
		}
	}
	if next >= 0 {
		w := l.waiting[next]
		l.waiting = slices.Delete(l.waiting, next, next+1)
		l.take(w.client)
		close(w.turn)
	}
}

// Taken returns how many turns are taken, and how many wait for one.
func (l *Line) Taken() (taken, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, len(l.waiting)
}

type clientKey struct{}

// WithClient returns a context that says for whom work is done.
func WithClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// ClientOf returns for whom work is done, "" if the context does not say it.
func ClientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
