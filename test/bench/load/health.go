package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// health monitors daemons like a load balancer and a monitoring system.
type health struct {
	private []string

	mu   sync.Mutex
	led  []float64     // shards that each daemon owned at its last check
	lag  time.Duration // the longest observed
	last sync.WaitGroup
}

// Intervals of the monitoring.
const (
	lookEvery   = time.Second
	lookTimeout = time.Second
)

// startHealth monitors each daemon until ctx is done.
func startHealth(ctx context.Context, x *cluster, g *loadgen.Generator) *health {
	h := &health{private: x.private, led: make([]float64, len(x.private))}
	for i := range x.private {
		h.last.Go(func() { h.watch(ctx, i, g) })
	}
	return h
}

// watch monitors a daemon.
func (h *health) watch(ctx context.Context, node int, g *loadgen.Generator) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !isReady(ctx, h.private[node]) {
			g.Avoid(node, 2*lookEvery)
		}
		s, err := readState(ctx, h.private[node])
		if err != nil {
			continue // it was killed or suspended
		}
		h.mu.Lock()
		h.led[node], h.lag = s.shards, max(h.lag, s.lag)
		h.mu.Unlock()
	}
}

// shards returns how many shards each daemon owns.
func (h *health) shards() []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.led)
}

// longestLag returns the longest observed wait of a segment for its rollup.
func (h *health) longestLag() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lag
}

// isReady reports whether a daemon accepts traces.
func isReady(ctx context.Context, private string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+private+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// state is the progress of a daemon.
type state struct {
	shards  float64       // that it owns
	lag     time.Duration // of the shard that has waited longest
	spooled float64       // segments in its spool
}

// readState reads the state of a daemon.
func readState(ctx context.Context, private string) (s state, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	values, err := readMetrics(ctx, private)
	if err != nil {
		return s, err
	}
	s.shards, s.spooled = values["fieldtrie_store_shards"], values["fieldtrie_store_spool_segments"]
	for name, v := range values {
		if strings.HasPrefix(name, "fieldtrie_store_lag_seconds{") {
			s.lag = max(s.lag, time.Duration(v*float64(time.Second)))
		}
	}
	return s, nil
}

// askState reads the state of a daemon after a query of all shards, which waits until earlier
// traces are rolled up.
func askState(ctx context.Context, private string) (state, error) {
	if err := get(ctx, "http://"+private+"/api/v1/catalog"); err != nil {
		return state{}, err
	}
	return readState(ctx, private)
}

// settleMost bounds the wait until everything is rolled up: the other daemons wait half a minute
// before they take over the work of a killed daemon.
const settleMost = 3 * time.Minute

// settle waits until spools are empty and everything is rolled up, and returns how long that took.
func (x *cluster) settle(ctx context.Context, stderr io.Writer) (time.Duration, error) {
	began := time.Now()
	fmt.Fprintln(stderr, "load: waiting until all is rolled up …")
	for {
		waiting := ""
		for i, addr := range x.private {
			switch s, err := askState(ctx, addr); {
			case err != nil:
				waiting = err.Error()
			case s.lag > 0 || s.spooled > 0:
				waiting = fmt.Sprintf("daemon %d reports a segment waiting for %v, and %.0f in its spool", i+1,
					s.lag.Round(time.Second), s.spooled)
			}
		}
		took := time.Since(began)
		switch {
		case waiting == "":
			return took, nil
		case ctx.Err() != nil:
			return took, context.Cause(ctx)
		case took > settleMost:
			return took, fmt.Errorf("some traces are not rolled up after %v: %s", settleMost, waiting)
		}
		time.Sleep(lookEvery / 2)
	}
}
