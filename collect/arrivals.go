package collect

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Arrivals is what came to a [Collector] since it was made: what somebody wants to know whose first page
// view does not arrive.
type Arrivals struct {
	Since      time.Time    `json:"since"`
	Traces     int64        `json:"traces"`     // accepted
	Unprofiled []Unprofiled `json:"unprofiled"` // the last one first
	Refused    []Refused    `json:"refused"`    // the last one first, no more than [mostRefused]
}

// Unprofiled counts page views that reported why they have no profile.
type Unprofiled struct {
	Outcome string    `json:"outcome"` // the reason, see docs/sdk.md
	Views   int64     `json:"views"`
	Last    time.Time `json:"last"`
}

// Refused counts requests that were refused for one reason, those of each origin that may not send for
// itself.
type Refused struct {
	Reason   string    `json:"reason"`           // one word, as in the metrics
	Origin   string    `json:"origin,omitempty"` // of a page that may not send
	Error    string    `json:"error"`            // what the last one was answered
	Requests int64     `json:"requests"`
	Last     time.Time `json:"last"`
}

// Bounds of what is kept of refused requests. Anybody can make up origins.
const (
	mostRefused        = 16
	mostRefusedMessage = 300 // bytes
)

// arrivals keeps [Arrivals].
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

// unprofiled counts page views with a reason, of which there are few.
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

// refused counts a refused request. Of too many reasons the one goes that was not seen for the longest time.
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

// shortened shortens a text to what is kept of one.
func shortened(s string) string {
	if len(s) > mostRefusedMessage {
		s = s[:mostRefusedMessage] + "…"
	}
	return s
}

// Arrivals returns what came since the collector was made.
func (c *Collector) Arrivals() Arrivals {
	a := &c.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.now
	// A list that is empty is one in JSON, too.
	out.Unprofiled = append([]Unprofiled{}, out.Unprofiled...)
	out.Refused = append([]Refused{}, out.Refused...)
	slices.SortStableFunc(out.Unprofiled, func(u, v Unprofiled) int {
		return cmp.Or(v.Last.Compare(u.Last), cmp.Compare(u.Outcome, v.Outcome))
	})
	slices.SortStableFunc(out.Refused, func(r, s Refused) int { return s.Last.Compare(r.Last) })
	return out
}
