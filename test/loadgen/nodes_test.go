package loadgen

import (
	"testing"
	"time"
)

func TestPick(t *testing.T) {
	n := newNodes(3)
	counts := func(last int) (got [3]int) {
		for range 300 {
			got[n.pick(last)]++
		}
		return got
	}
	if got := counts(none); min(got[0], got[1], got[2]) < 50 {
		t.Errorf("not spread: %v", got)
	}
	if got := counts(1); got[1] > 0 || min(got[0], got[2]) < 50 {
		t.Errorf("the same node again: %v", got)
	}
	n.avoid(0, time.Minute)
	if got := counts(1); got[2] != 300 {
		t.Errorf("with one node left: %v", got)
	}
	n.avoid(2, time.Minute)
	if got := counts(1); got[1] != 300 {
		t.Errorf("an unresponsive node was preferred to the same one: %v", got)
	}
	n.avoid(1, time.Minute)
	if got := counts(1); got[1] > 0 {
		t.Errorf("with no responsive node: %v", got)
	}
	if got := newNodes(1).pick(0); got != 0 {
		t.Errorf("a single node: %d", got)
	}
}

// TestManyNodes uses three addresses of one daemon. Repeated traces go to two of them.
func TestManyNodes(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	g, err := New(Options{Addrs: []string{d.public, d.public, "127.0.0.1:1"}, Traces: realTraces(t)[:4], Count: sent,
		Rate: 4000, Pages: 4, Repeat: 0.2, Retry: true})
	if err != nil {
		t.Fatal(err)
	}
	g.backoff = 10 * time.Millisecond
	g.Run(t.Context())
	v := verify(t, g, Scope{QueryAddrs: []string{d.private, d.private}, Everywhere: 2})
	if n := g.Counts(); v.Count > 0 || v.Everywhere != 2 || n.Unconnected == 0 || n.GivenUp > 0 {
		t.Errorf("%+v\n%+v", v, n)
	}
}
