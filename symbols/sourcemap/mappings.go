package sourcemap

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// flatten decodes the mappings of a document and its sections into one map. It first counts them,
// so that too many are rejected before memory is allocated.
func (doc *document) flatten(limits Limits) (*Map, error) {
	sections := doc.sections
	if sections == nil {
		sections = []section{{document: *doc}}
	}
	m := &Map{File: doc.file, DebugID: doc.debugID}
	mappings, lines := 0, 0
	for i, s := range sections {
		ends, count := measure(s.mappings)
		mappings += count
		lines = max(lines, int(s.line)+ends+1)
		if mappings > limits.Mappings {
			return nil, doc.in(i, fmt.Errorf("mappings: %w", tooMany(limits.Mappings, "")))
		}
		if int(s.line) > limits.Lines || lines > limits.Lines {
			return nil, doc.in(i, fmt.Errorf("mappings: %w", tooMany(limits.Lines, " lines")))
		}
	}
	m.mappings = make([]Mapping, 0, mappings)
	m.lines = make([]int32, 0, lines+1)
	for i, s := range sections {
		m.open(s.line, s.column)
		if err := m.decode(&s); err != nil {
			return nil, doc.in(i, fmt.Errorf("mappings: %w", err))
		}
		m.Sources = append(m.Sources, s.sources...)
		m.Names = append(m.Names, s.names...)
	}
	m.lines = append(m.lines, int32(len(m.mappings)))
	return m, nil
}

// in adds the number of a section to an error.
func (doc *document) in(section int, err error) error {
	if doc.sections == nil {
		return err
	}
	return fmt.Errorf("sections[%d]: map: %w", section, err)
}

// measure returns how many line ends and how many mappings are encoded in text.
func measure(text []byte) (ends, mappings int) {
	before := uint8(1)
	for _, c := range text {
		separates := digits[c] / separator
		mappings += int(before &^ separates) // a mapping begins here
		before = separates
	}
	return bytes.Count(text, []byte(";")), mappings
}

// open begins a section at a place: it drops mappings of earlier sections beyond the place and
// begins its line. Places must not decrease.
func (m *Map) open(line, column int32) {
	if next := int(line) + 1; next < len(m.lines) {
		m.mappings = m.mappings[:m.lines[next]]
		m.lines = m.lines[:next]
	}
	for len(m.lines) <= int(line) {
		m.lines = append(m.lines, int32(len(m.mappings)))
	}
	first := int(m.lines[line])
	for last := len(m.mappings) - 1; last >= first && m.mappings[last].Column >= column; last-- {
		m.mappings = m.mappings[:last]
	}
}

// Values of bytes that are not digits.
const (
	noDigit   = 0x40
	separator = 0x80
)

// digits has the values of base64 digits. The sixth bit is the continuation bit.
var digits = func() (table [256]uint8) {
	for i := range table {
		table[i] = noDigit
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[c] = uint8(i)
	}
	table[','], table[';'] = separator, separator
	return table
}()

// decode appends the mappings of a section, whose first line is the last one of m.
func (m *Map) decode(s *section) error {
	d := decoder{
		sources: int64(len(s.sources)), firstSource: int32(len(m.Sources)),
		names: int64(len(s.names)), firstName: int32(len(m.Names)),
		begin: int64(s.column),
	}
	text := s.mappings
	first, sorted := len(m.mappings), true // first mapping of the line
	for at := 0; at < len(text); {
		switch text[at] {
		case ',':
			at++
			continue
		case ';':
			m.sort(first, sorted)
			m.lines = append(m.lines, int32(len(m.mappings)))
			first, sorted = len(m.mappings), true
			d.begin, d.column = 0, 0
			at++
			continue
		}
		var field [5]int64
		count, n, err := numbers(text[at:], &field)
		if err != nil {
			return fmt.Errorf("byte %d: %w", at+n, err)
		}
		mapping, err := d.mapping(&field, count)
		if err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		sorted = sorted && field[0] >= 0
		m.mappings = append(m.mappings, mapping)
		at += n
	}
	m.sort(first, sorted)
	return nil
}

// decoder decodes the numbers of mappings, which are differences from the previous mapping.
type decoder struct {
	sources, names         int64 // number of them in the section
	firstSource, firstName int32 // index of the section's first in the map
	begin                  int64 // column at which the section begins

	column, source, line, sourceColumn, name int64
}

func (d *decoder) mapping(field *[5]int64, count int) (Mapping, error) {
	d.column += field[0]
	if d.column < 0 || d.begin+d.column > math.MaxInt32 {
		return Mapping{}, outOfRange("column", d.column)
	}
	mapping := Mapping{Column: int32(d.begin + d.column), Source: -1, Name: -1}
	if count == 1 {
		return mapping, nil
	}
	if count < 4 {
		return Mapping{}, fmt.Errorf("a mapping has %d numbers, want 1, 4 or 5", count)
	}
	d.source += field[1]
	d.line += field[2]
	d.sourceColumn += field[3]
	switch {
	case d.source < 0 || d.source >= d.sources:
		return Mapping{}, fmt.Errorf("source %d, but there are %d", d.source, d.sources)
	case d.line < 0 || d.line > math.MaxInt32:
		return Mapping{}, outOfRange("original line", d.line)
	case d.sourceColumn < 0 || d.sourceColumn > math.MaxInt32:
		return Mapping{}, outOfRange("original column", d.sourceColumn)
	}
	mapping.Source = d.firstSource + int32(d.source)
	mapping.SourceLine, mapping.SourceColumn = int32(d.line), int32(d.sourceColumn)
	if count == 5 {
		if d.name += field[4]; d.name < 0 || d.name >= d.names {
			return Mapping{}, fmt.Errorf("name %d, but there are %d", d.name, d.names)
		}
		mapping.Name = d.firstName + int32(d.name)
	}
	return mapping, nil
}

func outOfRange(what string, value int64) error {
	return fmt.Errorf("%s %d is out of range", what, value)
}

// sort sorts the mappings of a line, from first on, stably by column. It sorts numbers, because
// stable sorting of mappings takes several times as long.
func (m *Map) sort(first int, sorted bool) {
	if sorted {
		return
	}
	line := slices.Clone(m.mappings[first:])
	order := make([]uint64, len(line)) // column and index
	for i, mapping := range line {
		order[i] = uint64(mapping.Column)<<32 | uint64(i)
	}
	slices.Sort(order)
	for i, key := range order {
		m.mappings[first+i] = line[uint32(key)]
	}
}

// numbers reads the numbers of the mapping at the start of text, and returns their count and
// their length in bytes. On an error, n is its position.
func numbers(text []byte, field *[5]int64) (count, n int, err error) {
	for n < len(text) {
		digit := digits[text[n]]
		if digit == separator {
			break
		}
		if count == len(field) {
			return 0, 0, errors.New("a mapping has more than 5 numbers")
		}
		if digit < 0x20 { // most numbers have one digit
			field[count] = signed(uint64(digit))
			n++
		} else {
			value, length, err := number(text[n:])
			if err != nil {
				return 0, n + length, err
			}
			field[count] = value
			n += length
		}
		count++
	}
	return count, n, nil
}

// number returns the base64 VLQ number at the start of text, and its length in bytes. On an
// error, n is its position.
func number(text []byte) (value int64, n int, err error) {
	const bits = 5
	var sum uint64
	for n = range text {
		digit := digits[text[n]]
		if digit == separator {
			break
		}
		if digit == noDigit {
			char, _ := utf8.DecodeRune(text[n:])
			return 0, n, fmt.Errorf("%s is not a base64 digit", strconv.QuoteRune(char))
		}
		sum |= uint64(digit&0x1f) << (bits * n)
		if sum > math.MaxUint32 || n == 32/bits && digit >= 0x20 {
			return 0, n, errors.New("a number of more than 32 bits")
		}
		if digit < 0x20 {
			return signed(sum), n + 1, nil
		}
	}
	return 0, 0, errors.New("a number without its last digit")
}

// signed returns the number whose sign is the lowest bit of u. In ECMA-426, minus zero stands for
// the smallest 32-bit number.
func signed(u uint64) int64 {
	value := int64(u >> 1)
	if u&1 == 0 {
		return value
	}
	if value == 0 {
		return math.MinInt32
	}
	return -value
}
