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

// answer is the JSON body of a response.
type answer struct {
	Accepted   int         `json:"accepted"`           // durable, including duplicates
	Duplicates int         `json:"duplicates"`         // already in the store
	IDs        []string    `json:"ids"`                // of the accepted traces
	Rejected   []rejection `json:"rejected,omitempty"` // of a batch
	Rate       *float64    `json:"rate,omitempty"`     // share of the page's views to profile from now on; 0: stop
	Error      string      `json:"error,omitempty"`    // if nothing was accepted

	durability store.Durability // of the accepted traces
}

// rejection is the reason why one trace of a batch was rejected.
type rejection struct {
	Index  int    `json:"index"` // in the batch, from 0
	Status int    `json:"status"`
	Error  string `json:"error"`
}

// refusal is a response with a status other than 2xx.
type refusal struct {
	status int
	reason string // one word, the label reason of the metrics
	err    error
	origin string // of a page that may not send, or empty
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, reason, format string, args ...any) error {
	return &refusal{status: status, reason: reason, err: fmt.Errorf(format, args...)}
}

// writeError writes the response to a refused request and returns its status. The header
// Retry-After varies between responses, so that clients do not all retry at the same time.
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

// note logs why a request, or some of its traces, were refused.
func (c *Collector) note(r *http.Request, x *refusal, traces int) {
	c.refusals.Note(r, slog.LevelWarn, x.reason, func() []any {
		args := []any{"status", x.status, "err", x.Error(), "from", c.opts.Proxies.clientOf(r, c.keys.Load().of(r))}
		if traces > 0 {
			args = append(args, "traces", traces)
		}
		return args
	})
}

// askBack sets Retry-After to a random number of seconds, from times*1 to times*5.
func askBack(w http.ResponseWriter, times int) {
	w.Header().Set("Retry-After", strconv.Itoa(times*(1+rand.IntN(5))))
}

// again reports whether the client may send some of the rejected traces again later.
func (a *answer) again() bool {
	return slices.ContainsFunc(a.Rejected, func(r rejection) bool { return r.Status == http.StatusTooManyRequests })
}

func writeJSON(w http.ResponseWriter, status int, a *answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // the client may be gone; the traces are durable anyway
}
