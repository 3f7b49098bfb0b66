package commits

import (
	"fmt"
	"slices"
)

// state is a step in the life of a generation. A new generation is active; those that an earlier
// process left are unread.
type state int

const (
	active  state = iota // it takes commits; Badger is open
	failed               // a write failed, so it takes no more commits; Badger is open for reads
	retired              // another one takes commits; Badger is open until its last user releases it
	closing              // Badger is being closed, and nothing is read
	unread               // its files must be scanned before a commit is read from them
	scanned              // commits are read from its files, where the scan found them
	removed              // its folder is gone
)

// transitions has the states that may follow each one.
var transitions = [...][]state{
	active:  {failed, retired},
	failed:  {retired},
	retired: {closing},
	closing: {unread},
	unread:  {scanned, removed},
	scanned: {unread, removed}, // unread again if files have changed since
	removed: nil,
}

// to changes the state. The caller holds the lock of the log.
func (g *generation) to(next state) {
	if !slices.Contains(transitions[g.state], next) {
		panic(fmt.Sprintf("generation %d cannot go from state %d to %d", g.number, g.state, next))
	}
	g.state = next
}

// isOpen reports whether commits are read through Badger.
func (g *generation) isOpen() bool { return g.state <= retired }
