package read

import (
	"context"
	"sync"

	"github.com/fieldtrie/fieldtrie/store"
)

// Life counts who uses a directory, so that closing it can wait for them.
type Life struct {
	mu     sync.Mutex
	count  int
	closed bool
	idle   chan struct{} // closed when closed is set and nobody is left
}

// NewLife returns the life of a directory that nobody uses yet.
func NewLife() *Life { return &Life{idle: make(chan struct{})} }

// Enter keeps the directory open until Leave is called. The error is [store.ErrClosed].
func (l *Life) Enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return store.ErrClosed
	}
	l.count++
	return nil
}

// Leave says that who entered is done.
func (l *Life) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count--; l.count == 0 && l.closed {
		close(l.idle)
	}
}

// End refuses those who come and waits for those who are there, no longer than ctx. It returns
// false if that took too long, or was done before.
func (l *Life) End(ctx context.Context) bool {
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
