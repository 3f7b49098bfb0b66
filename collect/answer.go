package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/store"
)

// answer is the body of every answer that has one.
type answer struct {
	Accepted   int         `json:"accepted"`           // durable, with those that were there already
	Duplicates int         `json:"duplicates"`         // there already
	IDs        []string    `json:"ids"`                // of the accepted traces
	Rejected   []rejection `json:"rejected,omitempty"` // in a batch
	Rate       *float64    `json:"rate,omitempty"`     // share of the views of the page that should be profiled; 0: stop
	Error      string      `json:"error,omitempty"`    // if nothing was accepted

	durability store.Durability // of the accepted traces
}

// rejection says why a trace of a batch was refused.
type rejection struct {
	Index  int    `json:"index"` // in the batch, from 0
	Status int    `json:"status"`
	Error  string `json:"error"`
}

// refusal is an answer other than 2xx.
type refusal struct {
	status int
	reason string // for the metrics: one word
	err    error
	origin string // of a page that may not send; empty otherwise
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, reason, format string, args ...any) error {
	return &refusal{status: status, reason: reason, err: fmt.Errorf(format, args...)}
}

// writeError answers with a refusal and returns its status. Clients are asked to come
// back after a time that differs from one to the next, or they would all come back at
// once.
func (c *Collector) writeError(w http.ResponseWriter, r *http.Request, err error, reply *answer) int {
	x, ok := errors.AsType[*refusal](err)
	if !ok {
		x = &refusal{status: http.StatusInternalServerError, reason: "internal", err: err}
	}
	if x.status == http.StatusTooManyRequests || x.status == http.StatusServiceUnavailable {
		times := 1
		if x.reason == "no_space" {
			times = 20
		}
		askBack(w, times)
	}
	c.metrics.refused.WithLabelValues(x.reason).Inc()
	c.arrivals.refused(x, c.opts.Now().UTC())
	c.note(r, x, 0)
	reply.Error = err.Error()
	writeJSON(w, x.status, reply)
	return x.status
}

// note has the log tell why a request was refused, or some of its traces.
func (c *Collector) note(r *http.Request, x *refusal, traces int) {
	c.refusals.Note(r, slog.LevelWarn, x.reason, func() []any {
		args := []any{"status", x.status, "err", x.Error(), "from", c.opts.Proxies.clientOf(r, c.keys.Load().of(r))}
		if traces > 0 {
			args = append(args, "traces", traces)
		}
		return args
	})
}

// askBack asks a client to come back after some times 1 to 5 s.
func askBack(w http.ResponseWriter, times int) {
	w.Header().Set("Retry-After", strconv.Itoa(times*(1+rand.IntN(5))))
}

// again reports whether some of the traces that were refused may be sent again later.
func (a *answer) again() bool {
	return slices.ContainsFunc(a.Rejected, func(r rejection) bool { return r.Status == http.StatusTooManyRequests })
}

func writeJSON(w http.ResponseWriter, status int, a *answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // the client may have gone; what it sent is durable all the same
}
