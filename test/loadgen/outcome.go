package loadgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// attempts bounds the attempts of a request, as in the browser script.
const attempts = 6

// conclude records the outcome of an attempt to send r.
func (g *Generator) conclude(r *request, a response, err error, began time.Time) {
	if err == nil && a.status == http.StatusAccepted {
		g.accept(r, a, began)
		return
	}
	if err != nil {
		g.nodes.avoid(r.node, avoidFor)
	}
	f, again := refused, true
	g.ledger.count(func(c *Counts) {
		switch {
		case err == nil:
			c.Refused[a.status]++
		case a.sent:
			c.Broken++
		default:
			c.Unconnected++
		}
	})
	switch {
	case err != nil && a.sent, a.status >= 500: // stored or not, see docs/storage.md
		f = unclear
	case err == nil:
		again = a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout
	}
	if !again || !g.opts.Retry || r.attempt+1 >= attempts {
		g.giveUp(r, f, began)
		g.leave()
		return
	}
	now := time.Now()
	for _, d := range r.traces {
		g.ledger.settle(d, f, began, now, false)
	}
	r.at = now.Add(max(a.after, g.backoff<<r.attempt))
	r.attempt++
	g.ledger.count(func(c *Counts) { c.Retries++ })
	g.mu.Lock()
	defer g.mu.Unlock()
	i, _ := slices.BinarySearchFunc(g.retries, r, func(x, y *request) int {
		return cmp.Compare(x.at.UnixNano(), y.at.UnixNano())
	})
	g.retries = slices.Insert(g.retries, i, r)
	g.underWay--
}

// giveUp records that there will be no further attempt to send r.
func (g *Generator) giveUp(r *request, f fate, began time.Time) {
	now := time.Now()
	for _, d := range r.traces {
		g.ledger.settle(d, f, began, now, true)
	}
	g.ledger.count(func(c *Counts) { c.GivenUp += uint64(len(r.traces)) })
}

// accept records that r was accepted, at least partly.
func (g *Generator) accept(r *request, a response, began time.Time) {
	now := time.Now()
	var said struct {
		Accepted, Duplicates int
		Rejected             []struct{ Index int }
	}
	err := json.Unmarshal(a.body, &said)
	if err != nil || said.Accepted+len(said.Rejected) != len(r.traces) || said.Duplicates > said.Accepted {
		g.note(fmt.Sprintf("impossible 202 response to %d traces: %s", len(r.traces), a.body))
	}
	g.Latency.Add(now.Sub(r.due))
	g.Recent.Add(now.Sub(r.due))
	g.ledger.count(func(c *Counts) {
		c.Acknowledged += uint64(said.Accepted)
		c.Duplicates += uint64(said.Duplicates)
		c.Rejected += uint64(len(said.Rejected))
	})
	for i, d := range r.traces {
		f := acked
		if slices.ContainsFunc(said.Rejected, func(x struct{ Index int }) bool { return x.Index == i }) {
			f = refused
		}
		g.ledger.settle(d, f, began, now, true)
	}
	g.leave()
}

// leave records that a request is no longer in flight.
func (g *Generator) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underWay--
}

// note records an impossible response for [Generator.Verify].
func (g *Generator) note(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wrong = append(g.wrong, what)
}
