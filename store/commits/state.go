package commits

import (
	"fmt"
	"slices"
)

// state is a state of a generation. A new generation is active. A generation that an earlier
// process left is unread.
type state int

const (
	active  state = iota // takes commits; Badger is open
	failed               // a write failed, so it takes no more commits; Badger is open for reads
	retired              // another generation takes commits; Badger is open until its last user releases it
	closing              // Badger is being closed; reads wait
	unread               // its files must be scanned before reading commits from them
	scanned              // commits are read from its files, at the locations that the scan found
	removed              // its folder is deleted
)

// transitions lists the possible next states of each state.
var transitions = [...][]state{
	active:  {failed, retired},
	failed:  {retired},
	retired: {closing},
	closing: {unread},
	unread:  {scanned, removed},
	scanned: {unread, removed}, // back to unread if files have changed since
	removed: nil,
}

// to changes the state. The caller holds the lock of the log.
func (g *generation) to(next state) {
	if !slices.Contains(transitions[g.state], next) {
		panic(fmt.Sprintf("generation %d cannot go from state %d to %d", g.number, g.state, next))
	}
	g.state = next
}

// isOpen reports whether Badger is open.
func (g *generation) isOpen() bool { return g.state <= retired }
