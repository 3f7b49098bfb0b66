package input

import (
	"bytes"
	"errors"
	"io"
)

// jsonWindow is how much of a streamed document is buffered, unless a string is longer.
const jsonWindow = 256 << 10

// maxJSONString bounds a string that is read, not skipped, from a streamed document.
const maxJSONString = 64 << 20

// Stream makes r read a document from src as it arrives, so a file of any size takes little
// memory. Results of r are valid until more is read. Of skipped values, only the end is
// checked.
func (r *JSON) Stream(src io.Reader) {
	*r = JSON{open: r.open, kept: r.kept, streamed: true, src: src}
	for len(r.data) < len("\ufeff") && r.more(0) {
	}
	if bytes.HasPrefix(r.data, []byte("\ufeff")) {
		r.Pos = len("\ufeff")
	}
}

// more reads more of the document and forgets everything before the offset from, so offsets
// shrink by from. It returns false at the end of the document.
func (r *JSON) more(from int) bool {
	if r.src == nil {
		return false
	}
	rest := r.data[from:]
	if len(rest) > maxJSONString {
		r.Stop(Refuse(TooLarge, "", "byte %d: a string of over %d bytes", r.base+int64(from), maxJSONString))
		return false
	}
	if len(r.Name) > 0 { // it is in the part that is overwritten
		r.kept = append(r.kept[:0], r.Name...)
		r.Name = r.kept
	}
	if r.copied != nil {
		r.copied.add(r.data[r.copied.from:from])
		r.copied.from = 0
	}
	buffer := r.data[:0]
	if cap(buffer) < 2*len(rest) || cap(buffer) < jsonWindow {
		buffer = make([]byte, 0, max(jsonWindow, 4*len(rest)))
	}
	buffer = append(buffer, rest...) // moved to the front
	r.base += int64(from)
	r.Pos -= from
	for {
		n, err := r.src.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		r.data = buffer
		switch {
		case errors.Is(err, io.EOF):
			r.src = nil
			return n > 0
		case err != nil:
			r.Stop(err)
			return false
		case n > 0:
			return true
		}
	}
}

// jsonCopy collects the text of a value while it is skipped.
type jsonCopy struct {
	text []byte
	from int // where in the window the rest of the value begins
	room int // how many bytes more are taken
	over bool
}

func (c *jsonCopy) add(text []byte) {
	if c.over = c.over || len(text) > c.room; !c.over {
		c.text, c.room = append(c.text, text...), c.room-len(text)
	}
}

// AppendValue reads a value of any kind and appends its text to a slice, unchanged. It is
// checked as little as in [JSON.Skip]. A value of more than most bytes is skipped; then whole
// is false and the slice unchanged.
func (r *JSON) AppendValue(to []byte, most int) (value []byte, whole bool) {
	r.Peek()
	c := &jsonCopy{text: to, from: r.Pos, room: most}
	r.copied = c
	r.Skip()
	r.copied = nil
	if r.Err != nil {
		return to, false
	}
	if c.add(r.data[c.from:r.Pos]); c.over {
		return c.text[:len(to)], false
	}
	return c.text, true
}

// structural marks the bytes that skipStreamed must look at.
var structural = func() (t [256]bool) {
	for _, c := range []byte(`{}[]"`) {
		t[c] = true
	}
	return t
}()

// skipStreamed skips a value. Most of a trace are unused arguments, so it looks only at
// strings and brackets.
func (r *JSON) skipStreamed() {
	switch r.Peek() {
	case '{', '[':
	case '"':
		r.Pos++
		r.skipString()
		return
	case 't':
		r.literal("true")
		return
	case 'f':
		r.literal("false")
		return
	case 'n':
		r.literal("null")
		return
	default:
		r.Number()
		return
	}
	depth := 0
	for {
		data := r.data
		i := r.Pos
		for i < len(data) && !structural[data[i]] {
			i++
		}
		if r.Pos = i; i == len(data) {
			if !r.more(i) {
				r.want("the end of a value")
				return
			}
			continue
		}
		r.Pos++
		switch data[i] {
		case '"':
			if r.skipString(); r.Err != nil {
				return
			}
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				r.First = false
				return
			}
		}
	}
}

// skipString skips the rest of a string, which may be longer than memory.
func (r *JSON) skipString() {
	for {
		i := bytes.IndexByte(r.data[r.Pos:], '"')
		if i < 0 {
			// A backslash at the end escapes the next byte.
			odd := trailingBackslashes(r.data[r.Pos:]) % 2
			if r.Pos = len(r.data) - odd; !r.more(r.Pos) {
				r.want("the end of a string")
				return
			}
			continue
		}
		escaped := trailingBackslashes(r.data[r.Pos:r.Pos+i])%2 == 1
		if r.Pos += i + 1; !escaped {
			return
		}
	}
}

func trailingBackslashes(s []byte) int {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n
}
