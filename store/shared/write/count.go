package write

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// counting are outcomes of page views, and Web Vitals, that are in no segment yet. They have segments
// of their own, which are sent until they are stored: counts have no ids, so that what is
// sent in two segments would count twice.
type counting struct {
	store.Counts
	sealed []sealed // oldest first; guarded by Writer.storing as well, for whoever sends them
}

// sealed is a segment that waits to be stored.
type sealed struct {
	key  string
	body []byte
}

// maxSealed is how many segments of counts may wait.
const maxSealed = 64

// CountViews counts page views by what became of their profile, see [rollup.Outcome]. They are stored with the next
// call of [Writer.StoreCounts]; what was not stored when the node stops is forgotten.
func (n *Writer) CountViews(page, reason string, views int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counting.AddViews(page, reason, views)
}

// CountVitals counts the Web Vitals of page views of a page, see [Writer.CountViews].
func (n *Writer) CountVitals(page string, vitals []rollup.Vital) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counting.AddVitals(page, vitals)
}

// drain empties what is counted into a batch.
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

// fill takes back what was drained.
func (c *counting) fill(b *layout.Batch) {
	for i := range b.Counts {
		x := &b.Counts[i]
		c.AddViews(x.Page, x.Reason, x.Views)
		c.AddVitals(x.Page, x.Vitals)
	}
}

// StoreCounts stores what was counted. What cannot be stored waits for the next call.
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
