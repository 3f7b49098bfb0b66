package collect

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

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

// greedyShare is the share of what all have together over which one network is greedy.
const greedyShare = 4

// sharedLimiter bounds a rate that clients of several networks share. One that takes over a
// quarter of it may have what the others leave: it gets nothing while less than half of what
// may come at once is left.
type sharedLimiter[K comparable] struct {
	all     limiter[K]
	network limiter[networkOf[K]]
}

// networkOf is a network in what it has a share of.
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

// allow reports whether one more of what may come from a network now. Without a network all
// are equal.
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

// newBucket returns a bucket that holds what comes in burst at so many a second, and one
// at least.
func newBucket(perSecond float64, burst time.Duration) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), max(1, int(min(burst.Seconds()*perSecond, math.MaxInt32))))
}
