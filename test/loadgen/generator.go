package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Options configures the load. Addrs, Traces and one of For and Count are required. A zero field
// means the default in its comment, or none if there is no default.
type Options struct {
	Addrs       []string      // HOST:PORT of the public addresses of daemons with a common store, mostly one
	Key         string        // required by the daemon
	Traces      []*trie.Trace // the replayed traces; each needs samples
	Rate        float64       // 1,000 traces a second
	For         time.Duration // end after this time
	Count       uint64        // end after so many traces, repeats included
	Connections int           // 64: also the most requests in flight
	Batch       int           // 1 trace in a request
	JSON        bool          // send JSON, not the binary format
	Pages       int           // 200
	Zipf        float64       // 1.1: the frequency of page k, from 0, is (k+1)^-Zipf; above 1
	Repeat      float64       // share of requests that are delivered twice
	Retry       bool          // retry after 408, 429 or 5xx, or without a response
	Variants    int           // 4 variants of each trace; of a site, of each trace and release
	Site        bool          // views resemble a real site's, instead of each having its own labels and spans
	Seed        uint64        // of all random choices but the ids of the page views
	Networks    int           // 0: no proxy headers; otherwise the number of networks that requests come from
	Timeout     time.Duration // 60 s: how long to wait for a response
}

func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Rate, 1000)
	setDefault(&o.Connections, 64)
	setDefault(&o.Batch, 1)
	setDefault(&o.Pages, 200)
	setDefault(&o.Zipf, 1.1)
	setDefault(&o.Variants, 4)
	setDefault(&o.Timeout, responseTimeout)
	switch {
	case len(o.Traces) == 0:
		return o, errors.New("no traces to replay")
	case !(o.Rate > 0 && o.Rate <= 1e6):
		return o, fmt.Errorf("a rate of %g traces a second: it must be above 0, up to a million", o.Rate)
	case o.For <= 0 && o.Count == 0:
		return o, errors.New("neither a duration nor a number of traces")
	case o.Connections < 1 || o.Batch < 1 || o.Pages < 1 || o.Variants < 1:
		return o, errors.New("connections, batch, pages and variants must be above 0")
	case !(o.Zipf > 1):
		return o, fmt.Errorf("an exponent of %g: it must be above 1", o.Zipf)
	case !(o.Repeat >= 0 && o.Repeat <= 1):
		return o, fmt.Errorf("a share of %g repeats: it must be from 0 to 1", o.Repeat)
	}
	return o, nil
}

func setDefault[T comparable](p *T, v T) {
	if *p == *new(T) {
		*p = v
	}
}

// form returns the encoding of traces.
func (o Options) form() form {
	if o.JSON {
		return formJSON
	}
	return formBinary
}

// population returns the properties in which views differ.
func (o Options) population() population {
	if o.Site {
		return site()
	}
	return anyView()
}

// traces returns about how many traces are sent.
func (o Options) traces() int {
	n := float64(o.Count)
	if most := o.Rate * o.For.Seconds(); o.For > 0 && (n == 0 || most < n) {
		n = most
	}
	return int(n)
}

// Generator sends traces. Make it with [New].
type Generator struct {
	Latency Histogram // of requests that were accepted, from when they were due, retries included
	Recent  Histogram // the same since its last reset, for showing progress

	opts     Options
	variants []variant
	ledger   *ledger
	nodes    *nodes
	interval time.Duration // between requests
	backoff  time.Duration // before the first retry, doubled for each further one

	allSent chan struct{} // closed when everything except retries is sent

	turn     sync.Mutex // held while waiting for the next request; guards the fields below
	sequence *sequence
	started  time.Time
	sent     uint64 // requests that were due and taken

	mu       sync.Mutex
	retries  []*request // by due time
	underWay int
	wrong    []string // impossible responses
	elapsed  time.Duration
}

// New prepares a Generator. It takes some seconds for thousands of traces.
func New(o Options) (*Generator, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(o.Seed, 0))
	g := &Generator{opts: o, ledger: newLedger(), nodes: newNodes(len(o.Addrs)), backoff: time.Second,
		allSent: make(chan struct{})}
	g.interval = time.Duration(float64(o.Batch) / o.Rate * float64(time.Second))
	if o.Site {
		g.variants, err = newSiteVariants(o, rnd)
	} else {
		g.variants, err = newVariants(o.Traces, o.Variants, o.form(), rnd)
	}
	if err != nil {
		return nil, err
	}
	g.sequence = newSequence(o, g.variants, rnd)
	return g, nil
}

// Counts returns the counts so far.
func (g *Generator) Counts() Counts { return g.ledger.Counts() }

// UnderWay returns how many requests are being sent or wait for a response.
func (g *Generator) UnderWay() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.underWay
}

// Stored returns how many distinct traces are certainly stored, and how many more may be, after
// [Generator.Run] has returned.
func (g *Generator) Stored() (sure, more uint64) {
	sure, more, _ = g.ledger.stored()
	return sure, more
}

// Run sends the load, and returns when every request has a response or was given up.
// When ctx is done, it sends no new requests and finishes requests in flight.
func (g *Generator) Run(ctx context.Context) {
	g.started = time.Now()
	var all sync.WaitGroup
	for range g.opts.Connections {
		all.Go(func() { g.send(ctx) })
	}
	all.Wait()
	g.elapsed = min(time.Since(g.started), g.elapsedMost())
	g.closeSent()
	for _, d := range g.sequence.rest() {
		g.ledger.drop(d)
	}
	for _, r := range g.retries { // ctx is done
		g.giveUp(r, refused, time.Time{})
	}
	unsent := max(g.due(), g.sent) - g.sent
	g.ledger.count(func(c *Counts) { c.Unsent = unsent * uint64(g.opts.Batch) })
}

// Sent returns a channel that is closed when everything is sent, except for retries.
func (g *Generator) Sent() <-chan struct{} { return g.allSent }

func (g *Generator) closeSent() {
	select {
	case <-g.allSent:
	default:
		close(g.allSent)
	}
}

// elapsedMost returns the maximum duration of the load.
func (g *Generator) elapsedMost() time.Duration {
	if g.opts.For > 0 {
		return g.opts.For
	}
	return 100 * 365 * 24 * time.Hour
}

// Elapsed returns the duration of the load, without the wait for the last retries.
func (g *Generator) Elapsed() time.Duration { return g.elapsed }

// due returns how many requests were due.
func (g *Generator) due() uint64 {
	n := uint64(g.elapsed / g.interval)
	if g.opts.Count > 0 {
		n = min(n, g.requests())
	}
	return n
}

// over reports whether the load ends before the next request, due at the given time.
func (g *Generator) over(due, now time.Time) bool {
	if g.opts.Count > 0 && g.sent >= g.requests() {
		return true
	}
	end := g.started.Add(g.elapsedMost())
	return !due.Before(end) || now.After(end.Add(nap)) // the last wait may end late
}

// requests returns the number of requests after which the load ends, if it is limited.
func (g *Generator) requests() uint64 {
	return (g.opts.Count + uint64(g.opts.Batch) - 1) / uint64(g.opts.Batch)
}

// send sends requests, over one connection to each node, until there are no more.
func (g *Generator) send(ctx context.Context) {
	clients := make([]client, len(g.opts.Addrs)) // by node
	for i, addr := range g.opts.Addrs {
		c := &clients[i]
		*c = client{addr: addr, path: "/v1/traces", timeout: g.opts.Timeout}
		if g.opts.Key != "" {
			c.path += "?key=" + g.opts.Key
		}
		defer c.close()
	}
	var body, scratch []byte
	for r := g.take(ctx); r != nil; r = g.take(ctx) {
		c := &clients[r.node]
		var contentType string
		body, contentType = appendBody(body[:0], g.opts.form(), r.traces, &scratch)
		if g.opts.Networks > 0 {
			c.forwarded = networkOf(rand.IntN(g.opts.Networks))
		}
		began := time.Now()
		a, err := c.post(body, contentType)
		g.ledger.count(func(n *Counts) {
			n.Requests++
			n.Bytes += uint64(len(body))
		})
		g.conclude(r, a, err, began)
	}
}

// nap is the longest sleep while waiting for the next request: a retry may become due in
// the meantime.
const nap = 20 * time.Millisecond

// take returns the next request once it is due, or nil if there are no more.
func (g *Generator) take(ctx context.Context) *request {
	g.turn.Lock()
	defer g.turn.Unlock()
	for {
		r, wait := g.next(ctx, time.Now())
		if r != nil || wait < 0 {
			return r
		}
		time.Sleep(min(wait, nap))
	}
}

// next returns a request that is due, or the time until one may be; below 0 means never.
// g.turn is held.
func (g *Generator) next(ctx context.Context, now time.Time) (*request, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil {
		return nil, -1
	}
	wait := nap
	if len(g.retries) > 0 {
		r := g.retries[0]
		if wait = r.at.Sub(now); wait <= 0 {
			g.retries = g.retries[1:]
			g.underWay++
			g.assign(r)
			return r, 0
		}
	}
	due := g.started.Add(time.Duration(g.sent) * g.interval)
	if g.over(due, now) {
		g.closeSent()
		if len(g.retries) == 0 && g.underWay == 0 {
			return nil, -1
		}
		return nil, wait
	}
	if w := due.Sub(now); w > 0 {
		return nil, min(w, wait)
	}
	g.sent++
	g.underWay++
	r := g.sequence.next(now, g.ledger.open)
	r.due = due
	g.assign(r)
	g.ledger.count(func(c *Counts) { c.Traces += uint64(len(r.traces)) })
	return r, 0
}
