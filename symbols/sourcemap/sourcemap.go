// Package sourcemap reads source maps, which map the places of a generated script to places in its
// original files. It implements ECMA-426, https://tc39.es/ecma426/ (formerly revision 3). Sections
// of index maps become one map. The old names of the keys debugId and ignoreList are accepted, too.
//
// A map is untrusted input, so its content is bounded by [Limits] and fully checked: the result of
// [Read] has its mappings in order and no index out of range.
package sourcemap

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
)

// Map is a source map. Places are lines and columns from 0, columns in UTF-16 units.
type Map struct {
	File    string   // the generated script, as named by the map; or ""
	DebugID string   // in lower case; or ""
	Sources []Source // of all sections, in their order
	Names   []string // of all sections, in their order

	mappings []Mapping
	lines    []int32 // the first mapping of each generated line, and one more at the end
}

// Source is an original file.
type Source struct {
	Name    string // with the sourceRoot of the map; "" for null
	Content []byte // nil if missing; it may share the bytes of the map
	Ignored bool   // third-party code, by the ignoreList of the map
}

// Mapping is the origin of the generated code from one place on.
type Mapping struct {
	Column       int32 // of the generated code
	Source       int32 // index in Sources; -1 if the code has no original
	SourceLine   int32
	SourceColumn int32
	Name         int32 // index in Names; -1 if there is none
}

// Mappings returns all mappings, by generated line and column. Mappings at the same place keep the
// order of the map. The caller must not change them.
func (m *Map) Mappings() []Mapping { return m.mappings }

// Lines returns how many generated lines the map covers. The script may have more.
func (m *Map) Lines() int { return max(0, len(m.lines)-1) }

// Line returns the range in [Map.Mappings] of a generated line: from first to before end. It is
// empty for a line that the map does not cover.
func (m *Map) Line(line int) (first, end int) {
	if line < 0 || line >= m.Lines() {
		return 0, 0
	}
	return int(m.lines[line]), int(m.lines[line+1])
}

// At returns the index in [Map.Mappings] of the last mapping at or before a place in its
// generated line, or -1 if there is none.
func (m *Map) At(line, column int32) int {
	first, end := m.Line(int(line))
	after := sort.Search(end-first, func(i int) bool { return m.mappings[first+i].Column > column })
	if after == 0 {
		return -1
	}
	return first + after - 1
}

// Read reads a map. It skips a byte order mark, and a first line that begins with )]}, with which
// some servers protect JSON. Errors contain the position: the key and index, and the byte of the
// file or of the mappings.
//
// Sections end where the next one begins: later mappings of a section are dropped. Sections that
// refer to another file by URL, and nested sections, are rejected. Columns out of order are sorted.
//
// The map shares the bytes of b, so b must not be changed while the map is in use.
func Read(b []byte, limits Limits) (*Map, error) {
	m, err := read(b, limits.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	return m, nil
}

// Header is the part of a map that describes it, with the fields of [Map].
type Header struct {
	File, DebugID string
}

// ReadHeader reads the header of a map and skips the rest, which takes a fraction of the time and
// almost no memory. The rest may be invalid.
func ReadHeader(b []byte) (Header, error) {
	r := &reader{scanner: scanner{text: b}, limits: DefaultLimits()}
	f := fields{}
	err := r.preface()
	if err == nil {
		err = r.object(aMap, func(key string) error {
			switch key {
			case "file", "debugId", "debug_id":
				return r.field(&f, key)
			}
			return r.skip()
		})
	}
	if err != nil {
		return Header{}, fmt.Errorf("source map: %w", err)
	}
	return Header{f.file, f.id()}, nil
}

func read(b []byte, limits Limits) (*Map, error) {
	r := &reader{scanner: scanner{text: b}, limits: limits}
	if err := r.preface(); err != nil {
		return nil, err
	}
	doc, err := r.document()
	if err != nil {
		return nil, err
	}
	if r.peek() != 0 || r.at < len(b) {
		return nil, fmt.Errorf("byte %d: %s after the end of the map", r.at, r.found())
	}
	return doc.flatten(limits)
}

// preface skips the text allowed before a map.
func (r *reader) preface() error {
	if bytes.HasPrefix(r.text, []byte(byteOrderMark)) {
		r.at = len(byteOrderMark)
	}
	if bytes.HasPrefix(r.text[r.at:], []byte(")]}")) {
		end := bytes.IndexByte(r.text[r.at:], '\n')
		if end < 0 {
			return fmt.Errorf("byte %d: nothing after the line )]}", r.at)
		}
		r.at += end + 1
	}
	switch r.peek() {
	case 0:
		if r.at >= len(r.text) {
			return errors.New("the file is empty")
		}
	case '<':
		return fmt.Errorf("byte %d: an HTML or XML page; did a server respond with it because it has no map?", r.at)
	}
	return nil
}

const byteOrderMark = "\xef\xbb\xbf"
