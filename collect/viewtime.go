package collect

import (
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// viewTimes bounds the time that page views claim, by what the daemon has seen of them: a view
// whose first trace came ten minutes ago can not have run for hours. It may claim the time
// since then, and [maxTraceTime] for what was before. A view without an id has one trace.
//
// It remembers the last views that sent something, two generations of maxViewTimes. One that is
// forgotten, as after a restart, begins anew.
type viewTimes struct {
	mu           sync.Mutex
	now, earlier map[view128]viewTime
}

// view128 is the id of a view.
type view128 = [len(store.ID{}.View)]byte

type viewTime struct {
	first   time.Time // when its first trace came
	claimed int64     // µs
	recent  [maxRecent]chunkTime
}

// chunkTime is the time that a chunk claimed.
type chunkTime struct{ chunk, us uint32 }

// maxRecent is how many chunks of a view are remembered, the latest first: a client that got no
// response sends them again.
const maxRecent = 4

// maxViewTimes bounds a generation, which takes about 8 MiB.
const maxViewTimes = 1 << 16

// claim returns how much of some µs a chunk of a view may claim now, and how much of that is new: a
// bucket stores a chunk that is sent again a second time, and counts it once.
func (v *viewTimes) claim(id store.ID, us int64, now time.Time) (granted, added int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	x, ok := v.now[id.View]
	if !ok {
		if x, ok = v.earlier[id.View]; !ok {
			x.first = now
		}
		if v.now == nil || len(v.now) >= maxViewTimes {
			v.now, v.earlier = map[view128]viewTime{}, v.now
		}
	}
	before := int64(x.chunk(id.Chunk).us)
	may := maxTraceTime + max(now.Sub(x.first).Microseconds(), 0) - x.claimed
	granted = max(min(us, before+max(may, 0)), 0)
	added = max(granted-before, 0)
	x.claimed += added
	x.remember(id.Chunk, before+added)
	v.now[id.View] = x
	return granted, added
}

// giveBack returns the time that a chunk added, since the chunk was not stored.
func (v *viewTimes) giveBack(id store.ID, us int64) {
	if us == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	in := v.now
	x, ok := in[id.View]
	if !ok {
		in = v.earlier // the generations turned since
		if x, ok = in[id.View]; !ok {
			return
		}
	}
	x.claimed -= us
	if of := x.chunk(id.Chunk); of.us > 0 {
		x.remember(id.Chunk, max(int64(of.us)-us, 0))
	}
	in[id.View] = x
}

// chunk returns what is remembered of a chunk.
func (x *viewTime) chunk(n uint32) chunkTime {
	for _, c := range x.recent {
		if c.chunk == n && c.us > 0 {
			return c
		}
	}
	return chunkTime{chunk: n}
}

// remember notes how much a chunk claimed, and forgets the chunk that claimed longest ago.
func (x *viewTime) remember(n uint32, us int64) {
	at := slices.IndexFunc(x.recent[:], func(c chunkTime) bool { return c.chunk == n })
	if at < 0 {
		at = maxRecent - 1
	}
	copy(x.recent[1:at+1], x.recent[:at])
	x.recent[0] = chunkTime{n, uint32(us)} // no trace claims 2^32 µs, see maxTraceTime
}
