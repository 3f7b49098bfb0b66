package part

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// StartOf returns the start of the partition of that width that t falls into.
func StartOf(t time.Time, width time.Duration) time.Time {
	// Truncate counts from the zero time, a midnight in UTC, so any width that
	// divides a day is aligned to it.
	return t.UTC().Truncate(width)
}

// Name returns the directory of the partition that starts at t. Names sort by time.
func Name(t time.Time) string {
	if t.Minute() == 0 {
		return t.Format("20060102T15")
	}
	return t.Format("20060102T1504")
}

// ParseName returns the start of the partition in directory name.
func ParseName(name string) (time.Time, bool) {
	for _, layout := range []string{"20060102T15", "20060102T1504"} {
		if t, err := time.Parse(layout, name); err == nil && Name(t) == name {
			return t, true
		}
	}
	return time.Time{}, false
}

// Contents are what is known about a partition without opening it. They are the content of
// its file CLEAN.
type Contents struct {
	Traces      uint64 `json:"traces"`
	Entries     uint64 `json:"entries"` // trace keys: a trace of two pages has two
	Commits     uint64 `json:"commits"`
	LastCommit  uint64 `json:"last_commit"` // number of the newest, 0 if there is none
	First       int64  `json:"first_us"`    // receive time of the oldest trace, µs since the epoch
	Last        int64  `json:"last_us"`
	LostTraces  uint64 `json:"lost_traces"` // acknowledged, and found missing after a crash
	LostCommits uint64 `json:"lost_commits"`
	Tables      int    `json:"tables"` // Badger tables when it was closed
	Sealed      bool   `json:"sealed"` // never to be written to again
}

// add counts one commit in.
func (c *Contents) add(number uint64, n record.Commit) {
	c.extend(number, n.Received)
	c.Commits++
	c.Traces += uint64(n.Traces)
	c.Entries += uint64(n.Entries)
}

// addLost counts one commit in that is known of and gone. A query of its time has
// to be told, and its number must not be used again.
func (c *Contents) addLost(number uint64, n record.Commit) {
	c.extend(number, n.Received)
	c.LostCommits++
	c.LostTraces += uint64(n.Traces)
}

func (c *Contents) extend(number uint64, received int64) {
	if c.Blank() || received < c.First {
		c.First = received
	}
	if c.Blank() || received > c.Last {
		c.Last = received
	}
	c.LastCommit = max(c.LastCommit, number)
}

// Blank reports whether no commit is known of.
func (c *Contents) Blank() bool { return c.Commits == 0 && c.LostCommits == 0 }

// Overlaps reports whether something received in [since, until) can be in the
// partition, or was lost from it. Zero times are open ends.
func (c *Contents) Overlaps(since, until time.Time) bool {
	return !c.Blank() && store.Overlaps(c.First, c.Last, since, until)
}

// Loss says what is missing from the partition name after a crash, "" if nothing is.
func (c *Contents) Loss(name string) string {
	if c.LostCommits == 0 {
		return ""
	}
	return fmt.Sprintf("partition %s: expected at least %d traces in %d commits, found %d in %d: %d lost",
		name, c.Traces+c.LostTraces, c.Commits+c.LostCommits, c.Traces, c.Commits, c.LostTraces)
}

// Partition is one directory of traces. The fields below path are guarded by Shelf.mu.
type Partition struct {
	Name  string
	Start time.Time // of the time it was made for, UTC
	path  string

	contents Contents
	fault    error // why it cannot be read, nil if it can

	db       *badger.DB // nil while it is not open
	commits  *commitLog // while db is open for writing
	readers  int        // using db right now
	changing chan struct{}
	takers   []chan struct{}
	used     uint64 // when db was last read, on the shelf's own clock

	closing bool // it is to be closed, as soon as nobody reads it

	pins   int  // who still wants to read the partition
	doomed bool // to be deleted when the last pin is gone
}

// writable reports whether db is open for writing.
func (p *Partition) writable() bool { return p.commits != nil }

// Info is what is known of a partition at one moment.
type Info struct {
	*Partition
	Contents
	Fault   error // why it cannot be read, nil if it can
	Writing bool  // commits go there
	// Changing files: it is open for writing, or may be again.
	Unsettled bool
}

// Concerns reports whether a query for [since, until) has to look at the partition.
func (i *Info) Concerns(since, until time.Time) bool {
	// A partition that could not even be recovered may hold anything.
	return i.Overlaps(since, until) || i.Fault != nil && i.Blank()
}
