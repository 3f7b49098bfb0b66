package write

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// counting holds outcomes of page views, and Web Vitals, that are not in a segment yet. Counts
// have no ids, so counts that are stored in two segments count twice. Therefore they get segments
// of their own, which are retried unchanged until they are stored.
type counting struct {
	store.Counts
	sealed []sealed // oldest first; StoreCounts changes it only while it holds Writer.storing
}

// sealed is an encoded segment that is not stored yet.
type sealed struct {
	key  string
	body []byte
}

// maxSealed is the maximum number of segments of counts that may wait.
const maxSealed = 64

// CountViews counts page views by outcome, see [rollup.Outcome]. The next [Writer.StoreCounts]
// stores them; counts that are not stored when the node stops are lost.
func (n *Writer) CountViews(page, reason string, views int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counting.AddViews(page, reason, views)
}

// CountVitals counts the Web Vitals of page views, see [Writer.CountViews].
func (n *Writer) CountVitals(page string, vitals []rollup.Vital) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counting.AddVitals(page, vitals)
}

// drain moves the counts into a batch.
func (c *counting) drain() *layout.Batch {
	b := &layout.Batch{}
	views, vitals := c.Take()
	for o, n := range views {
		b.Counts = append(b.Counts, layout.Count{Page: o.Page, Reason: o.Reason, Views: n})
	}
	for of, list := range vitals {
		b.Counts = append(b.Counts, layout.Count{Page: of.Page, Vitals: list})
	}
	return b
}

// fill adds the counts of a drained batch back.
func (c *counting) fill(b *layout.Batch) {
	for i := range b.Counts {
		x := &b.Counts[i]
		c.AddViews(x.Page, x.Reason, x.Views)
		c.AddVitals(x.Page, x.Vitals)
	}
}

// StoreCounts stores the counts. Counts that cannot be stored wait for the next call.
func (n *Writer) StoreCounts(ctx context.Context) error {
	select {
	case n.storing <- struct{}{}:
		defer func() { <-n.storing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	n.mu.Lock()
	c := &n.counting
	var b *layout.Batch
	if !c.Empty() && len(c.sealed) < maxSealed {
		b = c.drain()
	}
	n.mu.Unlock()
	if b != nil {
		key, body, err := n.seal(b)
		if err != nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			c.fill(b)
			return err
		}
		n.mu.Lock()
		c.sealed = append(c.sealed, sealed{key, body})
		n.mu.Unlock()
	}
	for len(c.sealed) > 0 {
		if err := n.putSegment(ctx, c.sealed[0].key, c.sealed[0].body, n.opts.GiveUp); err != nil {
			return err
		}
		n.mu.Lock()
		c.sealed = c.sealed[1:]
		n.mu.Unlock()
	}
	return nil
}
