package rollup

import "github.com/fieldtrie/fieldtrie/trie"

// Own finds the profiling script in stack tables. Its self time, under [trie.FrameFieldtrie], is in
// the weights of a record, but does not count for the page: it is in no [Distribution], and its
// [Function] has no product. The zero value is ready to use, and fastest if records of one table
// follow each other. It is not safe for concurrent use.
type Own struct {
	in    *trie.Trie
	frame trie.FrameID
	found bool
}

// Is reports whether node n of t is the script. Nothing may be added to t meanwhile.
func (o *Own) Is(t *trie.Trie, n trie.NodeID) bool {
	if o.in != t {
		*o = Own{in: t}
		for i := range t.Frames {
			if t.FrameOf(trie.FrameID(i)).Own() {
				o.frame, o.found = trie.FrameID(i), true
			}
		}
	}
	return o.found && n != trie.Root && t.Nodes[n].Frame == o.frame
}

// IsOwn reports whether the time of node n of t, with a synthetic frame on top unless that is zero,
// belongs to the script.
func IsOwn(t *trie.Trie, n trie.NodeID, onTop trie.Frame) bool {
	return onTop == (trie.Frame{}) && t.Frame(n).Own()
}
