package folded

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Decode reads folded stacks, see [Encode]. A line is a stack, root first, with its
// frames joined by ";", then white space and a count. Blank lines and comments, which
// begin with "#", are skipped.
//
// The count is interpreted as microseconds of self time, as written by Fieldtrie and tools for
// JavaScript. Files of tools that count samples give correct shares but wrong times, because
// nothing distinguishes their counts from times. Each count with decimals is rounded separately.
// Files that compare two profiles, with a second column or with negative counts, are rejected.
//
// A frame of the form "name (url:line:column)" is split, any other is a name. The
// escapes of [Encode] are decoded if the whole file has no other use of "\", such as
// paths on Windows. Two cases are ambiguous: a name that itself ends like a place, "f
// (a.js:1)", and a URL that ends like one, "x?y:1".
func Decode(data []byte, lim input.Limits) (*trie.Profile, error) {
	d := folded{lim: lim.WithDefaults(), p: trie.NewProfile(), frames: map[string]trie.FrameID{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d.escaped = onlyOurEscapes(data)
	number, stacks, pairs := 0, 0, 0
	for line := range bytes.Lines(data) {
		number++
		stack, count, ok := cutCount(line)
		if !ok && isBlankOrComment(line) {
			continue
		}
		err := error(nil)
		if !ok {
			err = input.Refuse(input.Malformed, "", "not a stack and a count: %.80q", bytes.TrimSpace(line))
		} else {
			err = d.add(stack, count)
		}
		if err != nil {
			return nil, atLine(number, err)
		}
		stacks++
		if _, _, two := cutCount(stack); two {
			pairs++
		}
	}
	if stacks > 0 && pairs == stacks {
		return nil, input.Refuse(input.Invalid, "",
			"two counts to a line: this compares two profiles, give one of them")
	}
	return d.p, nil
}

// atLine prefixes the field of err with the line number of the input. err must be an *input.Error.
func atLine(number int, err error) error {
	e := err.(*input.Error)
	e.Field = strings.TrimSuffix(fmt.Sprintf("line %d: %s", number, e.Field), ": ")
	return e
}

// folded decodes folded stacks.
type folded struct {
	lim     input.Limits
	p       *trie.Profile
	frames  map[string]trie.FrameID // by their texts in the file
	escaped bool                    // "\" begins an escape
	total   int64                   // of all self times, µs
}

func (d *folded) add(stack, count []byte) error {
	if count[0] == '-' {
		return input.Refuse(input.Invalid, "",
			"the count %s is below zero: this compares two profiles, give one of them", count)
	}
	self, err := strconv.ParseFloat(string(count), 64)
	// The largest sum of self times is half of the largest weight, so that no merge
	// with it overflows.
	if err != nil || self > trie.MaxWeight/2 {
		return input.Refuse(input.Invalid, "", "the count %.40s is out of range", count)
	}
	n := trie.Root
	for text := range bytes.SplitSeq(stack, []byte{';'}) {
		frame, err := d.frame(text)
		if err != nil {
			return err
		}
		n = d.p.Child(n, frame)
		if err := input.Check("stacks", len(d.p.Nodes)-1, d.lim.Nodes); err != nil {
			return err
		}
	}
	w := trie.Weight{Self: int64(math.Round(self))}
	if d.total += w.Self; d.total > trie.MaxWeight/2 {
		return input.Refuse(input.Invalid, "", "the sum of the counts is out of range")
	}
	d.p.Add(nil, n, w)
	return nil
}

// frame returns the number of the frame written as text.
func (d *folded) frame(text []byte) (trie.FrameID, error) {
	if id, ok := d.frames[string(text)]; ok {
		return id, nil
	}
	if err := input.Check("frame", len(text), d.lim.StringBytes); err != nil {
		return 0, err
	}
	if err := input.Check("frames", len(d.frames)+1, d.lim.Frames); err != nil {
		return 0, err
	}
	s := strings.ToValidUTF8(string(text), "\ufffd")
	if d.escaped {
		s = unescapeFolded(s)
	}
	id := d.p.Intern(parseLocation(s))
	d.frames[string(text)] = id
	return id, nil
}

// cutCount splits a line into a stack and the text of its count, a decimal number. It
// reports whether the line has that form.
func cutCount(line []byte) (stack, count []byte, ok bool) {
	line = bytes.TrimRight(line, " \t\r\n")
	i := bytes.LastIndexAny(line, " \t")
	if i <= 0 || isComment(line) {
		return nil, nil, false
	}
	count = line[i+1:]
	digits, points := 0, 0
	for _, c := range bytes.TrimPrefix(count, []byte("-")) {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '.':
			points++
		default:
			return nil, nil, false
		}
	}
	return line[:i], count, digits > 0 && points <= 1
}

// isComment reports whether line is a comment. Names of private methods in JavaScript
// begin with "#" too, but with a letter after it.
func isComment(line []byte) bool {
	return len(line) > 1 && line[0] == '#' && strings.IndexByte(" \t!#", line[1]) >= 0
}

// isBlankOrComment reports whether a line without a count may be skipped.
func isBlankOrComment(line []byte) bool {
	return len(bytes.TrimSpace(line)) == 0 || line[0] == '#'
}

// longestEscape is the length of the longest escape, \u{10ffff}.
const longestEscape = 10

// escapeLength returns the length of the escape of [escape] at the beginning of s, and
// its character; 0 if there is none.
func escapeLength(s string) (length int, r rune) {
	switch {
	case len(s) < 2:
	case s[1] == '\\':
		return 2, '\\'
	case s[1] == 'n':
		return 2, '\n'
	case s[1] == 'r':
		return 2, '\r'
	case s[1] == 'x' && len(s) >= 4:
		if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil && (n == ';' || output.IsControl(rune(n))) {
			return 4, rune(n)
		}
	case strings.HasPrefix(s, `\u{`):
		digits, _, ok := strings.Cut(s[3:min(len(s), longestEscape)], "}")
		if n, err := strconv.ParseUint(digits, 16, 32); ok && err == nil && output.IsInvisible(rune(n)) {
			return len(digits) + 4, rune(n)
		}
	}
	return 0, 0
}

// onlyOurEscapes reports whether every "\" in data begins an escape of [escape].
func onlyOurEscapes(data []byte) bool {
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			return true
		}
		length, _ := escapeLength(string(data[i:min(i+longestEscape, len(data))]))
		if length == 0 {
			return false
		}
		data = data[i+length:]
	}
}

// unescapeFolded is the inverse of [escape].
func unescapeFolded(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := strings.IndexByte(s, '\\'); i >= 0; i = strings.IndexByte(s, '\\') {
		length, r := escapeLength(s[i:])
		if length == 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteRune(r)
		s = s[i+length:]
	}
	return b.String() + s
}

// parseLocation is the inverse of [location].
func parseLocation(s string) trie.Frame {
	name, place, ok := input.CutPlace(s)
	if !ok {
		return trie.Frame{Name: input.FunctionName(s)}
	}
	f := input.ParsePlace(place)
	if f.Line == 0 && !input.IsResource(f.Resource) {
		return trie.Frame{Name: input.FunctionName(s)} // such as operator (int)
	}
	f.Name = input.FunctionName(name)
	return f
}

// Detection of folded stacks looks at this many lines, each of up to this many bytes
// except the first.
const (
	foldedLines = 50
	foldedBytes = 64 << 10
)

// Detect reports whether each of the first lines of data is a stack with a count, and
// one of them has several frames or a place. Any text may have numbers at line ends.
func Detect(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	head := data[:min(len(data), foldedBytes)]
	if len(head) < len(data) {
		end := bytes.LastIndexByte(head, '\n') + 1
		if end == 0 { // the first stack is deep
			end = bytes.IndexByte(data, '\n') + 1
		}
		head = data[:end]
	}
	stacks, sure := 0, false
	for line := range bytes.Lines(head) {
		stack, _, ok := cutCount(line)
		if !ok && isBlankOrComment(line) {
			continue
		}
		if !ok || bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
			return false
		}
		sure = sure || bytes.IndexByte(stack, ';') > 0 || parseLocation(string(stack)).Line > 0
		if stacks++; stacks == foldedLines {
			break
		}
	}
	return sure
}
