package store

import (
	"sync"
	"sync/atomic"
	"time"
)

// lane is for work that nobody waits for: rolling up, and sums that are made ahead of the
// next question. It lets one piece after another through, and while there are commits,
// which come first, it stays closed after each for as long as that took. So all of this
// work gets half a processor then.
type lane struct {
	mu      sync.Mutex
	commits *atomic.Uint64 // that there have been; nil if nobody commits
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
