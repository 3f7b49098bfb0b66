package sourcemap

import (
	"bytes"
	"slices"
	"sort"
)

// Positions converts between byte offsets of a text and lines and columns as counted by source maps
// and V8: both from 0, columns in UTF-16 units. Lines end after \n, \r, \r\n, U+2028 and U+2029. A
// byte order mark before the text has no column.
//
// The text is UTF-8 of less than 1 GiB. In invalid UTF-8, each byte that can begin a character is
// one character, and other bytes belong to the previous character.
type Positions struct {
	text []byte
	// starts has the offset of each line.
	starts []int32
	// units has, for each block of bytes, the number of UTF-16 units of all characters that begin
	// before it. It is nil for ASCII, where this equals the offset.
	units []int32
	// lineUnits has the same for each line.
	lineUnits []int32
}

// block is the number of bytes per entry of units. Larger blocks make lookups slower, smaller ones
// make the index larger.
const block = 64

// NewPositions returns an index of text, which must not change while the index is in use. The index
// takes 4 bytes for each line. For text that is not ASCII it takes as many again and a sixteenth of
// the text.
func NewPositions(text []byte) *Positions {
	begin := 0
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		begin = len(byteOrderMark)
	}
	p := &Positions{text: text}
	p.starts = append(make([]int32, 0, bytes.Count(text, []byte{'\n'})+1), int32(begin))
	ascii := true
	for i := begin; i < len(text); i++ {
		c := text[i]
		if c > '\r' && c < 0x80 {
			continue
		}
		switch {
		case c >= 0x80:
			ascii = false
			if c != 0xe2 || !isSeparator(text[i:]) {
				continue
			}
			i += 2
		case c == '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
		case c != '\n':
			continue
		}
		p.starts = append(p.starts, int32(i+1))
	}
	if !ascii {
		p.countUnits()
	}
	return p
}

// isSeparator reports whether text begins with U+2028 or U+2029.
func isSeparator(text []byte) bool {
	return len(text) >= 3 && text[0] == 0xe2 && text[1] == 0x80 && text[2]|1 == 0xa9
}

func (p *Positions) countUnits() {
	p.units = make([]int32, 0, len(p.text)/block+1)
	units := int32(0)
	for part := range slices.Chunk(p.text, block) {
		p.units = append(p.units, units)
		for _, c := range part {
			units += width(c)
		}
	}
	if len(p.text)%block == 0 {
		p.units = append(p.units, units) // the block that would begin at the end
	}
	p.lineUnits = make([]int32, len(p.starts))
	for line, start := range p.starts {
		p.lineUnits[line] = p.unitsBefore(int(start))
	}
}

// width returns the number of UTF-16 units of the character that begins with c, or 0 if none
// does.
func width(c byte) int32 {
	switch {
	case c < 0x80:
		return 1
	case c < 0xc0:
		return 0
	case c < 0xf0:
		return 1
	}
	return 2
}

// Lines returns the number of lines: one more than there are line ends.
func (p *Positions) Lines() int { return len(p.starts) }

// Place returns the line and column of the character that begins at offset. An offset within a
// character returns the place after it. Offsets outside the text return its start or end.
func (p *Positions) Place(offset int) (line, column int32) {
	offset = min(max(offset, int(p.starts[0])), len(p.text))
	after, found := slices.BinarySearch(p.starts, int32(offset))
	if !found {
		after--
	}
	start := p.starts[after]
	if p.units == nil {
		return int32(after), int32(offset) - start
	}
	return int32(after), p.unitsBefore(offset) - p.lineUnits[after]
}

// unitsBefore returns the number of UTF-16 units of the characters that begin before offset.
func (p *Positions) unitsBefore(offset int) int32 {
	units := p.units[offset/block]
	for _, c := range p.text[offset/block*block : offset] {
		units += width(c)
	}
	return units
}

// Offset returns the start of the character at a place. A column beyond its line returns the last
// character of the line, its line end, and never the next line; in the last line it returns the end
// of the text. A line beyond the text returns the end of the text. Negative values count as 0.
func (p *Positions) Offset(line, column int32) int {
	line, column = max(line, 0), max(column, 0)
	if int(line) >= len(p.starts) {
		return len(p.text)
	}
	start, last := int(p.starts[line]), p.last(int(line))
	if p.units == nil {
		return start + min(int(column), last-start)
	}
	column = int32(min(int(column), 2*(last-start))) // no byte has more units
	return min(p.character(start, p.lineUnits[line]+column), last)
}

// last returns the start of the last character of a line, or the end of the text for the last
// line.
func (p *Positions) last(line int) int {
	if line+1 == len(p.starts) {
		return len(p.text)
	}
	end := int(p.starts[line+1]) - 1
	if p.text[end] >= 0x80 { // U+2028 or U+2029
		end -= 2
	}
	return end
}

// character returns the start of the character that contains a UTF-16 unit of the text,
// searching from start.
func (p *Positions) character(start int, unit int32) int {
	first := start / block
	after := sort.Search(len(p.units)-first, func(i int) bool { return p.units[first+i] > unit })
	from, units := start, int32(0)
	if k := first + after - 1; after > 0 && k*block > start {
		from, units = k*block, p.units[k]
	} else {
		units = p.unitsBefore(start)
	}
	for i, c := range p.text[from:] {
		if units += width(c); units > unit {
			return from + i
		}
	}
	return len(p.text)
}
