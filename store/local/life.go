package local

import (
	"context"
	"sync"

	"github.com/fieldtrie/fieldtrie/store"
)

// readers counts who reads, so that Close can wait for them.
type readers struct {
	mu     sync.Mutex
	count  int
	closed bool
	idle   chan struct{} // closed when closed is set and nobody reads any more
}

func newReaders() *readers { return &readers{idle: make(chan struct{})} }

// enter keeps the directory open until leave is called.
func (r *Reader) enter() error {
	l := r.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return store.ErrClosed
	}
	l.count++
	return nil
}

func (r *Reader) leave() {
	l := r.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count--; l.count == 0 && l.closed {
		close(l.idle)
	}
}

// end refuses new readers and waits for those that there are, no longer than ctx. It returns
// false if that took too long, or was done before.
func (l *readers) end(ctx context.Context) bool {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	l.closed = true
	if l.count == 0 {
		close(l.idle)
	}
	l.mu.Unlock()
	select {
	case <-l.idle:
		return true
	case <-ctx.Done():
		return false
	}
}
