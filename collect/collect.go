package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
)

// Store is what a [Collector] needs of a [store.Store].
type Store interface {
	Append(context.Context, []store.Record) (store.AppendResult, error)
}

// Options say how traces are received. Store is required; the zero value of the rest is
// the default.
type Options struct {
	Store      Store
	Pages      PageRules
	KnownPages []string // pages of this hour, which do not count as new
	// Origins may send traces, such as "https://example.com" or
	// "https://*.example.com". None: all may. It keeps other sites' scripts out, not
	// programs, which can claim any origin.
	Origins []string
	// FirstParty are the hosts whose scripts are shown; code of other hosts becomes
	// (third-party HOST). None: all are shown.
	FirstParty []string
	Limits     Limits
	Now        func() time.Time      // time.Now
	Metrics    prometheus.Registerer // none
	Logger     *slog.Logger          // none
}

// Collector receives traces. It is an [http.Handler] for POST /v1/traces.
type Collector struct {
	Options
	mux      *http.ServeMux
	metrics  *metrics
	pages    pageBudget
	clients  clientLimiter
	inFlight atomic.Int64 // bytes reserved for bodies
	decoders sync.Pool
}

// New returns a Collector.
func New(o Options) *Collector {
	o.Limits = o.Limits.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Collector{Options: o, mux: http.NewServeMux(), metrics: newMetrics(o.Metrics)}
	c.pages.most = o.Limits.Pages
	c.pages.start(o.Now(), o.KnownPages)
	c.clients.rate = o.Limits.Rate
	c.decoders.New = func() any { return new(encode.BinaryDecoder) }
	c.mux.HandleFunc("POST /v1/traces", c.post)
	c.mux.HandleFunc("OPTIONS /v1/traces", c.preflight)
	return c
}

func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.mux.ServeHTTP(w, r) }

// answer is the body of a 202.
type answer struct {
	Accepted   int         `json:"accepted"`           // durable, with those that were there already
	Duplicates int         `json:"duplicates"`         // there already
	IDs        []string    `json:"ids"`                // of the accepted traces
	Rejected   []rejection `json:"rejected,omitempty"` // in a batch
	Error      string      `json:"error,omitempty"`    // if nothing was accepted
}

// rejection says why a trace of a batch was refused.
type rejection struct {
	Index  int    `json:"index"` // in the batch, from 0
	Status int    `json:"status"`
	Error  string `json:"error"`
}

func (c *Collector) post(w http.ResponseWriter, r *http.Request) {
	started := c.Now()
	status, reply, err := c.receive(w, r)
	if err != nil {
		c.writeError(w, err)
		if x, ok := errors.AsType[*refusal](err); ok {
			status = x.status
		}
	} else {
		w.Header().Set("Ingest-Durability", "local")
		writeJSON(w, status, reply)
	}
	c.metrics.requests.WithLabelValues(strconv.Itoa(status)).Inc()
	c.metrics.seconds.Observe(c.Now().Sub(started).Seconds())
}

// receive does what the request asks for. It returns nil if the traces that the reply
// counts are durable.
func (c *Collector) receive(w http.ResponseWriter, r *http.Request) (int, *answer, error) {
	if err := c.cors(w, r); err != nil {
		return 0, nil, err
	}
	if !c.clients.allow(r.RemoteAddr, c.Now()) {
		return 0, nil, refuse(http.StatusTooManyRequests, "rate", "over %g requests a second from this address", c.Limits.Rate)
	}
	reserved, ok := c.reserve(r)
	if !ok {
		return 0, nil, refuse(http.StatusServiceUnavailable, "busy", "too many requests at work")
	}
	defer c.inFlight.Add(-reserved)
	body, err := readBody(w, r, c.Limits)
	if err != nil {
		return 0, nil, err
	}
	c.metrics.bytes.Add(float64(len(body)))
	parts, err := split(body, r.Header.Get("Content-Type"), c.Limits)
	if err != nil {
		return 0, nil, err
	}
	return c.store(r.Context(), parts)
}

// reserve takes memory for the body of r from what all requests may use.
func (c *Collector) reserve(r *http.Request) (int64, bool) {
	n := r.ContentLength
	if n < 0 || n > c.Limits.Body {
		n = c.Limits.Body
	}
	if r.Header.Get("Content-Encoding") != "" {
		n += min(c.Limits.Inflated, max(n*c.Limits.Ratio, 64<<10))
	}
	if c.inFlight.Add(n) > c.Limits.InFlight {
		c.inFlight.Add(-n)
		return 0, false
	}
	return n, true
}

// store puts the traces of a request into the store, in one call, so that all or none
// are durable when it returns.
func (c *Collector) store(ctx context.Context, parts [][]byte) (int, *answer, error) {
	reply := &answer{IDs: []string{}}
	records := make([]store.Record, 0, len(parts))
	var first error
	for i, part := range parts {
		rec, err := c.record(part)
		if err != nil {
			x, ok := errors.AsType[*refusal](err)
			if !ok {
				return 0, nil, err
			}
			c.metrics.traces.WithLabelValues("rejected").Inc()
			c.metrics.rejected.WithLabelValues(x.reason).Inc()
			reply.Rejected = append(reply.Rejected, rejection{i, x.status, err.Error()})
			if first == nil {
				first = err
			}
			continue
		}
		records = append(records, rec)
		reply.IDs = append(reply.IDs, rec.ID.String())
	}
	if len(records) == 0 {
		if len(parts) > 1 {
			x, _ := errors.AsType[*refusal](first)
			first = refuse(x.status, x.reason, "trace 0 of %d, and no other is better: %w", len(parts), x.err)
		}
		return 0, nil, first
	}
	done, err := c.Store.Append(ctx, records)
	if err != nil {
		return 0, nil, c.storeError(err)
	}
	reply.Accepted, reply.Duplicates = done.Stored+done.Duplicates, done.Duplicates
	c.metrics.traces.WithLabelValues("accepted").Add(float64(done.Stored))
	c.metrics.traces.WithLabelValues("duplicate").Add(float64(done.Duplicates))
	return http.StatusAccepted, reply, nil
}

// storeError turns an error of the store into an answer. Whatever went wrong, the
// client may send the traces again: a trace that is there already counts once.
func (c *Collector) storeError(err error) error {
	if x, ok := errors.AsType[*store.RecordError](err); ok {
		return refuse(http.StatusUnprocessableEntity, "invalid", "trace: %w", x)
	}
	switch {
	case errors.Is(err, store.ErrBusy):
		return refuse(http.StatusServiceUnavailable, "busy", "the store is behind; send the traces again later")
	case errors.Is(err, store.ErrNoSpace):
		return refuse(http.StatusServiceUnavailable, "no_space", "the disk is nearly full; send the traces again later")
	case errors.Is(err, store.ErrClosed):
		return refuse(http.StatusServiceUnavailable, "closing", "shutting down; send the traces again later")
	}
	c.Logger.Error("store traces", "err", err)
	return refuse(http.StatusServiceUnavailable, "store", "the traces could not be stored; send them again later")
}

// writeError answers with a refusal. Clients are asked to come back after a time that
// differs from one to the next, or they would all come back at once.
func (c *Collector) writeError(w http.ResponseWriter, err error) {
	status, reason := http.StatusInternalServerError, "internal"
	if x, ok := errors.AsType[*refusal](err); ok {
		status, reason = x.status, x.reason
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		wait := 1 + rand.IntN(5)
		if reason == "no_space" {
			wait *= 20
		}
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	c.metrics.refused.WithLabelValues(reason).Inc()
	writeJSON(w, status, &answer{IDs: []string{}, Error: err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, a *answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(a); err != nil {
		return // the client has gone; what it sent is durable all the same
	}
}

// String describes the limits for the log of a starting daemon.
func (l Limits) String() string {
	l = l.withDefaults()
	return fmt.Sprintf("body %d, inflated %d, batch %d, pages %d", l.Body, l.Inflated, l.Batch, l.Pages)
}
