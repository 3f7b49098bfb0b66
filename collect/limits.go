package collect

import (
	"net/netip"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
)

// Limits bounds the resources that one client can use. A zero field selects the default given in
// its comment.
type Limits struct {
	Body     int64         // 256 KiB: bytes of a request as sent
	Inflated int64         // 4 MiB: bytes of a request after decompression
	Ratio    int64         // 100: inflated bytes for each byte sent, where that is over 64 KiB
	InFlight int64         // 256 MiB: memory for the bodies of all requests in progress
	Read     time.Duration // 10 s: time to read a body
	Batch    int           // 1,000 traces in one request
	Trace    encode.Limits // of each trace
	Pages    int           // 2,000 distinct pages an hour; further ones are counted as (other)
	// 2,000 distinct features an hour, as many releases, as many environments; further ones are
	// (other)
	Tags     int
	Labels   int           // 200 distinct values of each label an hour; further ones are (other)
	Skew     time.Duration // 24 h: larger differences between the clocks of client and server are ignored
	Rate     float64       // requests a second from one address; 0: no limit
	PageRate float64       // traces a second of one page; 0: no limit
	KeyRate  float64       // requests a second with one key; 0: no limit
}

// bounds are limits with their counters. They are immutable, except for the counters.
type bounds struct {
	Limits
	clients   *limiter[netip.Addr]
	pageRates *sharedLimiter[string]
}

// newBounds returns bounds for l. A rate that did not change keeps the state of its limiter.
func newBounds(l Limits, before *bounds) *bounds {
	b := &bounds{Limits: l}
	if before != nil && before.Rate == l.Rate {
		b.clients = before.clients
	} else {
		b.clients = &limiter[netip.Addr]{rate: l.Rate, burst: 2 * time.Second}
	}
	if before != nil && before.PageRate == l.PageRate {
		b.pageRates = before.pageRates
	} else {
		b.pageRates = newSharedLimiter[string](l.PageRate, time.Minute)
	}
	return b
}

// SetLimits replaces the limits. It may be called while requests are served. Call it before
// [Collector.SetKeys], which reads the default rate of keys. Names that have a place this hour keep
// it.
func (c *Collector) SetLimits(l Limits) {
	b := newBounds(l.WithDefaults(), c.bounds.Load())
	c.inFlight.setMost(b.InFlight)
	c.pages.SetMost(b.Pages)
	c.tags.SetMost(b.Tags)
	c.labels.SetMost(b.Labels)
	c.viewPages.SetMost(b.Pages)
	c.bounds.Store(b)
}

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	if l.Trace.TextBytes == 0 {
		l.Trace.TextBytes = longestText
	}
	l.Trace = l.Trace.WithDefaults()
	setDefault(&l.Body, 256<<10)
	setDefault(&l.Inflated, 4<<20)
	setDefault(&l.Ratio, 100)
	setDefault(&l.InFlight, 256<<20)
	setDefault(&l.Read, 10*time.Second)
	setDefault(&l.Batch, 1000)
	setDefault(&l.Pages, 2000)
	setDefault(&l.Tags, 2000)
	setDefault(&l.Labels, 200)
	setDefault(&l.Skew, 24*time.Hour)
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
