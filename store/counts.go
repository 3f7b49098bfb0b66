package store

import (
	"crypto/sha256"
	"fmt"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Outcome is a page and the outcome of its page views, see [rollup.Outcome].
type Outcome struct{ Page, Reason string }

// VitalsOf identifies the Web Vitals of page views of a page with the same labels.
type VitalsOf struct {
	Page   string
	Labels LabelSet
}

// LabelSet identifies a set of labels by a part of their hash.
type LabelSet [12]byte

// LabelSetOf returns the id of labels, which must be sorted.
func LabelSetOf(labels trie.Labels) (set LabelSet) {
	h := sha256.New()
	for _, l := range labels {
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s", len(l.Key), l.Key, len(l.Value), l.Value) // a hash never returns an error
	}
	copy(set[:], h.Sum(nil))
	return set
}

// Limits of counts that are not stored yet.
const (
	MaxOutcomes  = 1 << 16 // pairs of a page and a reason
	MaxVitalSets = 1 << 14 // pairs of a page and labels: up to some kilobytes each; half of them may have an element
)

// Counts holds outcomes of page views, and Web Vitals, that are not stored yet. The zero value
// is ready to use. It is not safe for concurrent use.
type Counts struct {
	Views  map[Outcome]int64
	Vitals map[VitalsOf][]rollup.Vital
	// Dropped is the number of page views, and of Web Vitals of page views, that exceeded the
	// limits.
	Dropped uint64
}

// Empty reports whether there is nothing to store.
func (c *Counts) Empty() bool { return len(c.Views)+len(c.Vitals) == 0 }

// AddViews counts page views of a page that have no trace. It ignores invalid ones.
func (c *Counts) AddViews(page, reason string, views int64) {
	if CheckPage(page) != "" || reason == "" || len(reason) > MaxTagValue || views <= 0 {
		return
	}
	if c.Views == nil {
		c.Views = map[Outcome]int64{}
	}
	if key := (Outcome{page, reason}); c.Views[key] > 0 || len(c.Views) < MaxOutcomes {
		c.Views[key] += views
	} else {
		c.Dropped += uint64(views)
	}
}

// AddVitals counts the Web Vitals of page views of a page. It ignores an invalid page.
func (c *Counts) AddVitals(page string, vitals []rollup.Vital) {
	if CheckPage(page) != "" {
		return
	}
	if c.Vitals == nil {
		c.Vitals = map[VitalsOf][]rollup.Vital{}
	}
	for i := range vitals {
		v := vitals[i]
		key := VitalsOf{page, LabelSetOf(v.Labels)}
		if _, known := c.Vitals[key]; !known && len(c.Vitals) >= MaxVitalSets/2 {
			v.Labels = rollup.FoldElement(v.Labels)
			key.Labels = LabelSetOf(v.Labels)
		}
		if _, known := c.Vitals[key]; known || len(c.Vitals) < MaxVitalSets {
			c.Vitals[key] = rollup.AddVital(c.Vitals[key], &v)
		} else {
			c.Dropped += uint64(v.Views)
		}
	}
}

// Take returns the counts, and removes them from c.
func (c *Counts) Take() (views map[Outcome]int64, vitals map[VitalsOf][]rollup.Vital) {
	views, vitals = c.Views, c.Vitals
	c.Views, c.Vitals = nil, nil
	return views, vitals
}
