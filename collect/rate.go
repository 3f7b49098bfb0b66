package collect

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiter is a rate limiter for each of many keys, such as addresses.
type limiter[K comparable] struct {
	rate  float64       // events per second; 0: no limit
	burst time.Duration // the bucket holds the events of this duration

	mu sync.Mutex
	of map[K]*rate.Limiter
}

// maxLimiters is the maximum number of keys. If there are more, all limiters are reset, which lets
// a few events too many pass.
const maxLimiters = 10_000

// allow reports whether one more event is allowed now.
func (l *limiter[K]) allow(who K, now time.Time) bool {
	if l.rate <= 0 {
		return true
	}
	return l.bucket(who).AllowN(now, 1)
}

func (l *limiter[K]) bucket(who K) *rate.Limiter {
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
	return x
}

// greedyShare: a network that uses more than 1/greedyShare of the common rate is greedy.
const greedyShare = 4

// sharedLimiter is a rate limit that clients of several networks share. A network that uses more
// than a quarter of the rate gets only what the others leave: nothing while the bucket is less than
// half full.
type sharedLimiter[K comparable] struct {
	all     limiter[K]
	network limiter[networkOf[K]]
}

// networkOf is a network in one of the shared limits.
type networkOf[K comparable] struct {
	what    K
	network netip.Prefix
}

func newSharedLimiter[K comparable](perSecond float64, burst time.Duration) *sharedLimiter[K] {
	return &sharedLimiter[K]{
		all:     limiter[K]{rate: perSecond, burst: burst},
		network: limiter[networkOf[K]]{rate: perSecond / greedyShare, burst: burst},
	}
}

// allow reports whether one more event from a network is allowed now. If networks are unknown, all
// events are treated alike.
func (l *sharedLimiter[K]) allow(what K, from netip.Prefix, now time.Time) bool {
	if l.all.rate <= 0 {
		return true
	}
	all := l.all.bucket(what)
	if from.IsValid() && !l.network.allow(networkOf[K]{what, from}, now) && all.TokensAt(now) < float64(all.Burst())/2 {
		return false
	}
	return all.AllowN(now, 1)
}

// newBucket returns a bucket for the events of burst at the given rate, and for at least one.
func newBucket(perSecond float64, burst time.Duration) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), max(1, int(min(burst.Seconds()*perSecond, math.MaxInt32))))
}
