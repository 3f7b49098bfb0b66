package quota

import (
	"hash/maphash"
	"sync"
	"time"
)

// Budget bounds how many distinct names an hour has, so that a site with identifiers in unexpected
// places cannot fill the disk with keys.
//
// Up to half of the places are reserved for names of earlier hours. A client that sends thousands
// of new names keeps their places as long as no other client needs them, see [places]. A Budget is
// safe for concurrent use by multiple goroutines.
type Budget struct {
	most int // names of each kind

	mu      sync.Mutex
	hour    time.Time
	kinds   *places            // the kinds that have a place, such as the keys of labels
	names   map[uint64]*places // by kind
	told    map[uint64]bool    // kinds for which Take has returned news
	earlier established
	kept    map[uint64]map[uint64]bool // by kind: the names with a reserved place
}

// maxKinds is the maximum number of kinds of a budget.
const maxKinds = 64

var hashSeed = maphash.MakeSeed()

func hashOf(name string) uint64 { return maphash.String(hashSeed, name) }

func hashesOf(names []string) (out []uint64) {
	for _, n := range names {
		out = append(out, hashOf(n))
	}
	return out
}

// New returns a budget of most names of each kind.
func New(most int) *Budget { return &Budget{most: most} }

// Most returns the maximum number of names of each kind.
func (b *Budget) Most() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most
}

// SetMost changes the maximum number of names of each kind. Names that have a place keep it until
// the hour ends.
func (b *Budget) SetMost(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = n
	for _, p := range b.names {
		p.most = n
	}
}

// Establish adds names of a kind from earlier hours. It must be called before Start.
func (b *Budget) Establish(kind string, names []string) {
	if b.earlier == nil {
		b.earlier = established{}
	}
	b.earlier.learn(hashOf(kind), hashesOf(names))
}

// Start begins the hour of now. The known names of a kind have a place already.
func (b *Budget) Start(now time.Time, kind string, known []string) {
	b.begin(now)
	for _, n := range known {
		b.takeHash(hashOf(kind), hashOf(n), Sender{})
	}
}

func (b *Budget) begin(now time.Time) {
	b.kept = b.earlier.kept(maxKinds/2, b.most/2)
	kinds := map[uint64]bool{}
	for k := range b.kept {
		kinds[k] = true
	}
	b.hour = now.Truncate(time.Hour)
	b.kinds, b.names, b.told = newPlaces(maxKinds, kinds), map[uint64]*places{}, map[uint64]bool{}
}

// Take reports whether a name has a place this hour, or gets one. news is true for the first name
// of its kind and hour without a place, and for the first name of a kind too many.
func (b *Budget) Take(kind, name string, who Sender, now time.Time) (ok, news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over(now) {
		if b.kinds != nil {
			b.pass()
		}
		b.begin(now)
	}
	return b.takeHash(hashOf(kind), hashOf(name), who)
}

func (b *Budget) takeHash(kind, name uint64, who Sender) (ok, news bool) {
	ok, lost := b.kinds.take(kind, who, who.vote(0))
	delete(b.names, lost)
	if ok {
		if b.names[kind] == nil {
			b.names[kind] = newPlaces(b.most, b.kept[kind])
		}
		ok, _ = b.names[kind].take(name, who, who.vote(kind))
	} else {
		kind = 0 // all kinds too many
	}
	news = !ok && !b.told[kind]
	if news {
		b.told[kind] = true
	}
	return ok, news
}

// pass records the names of the hour that ended.
func (b *Budget) pass() {
	seen := map[uint64][]uint64{}
	for _, k := range b.kinds.trusted() {
		seen[k] = b.names[k].trusted()
	}
	if b.earlier == nil {
		b.earlier = established{}
	}
	b.earlier.pass(seen, b.most)
}

// over reports whether now is in another hour. A request that read the clock just before the hour
// ended may be late, so the hour before counts as the current one. A clock that goes back further
// was ahead: the budget must not wait until time has caught up.
func (b *Budget) over(now time.Time) bool {
	return now.Sub(b.hour) >= time.Hour || now.Sub(b.hour) < -time.Hour
}

// Knows reports whether there are names of a kind this hour.
func (b *Budget) Knows(kind string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[hashOf(kind)] != nil
}
