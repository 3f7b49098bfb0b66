package rollup

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Size says how much of a stack table there is, or was at some time: tables only grow.
type Size struct{ Strings, Frames, Nodes int }

// SizeOf returns the size of t.
func SizeOf(t *trie.Trie) Size { return Size{len(t.Strings), len(t.Frames), len(t.Nodes)} }

// stacksVersion is the first number of encoded stack tables, which have not changed since the first.
const stacksVersion = 1

// EncodeStacks returns what t has beyond from.
func EncodeStacks(t *trie.Trie, from Size) []byte {
	w := &writer{}
	w.uint(stacksVersion)
	w.length(from.Strings)
	w.length(from.Frames)
	w.length(from.Nodes)
	w.length(len(t.Strings) - from.Strings)
	for _, s := range t.Strings[from.Strings:] {
		w.length(len(s))
		w.out = append(w.out, s...)
	}
	w.length(len(t.Frames) - from.Frames)
	var last trie.FrameRow
	for _, f := range t.Frames[from.Frames:] {
		w.uint(uint64(f.Name))
		w.uint(uint64(f.Resource))
		w.int(int64(f.Line) - int64(last.Line))
		w.uint(uint64(f.Column))
		last = f
	}
	w.length(len(t.Nodes) - from.Nodes)
	for i, n := range t.Nodes[from.Nodes:] {
		w.uint(uint64(from.Nodes+i) - uint64(n.Parent))
		w.uint(uint64(n.Frame))
	}
	return w.out
}

// DecodeStacks appends what [EncodeStacks] returned to t, which must be as large as it was
// then. After an error t is not to be used.
func DecodeStacks(t *trie.Trie, data []byte) error {
	r := &reader{in: data}
	if v := r.uint(); r.err == nil && v != stacksVersion {
		return fmt.Errorf("%w: stack table of version %d, this program reads %d", ErrMalformed, v, stacksVersion)
	}
	has := SizeOf(t)
	if from := (Size{int(r.uint()), int(r.uint()), int(r.uint())}); r.err == nil && from != has {
		return fmt.Errorf("%w: stack table goes on at %v, there is %v", ErrMalformed, from, has)
	}
	for range r.length(1) {
		t.Strings = append(t.Strings, string(r.bytes(r.length(1))))
	}
	var last trie.FrameRow
	for range r.length(4) {
		f := trie.FrameRow{Name: trie.StringID(r.uint()), Resource: trie.StringID(r.uint())}
		f.Line, f.Column = uint32(int64(last.Line)+r.int()), uint32(r.uint())
		t.Frames = append(t.Frames, f)
		last = f
	}
	for range r.length(2) {
		at := uint64(len(t.Nodes))
		up := r.uint()
		if up == 0 || up > at {
			r.fail("a stack has no caller before it")
			break
		}
		t.Nodes = append(t.Nodes, trie.Node{Parent: trie.NodeID(at - up), Frame: trie.FrameID(r.uint())})
	}
	if r.err == nil && len(r.in) > 0 {
		r.fail("stack table has bytes too many")
	}
	if r.err != nil {
		return r.err
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("%w: stack table: %w", ErrMalformed, err)
	}
	return nil
}
