package rollup

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/internal/wire"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Size is the size of a stack table, now or at an earlier time: tables only grow.
type Size struct{ Strings, Frames, Nodes int }

// SizeOf returns the current numbers of strings, frames and nodes of t.
func SizeOf(t *trie.Trie) Size { return Size{len(t.Strings), len(t.Frames), len(t.Nodes)} }

// stacksVersion is the first number of encoded stack tables. It has never changed.
const stacksVersion = 1

// EncodeStacks returns the part of t beyond from.
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

// DecodeStacks appends the result of [EncodeStacks] to t, which must have the size from. After an
// error t must not be used.
func DecodeStacks(t *trie.Trie, data []byte) error {
	r := wire.NewReader(data, ErrMalformed)
	if v := r.Uint(); r.Err() == nil && v != stacksVersion {
		return fmt.Errorf("%w: stack table of version %d, this program reads %d", ErrMalformed, v, stacksVersion)
	}
	has := SizeOf(t)
	if from := (Size{int(r.Uint()), int(r.Uint()), int(r.Uint())}); r.Err() == nil && from != has {
		return fmt.Errorf("%w: stack table continues at %v, but the size is %v", ErrMalformed, from, has)
	}
	for range r.Length(1) {
		t.Strings = append(t.Strings, string(r.Bytes(r.Length(1))))
	}
	var last trie.FrameRow
	for range r.Length(4) {
		f := trie.FrameRow{Name: trie.StringID(r.Uint()), Resource: trie.StringID(r.Uint())}
		f.Line, f.Column = uint32(int64(last.Line)+r.Int()), uint32(r.Uint())
		t.Frames = append(t.Frames, f)
		last = f
	}
	for range r.Length(2) {
		at := uint64(len(t.Nodes))
		up := r.Uint()
		if up == 0 || up > at {
			r.Fail("a stack has no caller before it")
			break
		}
		t.Nodes = append(t.Nodes, trie.Node{Parent: trie.NodeID(at - up), Frame: trie.FrameID(r.Uint())})
	}
	if err := r.End(); err != nil {
		return err
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("%w: stack table: %w", ErrMalformed, err)
	}
	return nil
}
