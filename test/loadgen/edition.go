package loadgen

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/fieldtrie/fieldtrie/trie"
)

// The percentages of functions of scripts that change from one release to the next.
const (
	renamedOf100 = 1
	movedOf100   = 5
	wrappedOf100 = 1 // are called through a new function
)

// edition returns t as if recorded with a later release: some functions are renamed, some
// moved, and some have new callers. Releases count from 0, which is t. A function changes
// in the same way in all traces.
func edition(t *trie.Trace, release int) *trie.Trace {
	if release == 0 {
		return t
	}
	out := *t
	out.Trie, out.Samples = *trie.New(), make([]trie.Sample, len(t.Samples))
	frames := make([][]trie.FrameID, len(t.Frames))
	for i := range frames {
		for _, f := range changed(t.FrameOf(trie.FrameID(i)), release) {
			frames[i] = append(frames[i], out.Intern(f))
		}
	}
	nodes := make([]trie.NodeID, len(t.Nodes))
	for i, n := range t.Nodes[1:] {
		to := nodes[n.Parent]
		for _, f := range frames[n.Frame] {
			to = out.Child(to, f)
		}
		nodes[i+1] = to
	}
	for i, s := range t.Samples {
		s.Node = nodes[s.Node]
		out.Samples[i] = s
	}
	return &out
}

// changed returns the replacement of a frame in a release: the frame, after any new
// callers.
func changed(f trie.Frame, release int) []trie.Frame {
	if f.Resource == "" { // a function of the browser, which no release changes
		return []trie.Frame{f}
	}
	was := f
	var callers []trie.Frame
	for r := 1; r <= release; r++ {
		switch p := hundredth(was, r); {
		case p < renamedOf100:
			if f.Name != "" {
				f.Name += "Next"
			}
		case p < renamedOf100+movedOf100:
			f.Column += 113
		case p < renamedOf100+movedOf100+wrappedOf100:
			callers = append(callers, trie.Frame{Name: "with" + was.Name, Resource: f.Resource, Line: f.Line,
				Column: f.Column + 1})
		}
	}
	return append(callers, f)
}

// hundredth returns a number from 0 to 99 that depends only on a frame and a release.
func hundredth(f trie.Frame, release int) uint64 {
	h := fnv.New64a()
	place := binary.LittleEndian.AppendUint32(nil, f.Line)
	place = binary.LittleEndian.AppendUint32(place, f.Column)
	_, _ = h.Write(append(place, byte(release)))
	_, _ = h.Write([]byte(f.Resource))
	_, _ = h.Write([]byte(f.Name))
	sum := h.Sum64()
	return (sum ^ sum>>32) % 100
}
