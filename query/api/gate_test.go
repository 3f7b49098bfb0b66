package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fair"
	"github.com/fieldtrie/fieldtrie/test/fixture"

	"github.com/prometheus/client_golang/prometheus"
)

// shown returns the values of a metric in a registry by label values. For a histogram it returns
// the number of observations.
func shown(t *testing.T, r prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name {
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() +
				float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

// waitFor waits until a metric without labels has the value want.
func waitFor(t *testing.T, r prometheus.Gatherer, name string, want float64) {
	t.Helper()
	for range 500 {
		if shown(t, r, name)[""] == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s is %v, want %g", name, shown(t, r, name), want)
}

// Queries behind the same gate wait for each other, and metrics show how many run and wait.
func TestGateTurns(t *testing.T) {
	r := prometheus.NewRegistry()
	g := NewGate(GateOptions{Concurrent: 1, Metrics: r})
	const inFlight, waiting = "fieldtrie_queries_in_flight", "fieldtrie_queries_waiting"
	release, done := make(chan struct{}), make(chan error, 2)
	go func() { done <- g.Do(t.Context(), func() error { <-release; return nil }) }()
	waitFor(t, r, inFlight, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- g.Do(ctx, func() error { t.Error("a canceled query ran"); return nil }) }()
	waitFor(t, r, waiting, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a disconnected client: got %v", err)
	}
	waitFor(t, r, waiting, 0)
	waitFor(t, r, inFlight, 1)
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	waitFor(t, r, inFlight, 0)
}

// A client with many queries does not delay other clients: it gets a quarter of the slots.
func TestGateOneClient(t *testing.T) {
	r := prometheus.NewRegistry()
	g := NewGate(GateOptions{Concurrent: 8, Metrics: r})
	release, done := make(chan struct{}), make(chan error, 20)
	greedy := fair.WithClient(t.Context(), "greedy")
	for range cap(done) {
		go func() { done <- g.Do(greedy, func() error { <-release; return nil }) }()
	}
	waitFor(t, r, "fieldtrie_queries_waiting", float64(cap(done)-2))
	for _, other := range []string{"a", "b", "c"} {
		answered := false
		if err := g.Do(fair.WithClient(t.Context(), other), func() error {
			answered = true
			return nil
		}); err != nil || !answered {
			t.Errorf("%s, next to a client with 20 queries: answered %t, %v", other, answered, err)
		}
	}
	waitFor(t, r, "fieldtrie_queries_in_flight", 2)
	close(release)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A slot is released even if the query panics.
func TestGatePanic(t *testing.T) {
	g := NewGate(GateOptions{Concurrent: 1, Wait: time.Millisecond})
	func() {
		defer func() { _ = recover() }()
		_ = g.Do(t.Context(), func() error { panic("answer") })
	}()
	if err := g.Do(t.Context(), func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// Requests are counted by path, and unknown paths share one label value.
func TestGateCounts(t *testing.T) {
	l, _ := rolledField(t, 3)
	r := prometheus.NewRegistry()
	h := Handler(l, Options{Now: fixture.Now, Gate: NewGate(GateOptions{Metrics: r})})
	tag := ""
	for _, path := range []string{"/api/v1/top", "/api/v1/top?pages=/feed", "/api/v1/top", "/pprof/", "/api/v1/x",
		"/api/y"} {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if tag == "" {
			tag = w.Header().Get("ETag")
		}
	}
	want := map[string]float64{"200 /api/v1/top": 1, "200 /pprof/": 1, "304 /api/v1/top": 1, "400 /api/v1/top": 1,
		"404 unknown": 2}
	if got := shown(t, r, "fieldtrie_query_requests_total"); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	want = map[string]float64{"/api/v1/top": 3, "/pprof/": 1, "unknown": 2}
	if got := shown(t, r, "fieldtrie_query_request_seconds"); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
