package collect

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Arrivals describes what a [Collector] has received since it was created. It helps an operator
// whose first page view does not arrive.
type Arrivals struct {
	Since      time.Time    `json:"since"`
	Traces     int64        `json:"traces"`     // accepted
	Unprofiled []Unprofiled `json:"unprofiled"` // most recent first
	Refused    []Refused    `json:"refused"`    // most recent first, at most [mostRefused]
}

// Unprofiled counts page views that reported why they have no profile.
type Unprofiled struct {
	Outcome string    `json:"outcome"` // the reason, see docs/sdk.md
	Views   int64     `json:"views"`
	Last    time.Time `json:"last"`
}

// Refused counts the requests that were refused for one reason. Refusals because of the origin are
// counted for each origin.
type Refused struct {
	Reason   string    `json:"reason"`           // one word, as in the metrics
	Origin   string    `json:"origin,omitempty"` // that is not allowed
	Error    string    `json:"error"`            // the error of the last response
	Requests int64     `json:"requests"`
	Last     time.Time `json:"last"`
}

// Bounds of the list of refused requests, since a client can invent any number of origins.
const (
	mostRefused        = 16
	mostRefusedMessage = 300 // bytes
)

// arrivals collects [Arrivals]. It is safe for concurrent use by multiple goroutines.
type arrivals struct {
	mu  sync.Mutex
	now Arrivals
}

// traces counts accepted traces.
func (a *arrivals) traces(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now.Traces += int64(n)
}

// unprofiled counts page views without a profile by outcome. There are few outcomes.
func (a *arrivals) unprofiled(outcome string, views int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := &a.now.Unprofiled
	i := slices.IndexFunc(*all, func(u Unprofiled) bool { return u.Outcome == outcome })
	if i < 0 {
		i, *all = len(*all), append(*all, Unprofiled{Outcome: outcome})
	}
	(*all)[i].Views += int64(views)
	(*all)[i].Last = now
}

// refused counts a refused request. If there are too many reasons, it drops the least recently
// seen.
func (a *arrivals) refused(x *refusal, now time.Time) {
	message, origin := shortened(x.Error()), shortened(x.origin)
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.now.Refused
	i := slices.IndexFunc(all, func(r Refused) bool { return r.Reason == x.reason && r.Origin == origin })
	switch {
	case i >= 0:
	case len(all) < mostRefused:
		i, all = len(all), append(all, Refused{})
	default:
		oldest := slices.MinFunc(all, func(r, s Refused) int { return r.Last.Compare(s.Last) })
		i = slices.Index(all, oldest)
		all[i] = Refused{}
	}
	all[i] = Refused{x.reason, origin, message, all[i].Requests + 1, now}
	a.now.Refused = all
}

// shortened cuts s to mostRefusedMessage bytes.
func shortened(s string) string {
	if len(s) > mostRefusedMessage {
		s = s[:mostRefusedMessage] + "…"
	}
	return s
}

// Arrivals returns the counts since c was created.
func (c *Collector) Arrivals() Arrivals {
	a := &c.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.now
	// JSON needs an empty list, not null.
	out.Unprofiled = append([]Unprofiled{}, out.Unprofiled...)
	out.Refused = append([]Refused{}, out.Refused...)
	slices.SortStableFunc(out.Unprofiled, func(u, v Unprofiled) int {
		return cmp.Or(v.Last.Compare(u.Last), cmp.Compare(u.Outcome, v.Outcome))
	})
	slices.SortStableFunc(out.Refused, func(r, s Refused) int { return s.Last.Compare(r.Last) })
	return out
}
