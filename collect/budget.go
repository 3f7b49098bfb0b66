package collect

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// budget bounds how many distinct names an hour has: a site that puts an identifier
// where no rule expects it must not fill the disk with keys. Names are told apart by a
// hash, so that it does not matter how long they are.
type budget struct {
	most  int // names of each kind
	mu    sync.Mutex
	hour  time.Time
	names map[uint64]map[uint64]bool // by kind
	spent map[uint64]bool            // kinds of which somebody was told so
}

// maxKinds bounds the kinds of names of a budget, such as the keys of labels.
const maxKinds = 64

var hashSeed = maphash.MakeSeed()

// start begins the hour of now with names of a kind that are known.
func (b *budget) start(now time.Time, kind string, known []string) {
	b.hour, b.names, b.spent = now.Truncate(time.Hour), map[uint64]map[uint64]bool{}, map[uint64]bool{}
	for _, n := range known {
		b.add(maphash.String(hashSeed, kind), maphash.String(hashSeed, n))
	}
}

func (b *budget) add(kind, name uint64) {
	if b.names[kind] == nil {
		b.names[kind] = map[uint64]bool{}
	}
	b.names[kind][name] = true
}

// take reports whether name is known this hour or may still be added. news is true for
// the first name of its kind and hour that may not, and for the first of a kind too many.
func (b *budget) take(kind, name string, now time.Time) (ok, news bool) {
	k, n := maphash.String(hashSeed, kind), maphash.String(hashSeed, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over(now) {
		b.start(now, "", nil)
	}
	names := b.names[k]
	if names[n] {
		return true, false
	}
	if names == nil && len(b.names) >= maxKinds {
		k = 0 // all that are too many
	}
	if k == 0 || len(names) >= b.most {
		news = !b.spent[k]
		b.spent[k] = true
		return false, news
	}
	b.add(k, n)
	return true, false
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
