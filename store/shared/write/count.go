package write

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// counting are page views without a trace, and Web Vitals, that are in no segment yet. They have segments
// of their own, which are sent until they are stored: counts have no ids, so that what is
// sent in two segments would count twice.
type counting struct {
	views  map[outcome]int64
	vitals map[vitalsOf][]rollup.Vital
	sealed []sealed // oldest first

	dropped uint64 // that found no room
}

// outcome names a reason why page views of a page have no trace.
type outcome struct{ page, reason string }

// vitalsOf names the Web Vitals of the page views of a page with one set of labels.
type vitalsOf struct {
	page   string
	labels [sha256.Size]byte
}

// sealed is a segment that waits to be stored.
type sealed struct {
	key  string
	body []byte
}

// Bounds of what may wait.
const (
	maxOutcomes = 1 << 16
	maxVitals   = 1 << 13
	maxSealed   = 64
)

// CountViews counts page views of which there is no trace, by the reason. They are stored with the next
// call of [Writer.StoreCounts]; what was not stored when the node stops is forgotten.
func (n *Writer) CountViews(page, reason string, views int64) {
	if store.CheckPage(page) != "" || reason == "" || len(reason) > store.MaxTagValue || views <= 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counting.addViews(outcome{page, reason}, views)
}

func (c *counting) addViews(of outcome, views int64) {
	if c.views == nil {
		c.views = map[outcome]int64{}
	}
	if c.views[of] > 0 || len(c.views) < maxOutcomes {
		c.views[of] += views
	} else {
		c.dropped += uint64(views)
	}
}

// CountVitals counts the Web Vitals of page views of a page, see [Writer.CountViews].
func (n *Writer) CountVitals(page string, vitals []rollup.Vital) {
	if store.CheckPage(page) != "" || len(vitals) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counting.addVitals(page, vitals)
}

func (c *counting) addVitals(page string, vitals []rollup.Vital) {
	if c.vitals == nil {
		c.vitals = map[vitalsOf][]rollup.Vital{}
	}
	for i := range vitals {
		key := vitalsOf{page, hashOf(vitals[i].Labels)}
		if _, known := c.vitals[key]; known || len(c.vitals) < maxVitals {
			c.vitals[key] = rollup.AddVital(c.vitals[key], &vitals[i])
		} else {
			c.dropped += uint64(vitals[i].Views)
		}
	}
}

// hashOf names labels, which are sorted.
func hashOf(labels trie.Labels) (out [sha256.Size]byte) {
	h := sha256.New()
	for _, l := range labels {
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s", len(l.Key), l.Key, len(l.Value), l.Value) // a hash takes everything
	}
	h.Sum(out[:0])
	return out
}

// drain empties what is counted into a batch.
func (c *counting) drain() *layout.Batch {
	b := &layout.Batch{}
	for o, views := range c.views {
		b.Counts = append(b.Counts, layout.Count{Page: o.page, Reason: o.reason, Views: views})
	}
	for of, vitals := range c.vitals {
		b.Counts = append(b.Counts, layout.Count{Page: of.page, Vitals: vitals})
	}
	c.views, c.vitals = nil, nil
	return b
}

// fill takes back what was drained.
func (c *counting) fill(b *layout.Batch) {
	for i := range b.Counts {
		x := &b.Counts[i]
		if x.Reason != "" {
			c.addViews(outcome{x.Page, x.Reason}, x.Views)
		}
		c.addVitals(x.Page, x.Vitals)
	}
}

// StoreCounts stores what was counted. What can not be stored waits for the next call. No two calls
// may run at once.
func (n *Writer) StoreCounts(ctx context.Context) error {
	n.mu.Lock()
	c := &n.counting
	var b *layout.Batch
	if len(c.views)+len(c.vitals) > 0 && len(c.sealed) < maxSealed {
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
