package collect

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// budget bounds how many distinct names an hour has: a site that puts an identifier
// where no rule expects it must not fill the disk with keys. Names are told apart by a
// hash, so that it does not matter how long they are.
//
// Up to half of the places are kept for names that were there in earlier hours: who sends
// thousands of new ones takes the places of other new ones, and not those of a site's pages.
type budget struct {
	most  int // names of each kind
	mu    sync.Mutex
	hour  time.Time
	names map[uint64]map[uint64]bool // by kind: what has a place this hour
	fresh map[uint64]int             // by kind: those of them that have no place that is kept
	spent map[uint64]bool            // kinds of which somebody was told so
	old   map[uint64]map[uint64]int  // by kind: how well a name is known, see remember
	kept  map[uint64]map[uint64]bool // by kind: the names for which a place is kept
}

const (
	// maxKinds bounds the kinds of names of a budget, such as the keys of labels.
	maxKinds = 64

	// A name is known by two points more after an hour in which it had a place, and by one less
	// after another one, so that what is there by day has not gone in the morning. From what two
	// hours give on it is established.
	seenPoints  = 2
	established = 2 * seenPoints
	mostPoints  = 48 * seenPoints
)

var hashSeed = maphash.MakeSeed()

// start begins the hour of now with names of a kind that have a place already.
func (b *budget) start(now time.Time, kind string, known []string) {
	b.begin(now)
	k := maphash.String(hashSeed, kind)
	for _, n := range known {
		b.add(k, maphash.String(hashSeed, n))
	}
}

// establish says that names of a kind were there in earlier hours. It is called before start.
func (b *budget) establish(kind string, names []string) {
	k := maphash.String(hashSeed, kind)
	if b.old == nil {
		b.old = map[uint64]map[uint64]int{}
	}
	if b.old[k] == nil {
		b.old[k] = map[uint64]int{}
	}
	for _, n := range names {
		b.old[k][maphash.String(hashSeed, n)] = established
	}
	b.keep()
}

func (b *budget) begin(now time.Time) {
	b.hour, b.names, b.fresh, b.spent = now.Truncate(time.Hour), map[uint64]map[uint64]bool{}, map[uint64]int{}, map[uint64]bool{}
}

func (b *budget) add(kind, name uint64) {
	if b.names[kind] == nil {
		b.names[kind] = map[uint64]bool{}
	}
	b.names[kind][name] = true
	if !b.kept[kind][name] {
		b.fresh[kind]++
	}
}

// take reports whether name is known this hour or may still be added. news is true for
// the first name of its kind and hour that may not, and for the first of a kind too many.
func (b *budget) take(kind, name string, now time.Time) (ok, news bool) {
	k, n := maphash.String(hashSeed, kind), maphash.String(hashSeed, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over(now) {
		b.remember()
		b.begin(now)
	}
	if b.names[k][n] {
		return true, false
	}
	if !b.kept[k][n] {
		if b.names[k] == nil && b.kept[k] == nil && b.kinds() >= maxKinds {
			k = 0 // all that are too many
		}
		if k == 0 || b.fresh[k]+len(b.kept[k]) >= b.most {
			news = !b.spent[k]
			b.spent[k] = true
			return false, news
		}
	}
	b.add(k, n)
	return true, false
}

// kinds returns of how many kinds there are names this hour, or places for them.
func (b *budget) kinds() int {
	n := len(b.names)
	for k := range b.kept {
		if b.names[k] == nil {
			n++
		}
	}
	return n
}

// remember takes down which names had a place in the hour that is over.
func (b *budget) remember() {
	if b.old == nil {
		b.old = map[uint64]map[uint64]int{}
	}
	for k, names := range b.names {
		if b.old[k] == nil {
			b.old[k] = map[uint64]int{}
		}
		for n := range names {
			b.old[k][n] = min(b.old[k][n]+seenPoints+1, mostPoints+1) // one of which goes at once
		}
	}
	for k, old := range b.old {
		for n := range old {
			if old[n]--; old[n] == 0 {
				delete(old, n)
			}
		}
		forget(old, b.most)
		if len(old) == 0 {
			delete(b.old, k)
		}
	}
	b.keep()
}

// keep keeps places for the names that are known best.
func (b *budget) keep() {
	best := map[uint64]int{} // by kind
	for k, old := range b.old {
		for _, points := range old {
			best[k] = max(best[k], points)
		}
	}
	forget(best, maxKinds/2)
	b.kept = map[uint64]map[uint64]bool{}
	for k := range best {
		known := maps.Clone(b.old[k])
		maps.DeleteFunc(known, func(_ uint64, points int) bool { return points < established })
		forget(known, b.most/2)
		if len(known) == 0 {
			continue
		}
		b.kept[k] = map[uint64]bool{}
		for n := range known {
			b.kept[k][n] = true
		}
	}
}

// forget deletes what has the fewest points, until there are no more than most.
func forget(points map[uint64]int, most int) {
	if len(points) <= most {
		return
	}
	all := slices.SortedFunc(maps.Keys(points), func(a, b uint64) int { return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(a, b)) })
	for _, n := range all[most:] {
		delete(points, n)
	}
}

// over reports whether the hour of now is another one. A request that read the clock just
// before the turn may come after it, so the hour before is still this one. A clock that goes
// back by more was ahead: the budget must not wait until time has caught up.
func (b *budget) over(now time.Time) bool {
	return now.Sub(b.hour) >= time.Hour || now.Sub(b.hour) < -time.Hour
}

// knows reports whether there are names of a kind this hour.
func (b *budget) knows(kind string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[maphash.String(hashSeed, kind)] != nil
}

// limiter bounds the rate of something for each of many, such as requests for each
// address.
type limiter[K comparable] struct {
	rate  float64       // a second; 0: no limit
	burst time.Duration // how much may come at once, as what comes in that time

	mu sync.Mutex
	of map[K]*rate.Limiter
}

// maxLimiters is how many are told apart. When there are more, all begin anew, which lets
// a few too many through.
const maxLimiters = 10_000

// allow reports whether one more may come now.
func (l *limiter[K]) allow(who K, now time.Time) bool {
	if l.rate <= 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.of[who]
	if x == nil {
		if l.of == nil || len(l.of) >= maxLimiters {
			l.of = map[K]*rate.Limiter{}
		}
		x = newBucket(l.rate, l.burst)
		l.of[who] = x
	}
	return x.AllowN(now, 1)
}

// newBucket returns a bucket that holds what comes in burst at so many a second, and one
// at least.
func newBucket(perSecond float64, burst time.Duration) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), max(1, int(min(burst.Seconds()*perSecond, math.MaxInt32))))
}

// clientOf returns what stands for the client at "host:port". An IPv6 client has a /64
// to itself, so that is what counts.
func clientOf(addr string) netip.Addr {
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		return netip.Addr{} // all who can not be told apart share one limit
	}
	ip := a.Addr().Unmap()
	if ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			ip = p.Addr()
		}
	}
	return ip
}
