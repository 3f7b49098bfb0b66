package collect

import (
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/trie"
)

// SetFeatures replaces the rules for features. It may be called while traces are received.
// Those that are stored stay as they are.
func (c *Collector) SetFeatures(r feature.Rules) { c.features.Store(&r) }

// addFeatures adds to t the features that rules name. The rules are about pages and scripts
// as they are stored, and their features are as few as the file has, so they need no room
// among those that pages name.
func (c *Collector) addFeatures(t *trie.Trace) {
	skipped := c.features.Load().Apply(t, feature.Bounds{Spans: c.limits.Trace.Spans, AtOnce: maxAtOnce})
	c.metrics.unruled.Add(float64(skipped))
}
