package collect

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// budget bounds how many distinct names an hour has: a site that puts an identifier
// where no rule expects it must not fill the disk with keys.
type budget struct {
	most int

	mu    sync.Mutex
	hour  time.Time
	names map[string]bool
	spent bool // somebody was told so
}

// start begins the hour of now with names that are known.
func (b *budget) start(now time.Time, known []string) {
	b.hour, b.names, b.spent = now.Truncate(time.Hour), map[string]bool{}, false
	for _, n := range known {
		b.names[n] = true
	}
}

// take reports whether name is known this hour or may still be added. news is true for
// the first name of the hour that may not.
func (b *budget) take(name string, now time.Time) (ok, news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Truncate(time.Hour).After(b.hour) {
		b.start(now, nil)
	}
	if b.names[name] {
		return true, false
	}
	if len(b.names) >= b.most {
		news = !b.spent
		b.spent = true
		return false, news
	}
	b.names[name] = true
	return true, false
}

// clientLimiter bounds the rate of requests from each address.
type clientLimiter struct {
	rate float64 // requests a second; 0: no limit

	mu      sync.Mutex
	clients map[netip.Addr]*rate.Limiter
}

// maxClients is how many addresses are told apart. When there are more, all begin anew,
// which lets a few requests too many through.
const maxClients = 10_000

// allow reports whether the client at addr may send a request now.
func (l *clientLimiter) allow(addr string, now time.Time) bool {
	if l.rate <= 0 {
		return true
	}
	client := clientOf(addr)
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients[client]
	if c == nil {
		if l.clients == nil || len(l.clients) >= maxClients {
			l.clients = map[netip.Addr]*rate.Limiter{}
		}
		c = rate.NewLimiter(rate.Limit(l.rate), max(1, int(2*l.rate)))
		l.clients[client] = c
	}
	return c.AllowN(now, 1)
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
