package collect

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/trie"
)

// sites are the configured sites by name, if any.
type sites struct {
	of    map[string]*siteState
	share int          // each site's reserved part of the traces that wait for the store
	keep  atomic.Int64 // ns
}

// siteState is the use of shared resources by one site.
type siteState struct {
	site.Site
	requests *sharedLimiter[struct{}]

	mu      sync.Mutex
	waiting int             // traces
	hours   map[int64]int64 // stored bytes by hour since 1970
}

// storeQueue is the maximum number of traces of all sites that wait for the store. The queue of the
// store is twice as long, so traces of one site never fill it for others.
const storeQueue = 8192

// leastShare is the minimum share of each site, however many sites there are.
const leastShare = 64

func newSites(all []site.Site, keep time.Duration, stored map[string]map[int64]int64) *sites {
	s := &sites{of: map[string]*siteState{}, share: max(leastShare, storeQueue/(len(all)+1))}
	s.keep.Store(int64(keep))
	for _, x := range all {
		hours := maps.Clone(stored[x.Name])
		if hours == nil {
			hours = map[int64]int64{}
		}
		s.of[x.Name] = &siteState{Site: x, requests: newSharedLimiter[struct{}](x.Rate, time.Minute), hours: hours}
	}
	return s
}

// SetRetention sets for how long the bytes of a site's traces count, see [Options].Keep. It may be
// called while requests are served.
func (c *Collector) SetRetention(d time.Duration) { c.sites.keep.Store(int64(d)) }

// page returns the name of a page, with the site of who.
func (s *sites) page(who client, page string) string {
	if s.of[who.Site] == nil {
		return page
	}
	return site.Page(who.Site, page)
}

// rename adds the site to the pages of a trace.
func (s *sites) rename(t *trie.Trace, who client) {
	if s.of[who.Site] == nil {
		return
	}
	x := &t.Context
	x.Page = site.Page(who.Site, x.Page)
	for i, span := range x.Spans {
		if span.Kind == trie.SpanPage {
			x.Spans[i].Name = site.Page(who.Site, span.Name)
		}
	}
	trie.SortSpans(x.Spans)
}

// admit refuses requests of a site that exceeds its rate or disk quota.
func (s *sites) admit(who client, now time.Time) error {
	x := s.of[who.Site]
	if x == nil {
		return nil
	}
	if !x.requests.allow(struct{}{}, who.Network, now) {
		return refuse(http.StatusTooManyRequests, "site_rate",
			"over %g requests a second of this site; send this again later", x.Rate)
	}
	if x.Disk > 0 && x.stored(now, time.Duration(s.keep.Load())) >= x.Disk {
		return refuse(http.StatusTooManyRequests, "site_disk",
			"the traces of this site use all of its disk quota; send this again later")
	}
	return nil
}

// stored returns the bytes of traces within the retention, and forgets older hours.
func (x *siteState) stored(now time.Time, keep time.Duration) (sum int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	oldest := int64(0)
	if keep > 0 {
		oldest = now.Add(-keep).Unix() / 3600
	}
	maps.DeleteFunc(x.hours, func(hour, _ int64) bool { return hour < oldest })
	for n := range maps.Values(x.hours) {
		sum += n
	}
	return sum
}

// wait reserves room for traces that wait for the store. The caller must call done when they are
// stored.
func (s *sites) wait(who client, traces int) (done func(), err error) {
	x := s.of[who.Site]
	if x == nil {
		return func() {}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.waiting > 0 && x.waiting+traces > s.share {
		return nil, refuse(http.StatusServiceUnavailable, "site_busy",
			"too many traces of this site wait for the store; send the traces again later")
	}
	x.waiting += traces
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.waiting -= traces
	}, nil
}

// add records bytes stored for a site.
func (s *sites) add(who client, bytes int64, now time.Time) {
	if x := s.of[who.Site]; x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.hours[now.Unix()/3600] += bytes
	}
}

// SiteBytes returns the bytes of traces stored for each site, by hour since 1970. A restarted
// daemon passes them to [Options].
func (c *Collector) SiteBytes() map[string]map[int64]int64 {
	all := map[string]map[int64]int64{}
	for name, x := range c.sites.of {
		x.stored(c.opts.Now(), time.Duration(c.sites.keep.Load()))
		x.mu.Lock()
		all[name] = maps.Clone(x.hours)
		x.mu.Unlock()
	}
	return all
}
