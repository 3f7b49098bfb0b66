package loadgen

import (
	"math/rand/v2"
	"sync"
	"time"
)

// nodes chooses the daemon for each request. A daemon that does not respond is avoided for a while,
// like a load balancer does.
type nodes struct {
	mu      sync.Mutex
	avoided []time.Time // by node: until when
}

// avoidFor is how long a node that did not respond is avoided.
const avoidFor = time.Second

func newNodes(count int) *nodes { return &nodes{avoided: make([]time.Time, count)} }

// pick returns a random node, if possible neither last, the previous one, nor an avoided one.
func (n *nodes) pick(last int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	best, least := 0, 4
	now := time.Now()
	for _, i := range rand.Perm(len(n.avoided)) {
		cost := 0
		if now.Before(n.avoided[i]) {
			cost += 2
		}
		if i == last {
			cost++
		}
		if cost < least {
			best, least = i, cost
		}
	}
	return best
}

// avoid avoids a node for a while.
func (n *nodes) avoid(node int, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if until := time.Now().Add(d); until.After(n.avoided[node]) {
		n.avoided[node] = until
	}
}

// Avoid avoids a node, by its index in [Options.Addrs], for a while, if there are others.
// Monitoring calls it when a node accepts no traces.
func (g *Generator) Avoid(node int, d time.Duration) { g.nodes.avoid(node, d) }

// assign chooses the next node for r. g.mu is held.
func (g *Generator) assign(r *request) {
	r.node = g.nodes.pick(r.node)
	if r.twin != nil { // its repeat must go to another node
		r.twin.node, r.twin = r.node, nil
	}
}
