package roll

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// failing gathers what goes wrong with shards in a round: a store that refuses does so for all of them, which is said once.
type failing struct {
	mu   sync.Mutex
	on   bool
	list []*alike
}

// alike is what went wrong with some shards alike.
type alike struct {
	what, why string
	shards    []int
	err       error // of the first
}

func (f *failing) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = true
}

// note reports whether a failure is said at the end of the round.
func (f *failing) note(what string, shard int, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on || shard < 0 {
		return false
	}
	why := objects.Cause(err)
	for _, x := range f.list {
		if x.what == what && x.why == why {
			x.shards = append(x.shards, shard)
			return true
		}
	}
	f.list = append(f.list, &alike{what, why, []int{shard}, err})
	return true
}

// end says what went wrong.
func (f *failing) end(to *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.list {
		slices.Sort(x.shards)
		to.Warn(x.what, "shards", slices.Compact(x.shards), logErr, x.err)
	}
	f.on, f.list = false, nil
}
