package write

import (
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// A writer remembers the segments that were acknowledged until all shards have them, so that one that vanishes before is
// noticed.

// maxStored bounds how many segments are remembered until they are rolled up.
const maxStored = 10_000

// Stored returns the segments that were acknowledged and are not known to be rolled up, as many as are remembered.
func (n *Writer) Stored() []layout.Segment {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.stored))
}

// Forget forgets segments that [Writer.Stored] has returned.
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
