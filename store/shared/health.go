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

// Counters are the counters of a node since its start, and its current state.
type Counters struct {
	write.Load
	roll.Progress
	Requests               objects.Requests
	CacheHits, CacheMisses uint64 // parts of objects that queries read, from the cache and from the store
	Unread                 uint64 // parts that queries could not read

	Silent      time.Duration // since the last response of the store
	ClockOffset time.Duration // the store's clock minus the clock of this node
}

// Counters returns the counters since the node was opened, and the current silence and clock offset
// of the store.
func (n *Node) Counters() Counters {
	c := Counters{Load: n.writer.Load(), Progress: n.roller.Progress(), Requests: n.b.Requests(), Silent: n.silent()}
	c.CacheHits, c.CacheMisses = n.CacheUse()
	c.Unread = n.Unread()
	c.ClockOffset, _, _ = n.b.Clock().Offset()
	return c
}

// Room returns the free space of the disk. It returns false if the node does not write to a local
// disk.
func (n *Node) Room() (r disk.Room, ok bool) {
	if on, ok := n.b.Store.(interface{ Room() disk.Room }); ok {
		return on.Room(), true
	}
	return r, false
}

// LostCommits returns the number of acknowledged commits that were missing when the directory was
// opened. It returns false for a bucket.
func (n *Node) LostCommits() (lost int, ok bool) {
	if on, ok := n.b.Store.(interface{ Lost() int }); ok {
		return on.Lost(), true
	}
	return 0, false
}

// Taken returns the disk usage of all objects except symbols, in bytes. It lists every object, so
// it should only be called for a directory.
func (n *Node) Taken() (int64, error) { return n.roller.Taken(context.Background()) }

// Limits beyond which a node is not ready.
const (
	maxSilence = 30 * time.Second
	maxOffset  = 10 * time.Minute
)

// Unready returns why the node cannot, or should not, accept traces: the store does not respond, a
// manifest is lost, or the clocks of the node and the store differ too much. It returns nil if the
// node is ready.
func (n *Node) Unready() error {
	if offset, _, ok := n.b.Clock().Offset(); ok && offset.Abs() > maxOffset {
		return fmt.Errorf("the clock of this machine and the clock of %s differ by %v; correct the clock of this "+
			"machine", n.b.Name(), offset.Abs().Round(time.Second))
	}
	if err := n.b.AnyLost(); err != nil {
		return err
	}
	if err := n.b.Store.Unready(); err != nil {
		return err
	}
	if n.opts.Spool != "" {
		return nil // traces are accepted into the spool
	}
	if silent := n.silent(); silent > maxSilence {
		return fmt.Errorf("%s has not responded for %v", n.b.Name(), silent.Round(time.Second))
	}
	return nil
}

// OldestWait returns how long the oldest pending request to the disk of the node has been waiting.
func (n *Node) OldestWait() time.Duration {
	if on, ok := n.b.Store.(interface{ Waits() time.Duration }); ok {
		return on.Waits()
	}
	return 0
}

// Stuck returns an error that wraps [store.ErrStuck] if writes to the node's disk have been blocked
// for too long.
func (n *Node) Stuck() error {
	if on, ok := n.b.Store.(interface{ Stuck() error }); ok {
		if err := on.Stuck(); err != nil {
			return fmt.Errorf("%w: %w", store.ErrStuck, err)
		}
	}
	return nil
}

// Doubt returns why nothing is deleted by age, or nil.
func (n *Node) Doubt() error { return n.b.Clock().Doubt() }

// Warnings returns the problems of a node that still accepts traces: a clock in doubt, shards that
// have not been rolled up for a long time, outdated manifests, unreadable objects, and acknowledged
// traces that are lost.
func (n *Node) Warnings() (out []error) {
	if doubt := n.Doubt(); doubt != nil {
		out = append(out, fmt.Errorf("nothing is deleted by age, because %w", doubt))
	}
	out = append(out, n.roller.Late()...)
	if behind := n.behind.Load(); behind != nil {
		out = append(out, *behind...)
	}
	if lost, _ := n.LostCommits(); lost > 0 {
		out = append(out, fmt.Errorf("%d acknowledged commits are lost; see the log since the start of the process",
			lost))
	}
	if lost := n.roller.Progress().LostSegments; lost > 0 {
		out = append(out, fmt.Errorf("%d acknowledged segments are missing; see the log", lost))
	}
	if q := n.roller.Quarantined(); len(q) > 0 {
		out = append(out, fmt.Errorf(
			"%d objects cannot be read and are quarantined, such as %s; ingest --verify lists them",
			len(q), q[0].Key))
	}
	return out
}

// silent returns how long ago the store last responded.
func (n *Node) silent() time.Duration {
	last := n.b.Clock().Heard()
	if last.IsZero() {
		return 0 // there was no request yet
	}
	return n.b.Clock().Local().Sub(last)
}
