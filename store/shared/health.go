package shared

import (
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/store/shared/write"
)

// Counters are what a node has done since its start, and how it is.
type Counters struct {
	write.Load
	roll.Progress
	Requests               objects.Requests
	CacheHits, CacheMisses uint64 // parts of objects that queries read, from the cache and from the store
	Unread                 uint64 // parts that queries should have read and could not

	Silent      time.Duration // since the store answered last
	ClockOffset time.Duration // how far the clock of the store is ahead of that of this node
}

// Counters returns what the node has done.
func (n *Node) Counters() Counters {
	c := Counters{Load: n.writer.Load(), Progress: n.roller.Progress(), Requests: n.b.Requests(), Silent: n.silent()}
	c.CacheHits, c.CacheMisses = n.CacheUse()
	c.Unread = n.Unread()
	c.ClockOffset, _, _ = n.b.Clock().Offset()
	return c
}

// Room returns how much room the disk has, if what the node writes to is on one.
func (n *Node) Room() (r disk.Room, ok bool) {
	if on, ok := n.b.Store.(interface{ Room() disk.Room }); ok {
		return on.Room(), true
	}
	return r, false
}

// LostCommits returns how many records of commits were acknowledged, and were found lost when the
// directory was opened; ok is false for a bucket.
func (n *Node) LostCommits() (lost int, ok bool) {
	if on, ok := n.b.Store.(interface{ Lost() int }); ok {
		return on.Lost(), true
	}
	return 0, false
}

// Taken returns how many bytes all takes but symbols. It looks at each object, so it is for a directory.
func (n *Node) Taken() (int64, error) { return n.roller.Taken(context.Background()) }

// Bounds of what is well.
const (
	maxSilence = 30 * time.Second
	maxOffset  = 10 * time.Minute
)

// Unready returns why traces are not taken for the moment, or should not be: the store does not answer, a manifest is
// lost, or the clocks of the node and of the store are far apart.
func (n *Node) Unready() error {
	if offset, _, ok := n.b.Clock().Offset(); ok && offset.Abs() > maxOffset {
		return fmt.Errorf("the clock of this machine and that of %s differ by %v; set this one right", n.b.Name(), offset.Abs().Round(time.Second))
	}
	if err := n.b.AnyLost(); err != nil {
		return err
	}
	if err := n.b.Store.Unready(); err != nil {
		return err
	}
	if n.opts.Spool != "" {
		return nil // traces are taken all the same
	}
	if silent := n.silent(); silent > maxSilence {
		return fmt.Errorf("%s has not answered for %v", n.b.Name(), silent.Round(time.Second))
	}
	return nil
}

// OldestWait returns for how long the disk of a node has not answered.
func (n *Node) OldestWait() time.Duration {
	if on, ok := n.b.Store.(interface{ Waits() time.Duration }); ok {
		return on.Waits()
	}
	return 0
}

// Stuck returns an error that is [store.ErrStuck] if what a node has on its disk can not be written for too long.
func (n *Node) Stuck() error {
	if on, ok := n.b.Store.(interface{ Stuck() error }); ok {
		if err := on.Stuck(); err != nil {
			return fmt.Errorf("%w: %w", store.ErrStuck, err)
		}
	}
	return nil
}

// Doubt returns why nothing is deleted by its age, or nil.
func (n *Node) Doubt() error { return n.b.Clock().Doubt() }

// Warnings returns the problems of a node that still accepts traces: doubt of the clock, shards that have not been rolled
// up for long, old manifests, objects that cannot be read, and acknowledged traces that are lost.
func (n *Node) Warnings() (out []error) {
	if doubt := n.Doubt(); doubt != nil {
		out = append(out, fmt.Errorf("nothing is deleted by its age, since %w", doubt))
	}
	out = append(out, n.roller.Late()...)
	if behind := n.behind.Load(); behind != nil {
		out = append(out, *behind...)
	}
	if lost, _ := n.LostCommits(); lost > 0 {
		out = append(out, fmt.Errorf("%d acknowledged commits are lost, see the log of the start", lost))
	}
	if lost := n.roller.Progress().LostSegments; lost > 0 {
		out = append(out, fmt.Errorf("%d segments that were acknowledged are not there, see the log", lost))
	}
	if q := n.roller.Quarantined(); len(q) > 0 {
		out = append(out, fmt.Errorf("%d objects cannot be read and are quarantined, such as %s; ingest --verify lists them",
			len(q), q[0].Key))
	}
	return out
}

// silent returns how long the store has not answered.
func (n *Node) silent() time.Duration {
	last := n.b.Clock().Heard()
	if last.IsZero() {
		return 0 // it was not asked
	}
	return n.b.Clock().Local().Sub(last)
}
