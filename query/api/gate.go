package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fieldtrie/fieldtrie/internal/fair"
)

// GateOptions configures a [Gate]. Zero fields mean the defaults in the comments.
type GateOptions struct {
	Concurrent int                   // concurrent queries, default 32: they mostly wait for the store
	Wait       time.Duration         // how long a query may wait for a slot, default 10 s
	Metrics    prometheus.Registerer // optional
}

// Gate limits the number of concurrent queries over all handlers that share it, and measures them.
// A client gets at most a quarter of the slots, even without other clients, because running queries
// are not interrupted. The client with the fewest running queries comes first, see
// [fair.WithClient]. A Gate is safe for concurrent use by multiple goroutines.
type Gate struct {
	turns    *fair.Semaphore
	most     int // number of slots
	wait     time.Duration
	requests *prometheus.CounterVec   // by status and path
	seconds  *prometheus.HistogramVec // by path
}

// NewGate returns a gate. A registry can hold the metrics of only one gate.
func NewGate(o GateOptions) *Gate {
	if o.Concurrent == 0 {
		o.Concurrent = 32
	}
	if o.Wait == 0 {
		o.Wait = 10 * time.Second
	}
	g := &Gate{
		turns: fair.New(fair.Options{Turns: o.Concurrent, Each: max(1, o.Concurrent/4)}),
		most:  o.Concurrent,
		wait:  o.Wait,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fieldtrie_query_requests_total", Help: "Requests for answers, by HTTP status and path.",
		}, []string{"code", "path"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "fieldtrie_query_request_seconds",
			Help:    "Time to answer a request, waiting for its turn and writing included, by path.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16), // to 33 s; queries are cancelled after 30 s
		}, []string{"path"}),
	}
	if o.Metrics != nil {
		gauge := func(name, help string, value func() float64) prometheus.Collector {
			return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
		}
		o.Metrics.MustRegister(g.requests, g.seconds,
			gauge("fieldtrie_queries_in_flight", "Answers in the making.", func() float64 {
				taken, _ := g.turns.Taken()
				return float64(taken)
			}),
			gauge("fieldtrie_queries_waiting", "Questions that wait for their turn.", func() float64 {
				_, waiting := g.turns.Taken()
				return float64(waiting)
			}))
	}
	return g
}

// BusyError reports that a query got no slot in time. Retrying later may help.
type BusyError struct {
	Concurrent int           // concurrent queries
	Wait       time.Duration // time that the query waited
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("no turn within %s: at most %d queries run at the same time, a quarter of them for one "+
		"client; try again", e.Wait, e.Concurrent)
}

// Do calls f once a slot is free. It returns a [BusyError] if that takes too long, and the error of
// ctx if ctx is done first. Write the response after Do returns, so that a slow client does not
// hold a slot.
func (g *Gate) Do(ctx context.Context, f func() error) error {
	waiting, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	done, err := g.turns.Take(waiting, fair.ClientOf(ctx))
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case err != nil:
		return &BusyError{Concurrent: g.most, Wait: g.wait}
	}
	defer done()
	return f()
}

// Measure wraps next to count and time its requests under a path. Use the pattern of the path, so
// that the number of label values is bounded.
func (g *Gate) Measure(path string, next http.Handler) http.Handler {
	label := prometheus.Labels{"path": path}
	return promhttp.InstrumentHandlerDuration(g.seconds.MustCurryWith(label),
		promhttp.InstrumentHandlerCounter(g.requests.MustCurryWith(label), next))
}
