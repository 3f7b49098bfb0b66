package write

import (
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// A writer remembers acknowledged segments until all shards have rolled them up, so that a lost
// segment is noticed.

// maxStored bounds how many segments are remembered.
const maxStored = 10_000

// Stored returns acknowledged segments that are not known to be rolled up, at most maxStored.
func (n *Writer) Stored() []layout.Segment {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.stored))
}

// Forget drops segments that [Writer.Stored] has returned.
func (n *Writer) Forget(list []layout.Segment) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range list {
		delete(n.stored, s)
	}
}

// noteStored remembers a segment.
func (n *Writer) noteStored(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := layout.ParseSegment(key); ok && len(n.stored) < maxStored {
		n.stored[s] = true
	}
}
