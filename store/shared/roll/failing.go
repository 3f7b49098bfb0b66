package roll

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// failing collects the failures of shards in a round. If a store rejects all requests, all shards
// fail with the same error, which is logged once.
type failing struct {
	mu   sync.Mutex
	on   bool
	list []*failure
}

// failure is a failure that several shards have in common.
type failure struct {
	what, why string
	shards    []int
	err       error // from the first shard
}

func (f *failing) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = true
}

// note collects a failure, and reports whether it will be logged at the end of the round.
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
	f.list = append(f.list, &failure{what, why, []int{shard}, err})
	return true
}

// end logs the collected failures.
func (f *failing) end(to *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.list {
		slices.Sort(x.shards)
		to.Warn(x.what, "shards", slices.Compact(x.shards), logErr, x.err)
	}
	f.on, f.list = false, nil
}
