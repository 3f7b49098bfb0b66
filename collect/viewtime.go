package collect

import (
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// viewTimes bounds the time that page views claim by what the daemon has seen of them: a view whose
// first trace arrived ten minutes ago cannot have run for hours. A view may claim the time since
// then, and [maxTraceTime] for the time before. A view without an id has one trace.
//
// It remembers the most recent views in two generations of maxViewTimes. A forgotten view, for
// example after a restart, starts from zero.
type viewTimes struct {
	mu           sync.Mutex
	now, earlier map[view128]viewTime
}

type view128 = [len(store.ID{}.View)]byte

type viewTime struct {
	first   time.Time // arrival of its first trace
	claimed int64     // µs
	recent  [maxRecent]chunkTime
}

// chunkTime is the time that a chunk claimed.
type chunkTime struct{ chunk, us uint32 }

// maxRecent is the number of recent chunks of a view to remember: a client that got no response
// sends them again.
const maxRecent = 4

// maxViewTimes is the maximum size of a generation. Full, it takes about 8 MiB.
const maxViewTimes = 1 << 16

// claim returns how many of the given µs a chunk of a view may claim now, and how many of these are
// new. A bucket stores a repeated chunk a second time, but counts it once.
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

// giveBack returns the time that a chunk added, after the chunk failed to be stored.
func (v *viewTimes) giveBack(id store.ID, us int64) {
	if us == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	in := v.now
	x, ok := in[id.View]
	if !ok {
		in = v.earlier // the generations have rotated since
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

// chunk returns the remembered claim of a chunk, or zero.
func (x *viewTime) chunk(n uint32) chunkTime {
	for _, c := range x.recent {
		if c.chunk == n && c.us > 0 {
			return c
		}
	}
	return chunkTime{chunk: n}
}

// remember records the claim of a chunk, and forgets the oldest claim.
func (x *viewTime) remember(n uint32, us int64) {
	at := slices.IndexFunc(x.recent[:], func(c chunkTime) bool { return c.chunk == n })
	if at < 0 {
		at = maxRecent - 1
	}
	copy(x.recent[1:at+1], x.recent[:at])
	x.recent[0] = chunkTime{n, uint32(us)} // no trace claims 2^32 µs, see maxTraceTime
}
