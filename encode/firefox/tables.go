package firefox

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// geckoTable is a table by columns; only the requested columns are read. A cell that is
// null, or no number, is NaN.
type geckoTable struct {
	columns    map[string][]float64
	weightType string // unit of the weights of samples
}

// rows returns how many rows the table has, by one of its columns.
func (t *geckoTable) rows(column string) int { return len(t.columns[column]) }

// index returns a cell as a row number of another table, or -1.
func (t *geckoTable) index(column string, row int) int {
	c := t.columns[column]
	if row >= len(c) || !(c[row] >= 0 && c[row] < math.MaxInt32) || c[row] != math.Trunc(c[row]) {
		return -1
	}
	return int(c[row])
}

// position returns a cell as a line or a column, or 0.
func (t *geckoTable) position(column string, row int) uint32 {
	return uint32(max(t.index(column, row), 0))
}

// has reports whether a cell has a value. Newer versions have a zero and a missing flag
// where older ones have a null.
func (t *geckoTable) has(flag, row int) bool {
	_, flagged := t.columns["flags"]
	return !flagged || max(t.index("flags", row), 0)&flag != 0
}

// Flags of rows. Each marks a column that has a value.
const (
	frameHasCategory = 1 << 2
	funcHasSource    = 1 << 3
	funcHasLine      = 1 << 4
	funcHasColumn    = 1 << 5
)

// geckoTables are the tables for stacks. Each may be part of each thread, or shared by
// all.
type geckoTables struct {
	strings                     [][]byte
	stack, frame, fn, source    geckoTable
	hasStrings, hasStack, hasFn bool
}

func (d *geckoReader) readTables(t *geckoTables) {
	for d.Object(); d.Key(); {
		d.readTableOf(t)
	}
}

// readTableOf reads the current key's value into t, if it is a table.
func (d *geckoReader) readTableOf(t *geckoTables) {
	switch string(d.Name) {
	case "stringArray", "stringTable":
		t.hasStrings = true
		d.readStrings(t)
	case "stackTable":
		t.hasStack = true
		t.stack = d.table("stackTable", d.lim.Nodes, "frame", "prefix", "prefixOffset", "category")
	case "frameTable":
		t.frame = d.table("frameTable", d.lim.Frames, "flags", "func", "location", "category")
	case "funcTable":
		t.hasFn = true
		t.fn = d.table("funcTable", d.lim.Frames, "flags", "name", "fileName", "source", "lineNumber", "columnNumber")
	case "sources":
		t.source = d.table("sources", d.lim.Frames, "filename")
	default:
		d.Skip()
	}
}

// readStrings reads the texts. They remain parts of the document: most belong to markers
// and may be longer than a name can be.
func (d *geckoReader) readStrings(t *geckoTables) {
	t.strings = nil
	for d.Array(); d.Element(); {
		if d.Null() {
			t.strings = append(t.strings, nil)
			continue
		}
		t.strings = append(t.strings, d.Str())
		if err := input.Check("stringArray", len(t.strings), d.lim.Frames); err != nil {
			d.Stop(err)
		}
	}
}

// table reads the columns of a table with up to most rows. The processed format has an
// array for each column. The Gecko format has an array for each row, and a schema with
// the index of each column in a row.
func (d *geckoReader) table(field string, most int, columns ...string) geckoTable {
	t := geckoTable{columns: map[string][]float64{}}
	if d.Peek() != '{' { // tables of threads can be null where all is shared
		d.Skip()
		return t
	}
	wanted := func() bool { return slices.Contains(columns, string(d.Name)) }
	places := map[int]string{} // of the columns in a row
	rows := -1                 // where they begin
	for d.Object(); d.Key(); {
		switch name := string(d.Name); {
		case name == "schema" && d.Peek() == '{':
			for d.Object(); d.Key(); {
				if name := string(d.Name); !wanted() {
					d.Skip()
				} else if place := d.cell(-1); place >= 0 && place < 100 {
					places[int(place)] = name
				}
			}
		case name == "data" && d.Peek() == '[':
			rows = d.Pos
			d.Skip()
		case name == "weightType":
			t.weightType = d.Text(field+".weightType", d.lim.StringBytes)
		case wanted() && d.Peek() == '[':
			t.columns[name] = d.column(field+"."+name, most)
		default:
			d.Skip()
		}
	}
	if d.Err == nil && rows >= 0 {
		end := d.Pos
		d.Pos = rows
		d.readRows(&t, field, most, places)
		if d.Err == nil {
			d.Pos, d.First = end, false
		}
	}
	return t
}

func (d *geckoReader) column(field string, most int) []float64 {
	var c []float64
	for d.Array(); d.Element(); {
		c = append(c, d.cell(math.NaN()))
		if len(c) > most {
			d.Stop(input.Check(field, len(c), most))
		}
	}
	return c
}

func (d *geckoReader) readRows(t *geckoTable, field string, most int, places map[int]string) {
	columns := make([][]float64, 100)
	n := 0
	for d.Array(); d.Element(); n++ {
		if err := input.Check(field, n+1, most); err != nil {
			d.Stop(err)
			return
		}
		for place := range places { // rows may end early
			columns[place] = append(columns[place], math.NaN())
		}
		d.Array()
		for i := 0; d.Element(); i++ {
			if _, ok := places[i]; ok {
				columns[i][n] = d.cell(math.NaN())
			} else {
				d.Skip()
			}
		}
	}
	for place, name := range places {
		t.columns[name] = columns[place]
	}
}

// geckoStacks are the stacks of checked tables.
type geckoStacks struct {
	frame, prefix []int32 // prefix is the stack of the caller, a smaller number; -1 for none
	idle          []bool
	frames        []trie.Frame
	// node is the node of each stack in the trie of a thread, valid if owner is that thread.
	// Many threads can share the stacks, and each uses few.
	node   []trie.NodeID
	owner  []int32
	thread int32
}

// stacks returns the stacks of the tables of a thread, its own or the shared ones.
func (d *geckoReader) stacks(p *geckoProcess, own *geckoTables) (*geckoStacks, error) {
	sharedOnly := !own.hasStack && !own.hasStrings
	if sharedOnly && d.shared != nil {
		return d.shared, nil
	}
	t := p.tables
	if own.hasStrings {
		t.strings = own.strings
	}
	if own.hasStack {
		t.stack, t.frame = own.stack, own.frame
	}
	if own.hasFn {
		t.fn = own.fn
	}
	frames, err := d.frames(&t)
	if err != nil {
		return nil, err
	}
	s, err := newGeckoStacks(&t, frames, p.idle)
	if sharedOnly {
		d.shared = s
	}
	return s, err
}

func (d *geckoReader) frames(t *geckoTables) ([]trie.Frame, error) {
	var functions []trie.Frame
	column, count := "func", t.fn.rows("name")
	read := d.function
	if _, gecko := t.frame.columns["location"]; gecko {
		column, count, read = "location", len(t.strings), d.location
	}
	functions = make([]trie.Frame, count)
	known := make([]bool, count) // of the texts most are no locations
	frames := make([]trie.Frame, t.frame.rows(column))
	for i := range frames {
		f := t.frame.index(column, i)
		if f < 0 || f >= count {
			return nil, input.Refuse(input.Invalid, fmt.Sprintf("frameTable.%s[%d]", column, i), "not one of %d", count)
		}
		if !known[f] {
			var err error
			if functions[f], err = read(t, f); err != nil {
				return nil, err
			}
			known[f] = true
		}
		frames[i] = functions[f]
	}
	return frames, nil
}

func (d *geckoReader) textOf(t *geckoTables, i int, field string, row int) (string, error) {
	if i < 0 || i >= len(t.strings) {
		return "", input.Refuse(input.Invalid, fmt.Sprintf("%s[%d]", field, row), "not one of %d texts", len(t.strings))
	}
	if n := len(t.strings[i]); n > d.lim.StringBytes {
		return "", input.Refuse(input.TooLarge, fmt.Sprintf("%s[%d]", field, row), "%d bytes, the most is %d", n,
			d.lim.StringBytes)
	}
	return string(t.strings[i]), nil
}

// rootScope is the prefix of the processed format for names of scripts themselves. They
// have no name in the Gecko format.
const rootScope = "(root scope)"

// function returns a function of the processed format.
func (d *geckoReader) function(t *geckoTables, row int) (f trie.Frame, err error) {
	if f.Name, err = d.textOf(t, t.fn.index("name", row), "funcTable.name", row); err != nil {
		return f, err
	}
	file := t.fn.index("fileName", row)
	if source := t.fn.index("source", row); source >= 0 && t.fn.has(funcHasSource, row) {
		if file = t.source.index("filename", source); file < 0 {
			return f, input.Refuse(input.Invalid, fmt.Sprintf("funcTable.source[%d]", row),
				"there is no source %d", source)
		}
	}
	if file >= 0 {
		if f.Resource, err = d.textOf(t, file, "funcTable.fileName", row); err != nil {
			return f, err
		}
	}
	if t.fn.has(funcHasLine, row) {
		f.Line = t.fn.position("lineNumber", row)
	}
	if t.fn.has(funcHasColumn, row) {
		f.Column = t.fn.position("columnNumber", row)
	}
	if f.Name = input.FunctionName(f.Name); f.Resource != "" && strings.HasPrefix(f.Name, rootScope) {
		f.Name = ""
	}
	return f, nil
}

// location returns the function of a location in the Gecko format.
func (d *geckoReader) location(t *geckoTables, row int) (trie.Frame, error) {
	s, err := d.textOf(t, row, "stringTable", row)
	if err != nil {
		return trie.Frame{}, err
	}
	return parseGeckoLocation(s), nil
}

// parseGeckoLocation reads "name (url:line:column)" or, for a script itself,
// "url:line:column". The column may be missing, and the number of the source in brackets
// may follow. Anything else is the name of a label or of native code.
func parseGeckoLocation(s string) trie.Frame {
	text := s
	if i := strings.LastIndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") && strings.Trim(s[i+1:len(s)-1],
		"0123456789") == "" {
		text = s[:i]
	}
	name, place, ok := input.CutPlace(text)
	if !ok {
		name, place = "", text
	}
	f := input.ParsePlace(place)
	if f.Line == 0 || !ok && !input.IsResource(f.Resource) {
		return trie.Frame{Name: s}
	}
	// Scripts loaded by chrome code are named by their loader and themselves.
	if i := strings.LastIndex(f.Resource, " -> "); i >= 0 {
		f.Resource = f.Resource[i+len(" -> "):]
	}
	f.Name = input.FunctionName(name)
	return f
}

// newGeckoStacks checks the stacks of t. idle is the number of the category Idle.
func newGeckoStacks(t *geckoTables, frames []trie.Frame, idle int) (*geckoStacks, error) {
	n := t.stack.rows("frame")
	s := &geckoStacks{
		frame: make([]int32, n), prefix: make([]int32, n), idle: make([]bool, n),
		frames: frames, node: make([]trie.NodeID, n), owner: make([]int32, n),
	}
	_, offsets := t.stack.columns["prefixOffset"]
	for i := range n {
		frame, prefix := t.stack.index("frame", i), t.stack.index("prefix", i)
		if offset := t.stack.index("prefixOffset", i); offsets && offset != 0 {
			if prefix = i - offset; offset < 0 || prefix < 0 {
				return nil, input.Refuse(input.Invalid, fmt.Sprintf("stackTable.prefixOffset[%d]", i),
					"there is no such stack")
			}
		}
		// Files list callers first, so a prefix that points forward or to itself is
		// invalid.
		if prefix >= i {
			return nil, input.Refuse(input.Invalid, fmt.Sprintf("stackTable.prefix[%d]", i),
				"%d does not come before it", prefix)
		}
		if frame < 0 || frame >= len(frames) {
			return nil, input.Refuse(input.Invalid, fmt.Sprintf("stackTable.frame[%d]", i), "not one of %d frames",
				len(frames))
		}
		s.frame[i], s.prefix[i] = int32(frame), int32(prefix)
		category := t.stack.index("category", i)
		if c := t.frame.index("category", frame); c >= 0 && t.frame.has(frameHasCategory, frame) {
			category = c
		}
		switch {
		case category >= 0:
			s.idle[i] = category == idle
		case prefix >= 0:
			s.idle[i] = s.idle[prefix]
		}
	}
	return s, nil
}
