package collect

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pageBudget bounds how many distinct pages an hour has: a site that puts an identifier
// where no rule expects it must not fill the disk with keys.
type pageBudget struct {
	most int

	mu    sync.Mutex
	hour  time.Time
	pages map[string]bool
}

// start begins the hour of now with pages that are known.
func (b *pageBudget) start(now time.Time, known []string) {
	b.hour, b.pages = now.Truncate(time.Hour), map[string]bool{}
	for _, p := range known {
		b.pages[p] = true
	}
}

// take reports whether page is known this hour or may still be added.
func (b *pageBudget) take(page string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Truncate(time.Hour).After(b.hour) {
		b.start(now, nil)
	}
	if b.pages[page] {
		return true
	}
	if len(b.pages) >= b.most {
		return false
	}
	b.pages[page] = true
	return true
}

// clientLimiter bounds the rate of requests from each address.
type clientLimiter struct {
	rate float64 // requests a second; 0: no limit

	mu      sync.Mutex
	clients map[string]*rate.Limiter
}

// maxClients is how many addresses are told apart. When there are more, all begin anew,
// which lets a few requests too many through.
const maxClients = 10_000

// allow reports whether the client at addr may send a request now.
func (l *clientLimiter) allow(addr string, now time.Time) bool {
	if l.rate <= 0 {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients == nil || len(l.clients) >= maxClients {
		l.clients = map[string]*rate.Limiter{}
	}
	c := l.clients[host]
	if c == nil {
		c = rate.NewLimiter(rate.Limit(l.rate), max(1, int(2*l.rate)))
		l.clients[host] = c
	}
	return c.AllowN(now, 1)
}
