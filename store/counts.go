package store

import (
	"crypto/sha256"
	"fmt"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Outcome names what became of the profiles of page views of a page, see [rollup.Outcome].
type Outcome struct{ Page, Reason string }

// VitalsOf names the Web Vitals of the page views of a page with one set of labels.
type VitalsOf struct {
	Page   string
	Labels LabelSet
}

// LabelSet names a set of labels: a part of a hash of them.
type LabelSet [12]byte

// LabelSetOf returns the name of labels, which are sorted.
func LabelSetOf(labels trie.Labels) (set LabelSet) {
	h := sha256.New()
	for _, l := range labels {
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s", len(l.Key), l.Key, len(l.Value), l.Value) // a hash takes everything
	}
	copy(set[:], h.Sum(nil))
	return set
}

// Bounds of what may be counted and not stored yet.
const (
	MaxOutcomes  = 1 << 16 // reasons of pages
	MaxVitalSets = 1 << 14 // pages with labels: some kilobytes each at most; half of it with an element
)

// Counts are outcomes of page views, and Web Vitals, that were counted and are not stored
// yet. The zero value is empty. It is not safe for concurrent use.
type Counts struct {
	Views  map[Outcome]int64
	Vitals map[VitalsOf][]rollup.Vital
	// Dropped is how many page views, and Web Vitals of page views, found no room.
	Dropped uint64
}

// Empty reports whether nothing is counted that is to be stored.
func (c *Counts) Empty() bool { return len(c.Views)+len(c.Vitals) == 0 }

// AddViews counts page views of a page by their outcome. What cannot be stored is left out.
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

// AddVitals counts the Web Vitals of page views of a page. What can not be stored is left out.
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

// Take returns what is counted, and empties c of it.
func (c *Counts) Take() (views map[Outcome]int64, vitals map[VitalsOf][]rollup.Vital) {
	views, vitals = c.Views, c.Vitals
	c.Views, c.Vitals = nil, nil
	return views, vitals
}
