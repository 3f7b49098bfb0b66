package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// stall detects that requests are sent but no longer acknowledged.
type stall struct {
	limit time.Duration // the longest time without an acknowledgement; 0 for none

	acknowledged uint64
	since        time.Time // when requests began to wait for the next one; zero if none wait
}

// look reports whether the limit is reached. underWay is how many requests wait for a response.
func (s *stall) look(now time.Time, c loadgen.Counts, underWay int) bool {
	switch {
	case c.Acknowledged != s.acknowledged:
		s.acknowledged, s.since = c.Acknowledged, time.Time{}
	case s.since.IsZero() && underWay > 0:
		s.since = now
	}
	return s.limit > 0 && !s.since.IsZero() && now.Sub(s.since) >= s.limit
}

// stalled returns an error with the state of the daemons. It ends those started here to get their
// goroutines.
func (s *stall) stalled(ctx context.Context, x *cluster, acknowledged uint64) error {
	err := fmt.Errorf("no trace was acknowledged for %v while requests were sent, after %d traces; %s", s.limit,
		acknowledged, readiness(ctx, x.private[0]))
	return errors.Join(err, x.goroutines())
}

// readiness requests a daemon's readiness, and returns the response.
func readiness(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "no answer from /readyz: " + err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return "no answer from /readyz: " + err.Error()
	}
	return fmt.Sprintf("/readyz answers %s: %s", res.Status, strings.TrimSpace(string(text)))
}
