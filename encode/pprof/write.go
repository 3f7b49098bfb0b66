package pprof

import (
	"bufio"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// pprofWriter writes the messages of a pprof profile as they are made. In the pprof library
// each sample is an object with a list of pointers, and all of them exist before the first
// byte is written.
type pprofWriter struct {
	p       *trie.Profile // canonical
	values  []pprofValue
	w       *bufio.Writer // keeps the first error
	ids     []uint64      // of locations and functions, by FrameID; 0 for those that are not called
	numbers map[string]uint64
	texts   []string // by number
}

// writePprof writes the equivalent of pprofProfile(p, o, values).WriteUncompressed(w).
func writePprof(w io.Writer, p *trie.Profile, o output.Options, values []pprofValue) error {
	p = p.Canonical()
	t := &pprofWriter{
		p: p, values: values, w: bufio.NewWriterSize(w, 1<<16),
		ids:     make([]uint64, len(p.Frames)),
		numbers: map[string]uint64{"": 0}, texts: []string{""},
	}
	last := uint64(0)
	for i, called := range calledFrames(p) {
		if called {
			last++
			t.ids[i] = last
		}
	}
	for _, v := range values {
		t.message(1, t.appendText(t.appendText(nil, 1, v.Type), 2, v.Unit)) // sample_type
	}
	if err := t.samples(); err != nil {
		return err
	}
	t.symbols()
	t.rest(o)
	return t.w.Flush()
}

// samples writes the samples of all groups.
func (t *pprofWriter) samples() error {
	var stack, values, labels, b []byte
	for i := range t.p.Groups {
		g := &t.p.Groups[i]
		labels = labels[:0]
		for _, l := range g.Labels {
			b = t.appendText(t.appendText(b[:0], 1, l.Key), 2, l.Value) // key, str
			labels = appendBytes(labels, 3, b)
		}
		for n, w := range g.Weights.All() {
			if !output.OnTop(w) {
				continue
			}
			stack, values = stack[:0], values[:0]
			for a := range t.p.Stack(n) {
				stack = protowire.AppendVarint(stack, t.ids[t.p.Nodes[a].Frame])
			}
			for _, v := range t.values {
				values = protowire.AppendVarint(values, uint64(v.of(w)))
			}
			b = append(appendBytes(appendBytes(b[:0], 1, stack), 2, values), labels...) // location_id, value
			if err := t.message(2, b); err != nil {                                     // sample
				return err
			}
		}
	}
	return nil
}

// symbols writes the mapping, and a location and a function of the same id for each frame.
func (t *pprofWriter) symbols() {
	b := t.appendText(appendUint(nil, 1, 1), 5, mappingFile(t.p)) // id, filename
	b = appendUint(appendUint(appendUint(b, 7, 1), 8, 1), 9, 1)   // has_functions, _filenames, _line_numbers
	t.message(3, b)                                               // mapping
	var line []byte
	for i, id := range t.ids {
		if id == 0 {
			continue
		}
		f := t.p.FrameOf(trie.FrameID(i))
		line = appendUint(line[:0], 1, id)                             // function_id
		line = appendUint(line, 2, uint64(f.Line))                     // line
		line = appendUint(line, 3, uint64(f.Column))                   // column
		b = appendUint(appendUint(b[:0], 1, id), 2, 1)                 // id, mapping_id
		t.message(4, appendBytes(b, 4, line))                          // location
		b = t.appendText(appendUint(b[:0], 1, id), 2, output.Shown(f)) // id, name
		b = t.appendText(b, 3, output.Shown(f))                        // system_name
		b = t.appendText(b, 4, f.Resource)                             // filename
		t.message(5, appendUint(b, 5, uint64(f.Line)))                 // function, start_line
	}
}

// rest writes the fields of the profile itself, and finally the string table.
func (t *pprofWriter) rest(o output.Options) {
	start, duration := pprofTimes(o)
	b := appendUint(nil, 9, uint64(start))  // time_nanos
	b = appendUint(b, 10, uint64(duration)) // duration_nanos
	for _, c := range coverageComments(t.p) {
		b = t.appendText(b, 13, c) // comment
	}
	t.w.Write(t.appendText(b, 14, t.values[len(t.values)-1].Type)) // default_sample_type
	for _, s := range t.texts {
		b = append(b[:0], s...)
		t.message(6, b) // string_table
	}
}

// message writes b, a message or a text, as a field of the profile. Checking the error is
// worthwhile only where much follows; the end finds it, too.
func (t *pprofWriter) message(field protowire.Number, b []byte) error {
	t.w.Write(protowire.AppendVarint(protowire.AppendTag(t.w.AvailableBuffer(), field, protowire.BytesType),
		uint64(len(b))))
	_, err := t.w.Write(b)
	return err
}

func (t *pprofWriter) appendText(b []byte, field protowire.Number, s string) []byte {
	n, known := t.numbers[s]
	if !known {
		n = uint64(len(t.texts))
		t.numbers[s], t.texts = n, append(t.texts, s)
	}
	return appendUint(b, field, n)
}

// appendUint appends a field with value v. A missing field is 0.
func appendUint(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// appendBytes appends a field with value v: a message, or a list of numbers.
func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
