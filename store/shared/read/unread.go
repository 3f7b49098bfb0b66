package read

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// maxSaid bounds how many different failures are logged, each of them once.
const maxSaid = 1000

// unread counts and logs data that queries could not read. Responses report it to the user, but an
// operator needs logs and metrics.
type unread struct {
	count  atomic.Uint64
	logger *slog.Logger
	mu     sync.Mutex
	said   map[string]bool
}

// note counts one part, and logs its first failure.
func (u *unread) note(partition string, err error) {
	u.count.Add(1)
	u.say("a response is incomplete", partition, err)
}

// say logs a failure once.
func (u *unread) say(what, partition string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := partition + " " + objects.Cause(err)
	if u.said[key] || len(u.said) == maxSaid {
		return
	}
	if u.said == nil {
		u.said = map[string]bool{}
	}
	u.said[key] = true
	u.logger.Warn(what, "partition", partition, "err", err)
}

// Unread returns how many parts of partitions queries could not read because they are damaged or
// missing, or because the store did not respond.
func (r *Reader) Unread() uint64 { return r.unread.count.Load() }

// unreadable records in the response that a part of a partition is missing.
func (x *reading) unreadable(f *fetched, err error) {
	// In these cases no caller waits for the response.
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		x.r.unread.note(f.name, err)
	}
	x.stats.Unreadable = append(x.stats.Unreadable, store.Unreadable{Partition: f.name, Err: err})
	if errors.Is(err, block.ErrDamaged) || errors.Is(err, objects.ErrNotFound) {
		gap := store.Gap{Partition: f.name, Page: x.q.Page, Expected: f.traces}
		if n := len(x.stats.Gaps); n == 0 || x.stats.Gaps[n-1] != gap { // one gap for all runs of an hour
			x.stats.Gaps = append(x.stats.Gaps, gap)
		}
	}
}
