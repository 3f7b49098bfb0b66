package loadgen

import (
	"math/rand/v2"
	"sync"
	"time"
)

// nodes are the daemons that requests go to, each time to another one. One that does not answer is left
// alone for a while, as a load balancer does.
type nodes struct {
	mu      sync.Mutex
	avoided []time.Time // by node: until when
}

// avoidFor is how long a node is left alone that has not answered.
const avoidFor = time.Second

func newNodes(count int) *nodes { return &nodes{avoided: make([]time.Time, count)} }

// pick returns the number of a node by chance: not last, which was tried before, and none that is avoided, as far as
// there are others.
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

// avoid has a node left alone for a while.
func (n *nodes) avoid(node int, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if until := time.Now().Add(d); until.After(n.avoided[node]) {
		n.avoided[node] = until
	}
}

// Avoid has a node, by its place in [Options.Addrs], left alone for a while, if there are others: whoever looks after
// the nodes has found that it takes no traces.
func (g *Generator) Avoid(node int, d time.Duration) { g.nodes.avoid(node, d) }

// assign chooses where r is sent next. g.mu is held.
func (g *Generator) assign(r *request) {
	r.node = g.nodes.pick(r.node)
	if r.twin != nil { // which is to go to another one
		r.twin.node, r.twin = r.node, nil
	}
}
