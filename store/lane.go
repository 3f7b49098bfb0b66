package store

import (
	"sync"
	"sync/atomic"
	"time"
)

// lane is for work that nobody waits for: it lets one piece after another through. If it is
// told of commits, which come first, it stays closed after each piece for as long as that
// took while there are some, so that the work gets half a processor then.
type lane struct {
	mu      sync.Mutex
	commits *atomic.Uint64 // that there have been, or nil
	seen    uint64         // of them, by the piece before
}

// longestPause bounds how long the lane stays closed after a piece of work.
const longestPause = 100 * time.Millisecond

// do calls work when it is its turn. Take no lease of a partition before that: who seals a
// partition waits for its leases.
func (l *lane) do(work func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin := time.Now()
	work()
	if l.commits == nil {
		return
	}
	if n := l.commits.Load(); n != l.seen {
		l.seen = n
		time.Sleep(min(time.Since(begin), longestPause))
	}
}
