package quota

import (
	"hash/maphash"
	"sync"
	"time"
)

// Budget bounds how many distinct names an hour has: a site that puts an identifier
// where no rule expects it must not fill the disk with keys.
//
// Up to half of the places are kept for names that were there in earlier hours, and who sends
// thousands of new ones has places as long as nobody else wants them: see [places].
type Budget struct {
	most int // names of each kind

	mu      sync.Mutex
	hour    time.Time
	kinds   *places            // the kinds that have a place, such as the keys of labels
	names   map[uint64]*places // by kind
	told    map[uint64]bool    // kinds of which somebody was told that names have no place
	earlier established
	kept    map[uint64]map[uint64]bool // by kind: the names for which a place is kept
}

// maxKinds bounds the kinds of names of a budget.
const maxKinds = 64

var hashSeed = maphash.MakeSeed()

func hashOf(name string) uint64 { return maphash.String(hashSeed, name) }

func hashesOf(names []string) (out []uint64) {
	for _, n := range names {
		out = append(out, hashOf(n))
	}
	return out
}

// New returns a budget of so many names of each kind.
func New(most int) *Budget { return &Budget{most: most} }

// Most returns how many names of each kind there may be.
func (b *Budget) Most() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most
}

// SetMost says how many names of each kind there may be from now on. Those that have a place keep it until the hour ends.
func (b *Budget) SetMost(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = n
	for _, p := range b.names {
		p.most = n
	}
}

// Establish says that names of a kind were there in earlier hours. It is called before start.
func (b *Budget) Establish(kind string, names []string) {
	if b.earlier == nil {
		b.earlier = established{}
	}
	b.earlier.learn(hashOf(kind), hashesOf(names))
}

// Start begins the hour of now with names of a kind that have a place already.
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

// Take reports whether a name that somebody sends is known this hour or may still be added.
// news is true for the first name of its kind and hour that may not, and for the first of a
// kind too many.
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
		kind = 0 // all that are too many
	}
	news = !ok && !b.told[kind]
	if news {
		b.told[kind] = true
	}
	return ok, news
}

// pass takes down which names were there in the hour that is over.
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

// over reports whether the hour of now is another one. A request that read the clock just
// before the turn may come after it, so the hour before is still this one. A clock that goes
// back by more was ahead: the budget must not wait until time has caught up.
func (b *Budget) over(now time.Time) bool {
	return now.Sub(b.hour) >= time.Hour || now.Sub(b.hour) < -time.Hour
}

// Knows reports whether there are names of a kind this hour.
func (b *Budget) Knows(kind string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[hashOf(kind)] != nil
}
