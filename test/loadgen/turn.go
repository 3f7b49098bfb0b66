package loadgen

import (
	"slices"
	"sync"
	"time"
)

// Turn is a rotation: the moment at which one partition of the daemon ends and the next
// begins.
type Turn struct {
	At       time.Time
	Requests uint64        // accepted ones within nearTurn of it
	Longest  time.Duration // wait of one of these, from its due time
}

// nearTurn is how long before and after a rotation requests count as near it.
const nearTurn = 2 * time.Second

// turns collects the waits of requests near rotations. It is safe for concurrent use.
type turns struct {
	partition time.Duration

	mu  sync.Mutex
	all []Turn // by time
}

// note records when a request was due and when it got its response.
func (t *turns) note(due, answered time.Time) {
	for at := due.Add(-nearTurn).Truncate(t.partition).Add(t.partition); !at.After(answered.Add(nearTurn)); at = at.Add(t.partition) {
		t.add(at, answered.Sub(due))
	}
}

func (t *turns) add(at time.Time, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := slices.BinarySearchFunc(t.all, at, func(x Turn, at time.Time) int { return x.At.Compare(at) })
	if !known {
		t.all = slices.Insert(t.all, i, Turn{At: at})
	}
	x := &t.all[i]
	x.Requests++
	x.Longest = max(x.Longest, wait)
}

// Turns returns the rotations during the load, by time, without those near which no request
// was accepted.
func (g *Generator) Turns() []Turn {
	g.turns.mu.Lock()
	defer g.turns.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.turns.all), func(x Turn) bool {
		return x.At.Before(g.started) || x.At.After(g.started.Add(g.elapsed))
	})
}
