package encode

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// unzigzag undoes protobuf's zigzag.
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// zigzag encodes v like the sint types of protobuf.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// readTrie fills the tables of t from the columns and reuses their memory.
func (r *documentReader) readTrie(t *trie.Trie) error {
	names, urls := len(r.col(colNameLength)), len(r.col(colResourceLength))
	if err := input.First(
		input.Check("resource_length", urls, r.lim.Resources),
		input.Check("frame_name", len(r.col(colFrameName)), r.lim.Frames),
		input.Check("name_length", names, r.lim.Frames),
		input.Check("node_frame", len(r.col(colNodeFrame)), r.lim.Nodes),
		r.sameRows(colResourceLength, colResourceShared),
		r.sameRows(colChainParent, colChainLength),
	); err != nil {
		return err
	}
	*t = trie.Trie{Strings: t.Strings[:0], Frames: t.Frames[:0], Nodes: t.Nodes[:0]}
	t.Strings = append(slices.Grow(t.Strings, 1+names+urls), "")
	if err := r.names(t); err != nil {
		return err
	}
	if err := r.resources(t); err != nil {
		return err
	}
	if err := r.frames(t, trie.StringID(1+names)); err != nil {
		return err
	}
	return r.nodes(t)
}

// names appends the name table to t.Strings: parts of one string.
func (r *documentReader) names(t *trie.Trie) error {
	if !utf8.Valid(r.nameText) {
		return input.Refuse(input.Malformed, "name_text", "not UTF-8")
	}
	all, rest := string(r.nameText), r.nameText
	for i, n := range r.col(colNameLength) {
		at := len(r.nameText) - len(rest)
		own, after, err := r.cutText("name_length", i, rest, n)
		if err != nil {
			return err
		}
		t.Strings = append(t.Strings, all[at:at+len(own)])
		rest = after
	}
	if len(rest) > 0 {
		return input.Refuse(input.Invalid, "name_text", "%d bytes belong to no name", len(rest))
	}
	return nil
}

// maxResourceBytes bounds the sum of all URLs of a document, whatever the limits are.
const maxResourceBytes = 64 << 20

// resources appends the resource table to t.Strings: parts of one string.
func (r *documentReader) resources(t *trie.Trie) error {
	if !utf8.Valid(r.resourceText) {
		return input.Refuse(input.Malformed, "resource_text", "not UTF-8")
	}
	r.urls, r.urlEnds = r.urls[:0], r.urlEnds[:0]
	rest, start := r.resourceText, 0 // start of the row before
	for i, n := range r.col(colResourceLength) {
		own, after, err := r.cutText("resource_length", i, rest, n)
		if err != nil {
			return err
		}
		last, shared := r.urls[start:], r.col(colResourceShared)[i]
		if shared > uint64(len(last)) || (int(shared) < len(last) && !utf8.RuneStart(last[shared])) {
			return input.Refuse(input.Invalid, "resource_shared", "row %d: %d bytes of a row of %d", i,
				shared, len(last))
		}
		start = len(r.urls)
		r.urls = append(append(r.urls, last[:shared]...), own...)
		r.urlEnds = append(r.urlEnds, len(r.urls))
		// A few bytes can stand for many by sharing, so the sum is bounded, too.
		if size := len(r.urls) - start; size > r.lim.StringBytes || len(r.urls) > min(512*r.lim.Resources,
			maxResourceBytes) {
			return input.Refuse(input.TooLarge, "resource_length", "row %d: a URL of %d bytes, %d in all", i, size,
				len(r.urls))
		} else if size == 0 {
			return input.Refuse(input.Invalid, "resource_length", "row %d is empty", i)
		}
		rest = after
	}
	if len(rest) > 0 {
		return input.Refuse(input.Invalid, "resource_text", "%d bytes belong to no resource", len(rest))
	}
	all, at := string(r.urls), 0
	for _, end := range r.urlEnds {
		t.Strings = append(t.Strings, all[at:end])
		at = end
	}
	return nil
}

// frames reads the frame table. Names are strings 1, 2, … of t; resources begin at firstResource.
func (r *documentReader) frames(t *trie.Trie, firstResource trie.StringID) error {
	names, counts, position := r.col(colFrameName), r.col(colFrameCount), r.col(colFramePosition)
	if len(counts) > 0 && len(counts) != len(r.col(colResourceLength))+1 {
		return input.Refuse(input.Invalid, "frame_count", "%d rows for %d resources", len(counts),
			len(r.col(colResourceLength)))
	}
	t.Frames = slices.Grow(t.Frames, len(names))
	used := uint64(0) // names that a frame has used
	for i, count := range counts {
		if count > uint64(len(names)-len(t.Frames)) {
			return input.Refuse(input.Invalid, "frame_count", "row %d: %d frames, frame_name has %d left", i, count,
				len(names)-len(t.Frames))
		}
		f := trie.FrameRow{}
		if i > 0 {
			f.Resource = firstResource + trie.StringID(i-1)
		}
		for range count {
			row := len(t.Frames)
			name := names[row]
			switch {
			case name == 1:
				used++
				name = used
			case name >= 2:
				name--
			}
			if name >= uint64(firstResource) {
				return input.Refuse(input.Invalid, "frame_name", "row %d: name %d of %d", row, name, firstResource-1)
			}
			f.Name = trie.StringID(name)
			taken, ok := movePosition(&f, position)
			if !ok {
				return input.Refuse(input.Invalid, "frame_position",
					"frame %d: ends early, or a line or column over 32 bits", row)
			}
			position = position[taken:]
			t.Frames = append(t.Frames, f)
		}
	}
	if len(t.Frames) != len(names) || len(position) > 0 {
		return input.Refuse(input.Invalid, "frame_count",
			"%d frames; frame_name has %d, frame_position %d numbers too many", len(t.Frames), len(names),
			len(position))
	}
	return nil
}

// movePosition reads line and column of f from the next one or two numbers of frame_position. f
// must have the values of the previous frame. It returns how many numbers it read.
func movePosition(f *trie.FrameRow, position []uint64) (taken int, ok bool) {
	if len(position) == 0 {
		return 0, false
	}
	step := position[0] >> 1
	if step > math.MaxUint32 {
		return 0, false
	}
	line, column, taken := uint64(f.Line), uint64(f.Column)+step, 1
	if position[0]&1 == 1 {
		if len(position) == 1 {
			return 0, false
		}
		line, column, taken = line+step, position[1], 2
	}
	f.Line, f.Column = uint32(line), uint32(column)
	return taken, line <= math.MaxUint32 && column <= math.MaxUint32
}

// nodes reads the node table.
func (r *documentReader) nodes(t *trie.Trie) error {
	lengths, frames := r.col(colChainLength), r.col(colNodeFrame)
	t.Nodes = append(slices.Grow(t.Nodes, 1+len(frames)), trie.Node{})
	for i, distance := range r.col(colChainParent) {
		first := len(t.Nodes)
		if distance == 0 || distance > uint64(first) {
			return input.Refuse(input.Invalid, "chain_parent", "row %d: %d nodes back from node %d", i, distance, first)
		}
		if lengths[i] >= uint64(len(frames)-first+1) {
			return input.Refuse(input.Invalid, "chain_length", "row %d: more nodes than node_frame has", i)
		}
		parent := trie.NodeID(first - int(distance))
		frame := int64(0)
		if parent != trie.Root {
			frame = int64(t.Nodes[parent].Frame)
		}
		for _, step := range frames[first-1 : first+int(lengths[i])] {
			if frame += unzigzag(step); frame < 0 || frame >= int64(len(t.Frames)) {
				return input.Refuse(input.Invalid, "node_frame", "row %d: frame %d of %d", len(t.Nodes)-1, frame,
					len(t.Frames))
			}
			t.Nodes = append(t.Nodes, trie.Node{Parent: parent, Frame: trie.FrameID(frame)})
			parent = trie.NodeID(len(t.Nodes) - 1)
		}
	}
	if len(t.Nodes)-1 != len(frames) {
		return input.Refuse(input.Invalid, "node_frame", "%d rows, the chains have %d nodes", len(frames),
			len(t.Nodes)-1)
	}
	return nil
}
