package rollup

import "github.com/fieldtrie/fieldtrie/trie"

// Own finds the profiling script in stack tables. Its self time, that of [trie.FrameFieldtrie], is in the weights
// of a record, and of no page: it is in no [Distribution], and its [Function] has no product. The zero value is ready.
// It is not for concurrent use.
type Own struct {
	in     *trie.Trie
	frames int // of in, as far as they were searched
	frame  trie.FrameID
	found  bool
}

// Is reports whether node n of t is the script.
func (o *Own) Is(t *trie.Trie, n trie.NodeID) bool {
	if n == trie.Root {
		return false
	}
	frame, ok := o.Frame(t)
	return ok && t.Nodes[n].Frame == frame
}

// Has reports whether the self time of s, of t, is the script's.
func (o *Own) Has(t *trie.Trie, s *trie.Share) bool {
	return s.OnTop == (trie.Frame{}) && o.Is(t, s.Node)
}

// Frame returns the number of the script's frame in t, and false if t does not have it.
func (o *Own) Frame(t *trie.Trie) (trie.FrameID, bool) {
	if o.in != t {
		*o = Own{in: t}
	}
	for ; !o.found && o.frames < len(t.Frames); o.frames++ {
		if f := &t.Frames[o.frames]; t.Strings[f.Name] == trie.FrameFieldtrie && t.FrameOf(trie.FrameID(o.frames)) == (trie.Frame{Name: trie.FrameFieldtrie}) {
			o.frame, o.found = trie.FrameID(o.frames), true
		}
	}
	return o.frame, o.found
}
