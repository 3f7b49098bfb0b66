package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxJSONDepth bounds the depth of values that a [JSON] skips. It is the limit of
// encoding/json.
const maxJSONDepth = 10_000

// JSON reads a JSON document from a byte slice, piece by piece, without building values. It
// exists because traces in JSON are most of the work of a server, and large files most of the
// wait of a user: encoding/json takes more than five times as long, and the fast libraries
// twice as long and several times the memory (docs/diary.md). None of them checks limits
// before the whole document is built.
//
// It accepts exactly the documents that encoding/json accepts. Like it, it replaces each byte
// that is not UTF-8, and each lone half of a surrogate pair, with U+FFFD. The methods read
// the expected next token or value:
//
//	for r.Object(); r.Key(); {
//		switch string(r.Name) {
//		case "list":
//			for r.Array(); r.Element(); {
//				sum += r.Float()
//			}
//		default:
//			r.Skip()
//		}
//	}
//	r.End()
//	return r.Err
//
// The first error sticks. After it every method returns zero or false, so loops end and one
// check at the end is enough.
type JSON struct {
	data  []byte // the document; nil after an error
	Pos   int    // offset of the next byte
	Err   error  // the first error, an *Error
	Ended bool   // the error is that the document ends where it must not
	Name  []byte // the key that was read last; it stays until the next key
	First bool   // no element of the innermost open object or array was read yet
	open  []byte // scratch space of Skip

	// For a streamed document, see [JSON.Stream].
	streamed bool
	src      io.Reader // where the rest is; nil if data holds all that is left
	base     int64     // offset of data[0] in the document
	kept     []byte    // a key that may be overwritten
	copied   *jsonCopy // receives a copy of what is read; nil if not needed
}

// Ahead returns the next bytes, as far as r holds them. They are valid until more is read.
func (r *JSON) Ahead() []byte { return r.data[r.Pos:] }

// Offset returns how many bytes of the document are read.
func (r *JSON) Offset() int64 { return r.base + int64(r.Pos) }

// Reset makes r read data from the beginning. It skips a byte order mark, which some tools
// write although JSON has none.
func (r *JSON) Reset(data []byte) {
	*r = JSON{data: data, open: r.open, kept: r.kept}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		r.Pos = len("\ufeff")
	}
}

// Fail makes the document malformed at the given offset, unless an error came before.
func (r *JSON) Fail(offset int, format string, args ...any) {
	r.Stop(Refuse(Malformed, "", "byte %d: %s", r.base+int64(offset), fmt.Sprintf(format, args...)))
}

// Stop makes err the error of r, unless an error came before.
func (r *JSON) Stop(err error) {
	if r.Err == nil {
		r.Err = err
	}
	r.data, r.Pos, r.src = nil, 0, nil
}

// want fails because the next bytes are not the expected ones.
func (r *JSON) want(what string) {
	if r.Pos >= len(r.data) {
		r.Ended = r.Ended || r.Err == nil
		r.Fail(r.Pos, "the document ends where %s should be", what)
		return
	}
	c, _ := utf8.DecodeRune(r.data[r.Pos:])
	r.Fail(r.Pos, "%q where %s should be", c, what)
}

// at returns the next byte, 0 at the end.
func (r *JSON) at() byte {
	if r.Pos < len(r.data) {
		return r.data[r.Pos]
	}
	return 0
}

// Peek skips white space and returns the byte after it, 0 at the end.
func (r *JSON) Peek() byte {
	if c := r.at(); c > ' ' {
		return c
	}
	return r.peekSpace()
}

func (r *JSON) peekSpace() byte {
	for {
		switch c := r.at(); c {
		case ' ', '\t', '\n', '\r':
			r.Pos++
		case 0:
			if r.Pos < len(r.data) || !r.more(r.Pos) {
				return 0
			}
		default:
			return c
		}
	}
}

// expect reads the byte c. Unless c is a colon, it opens a value.
func (r *JSON) expect(c byte, what string) {
	if r.Peek() != c {
		r.want(what)
		return
	}
	r.Pos++
	r.First = c != ':'
}

// Object reads the beginning of an object.
func (r *JSON) Object() { r.expect('{', "an object") }

// Array reads the beginning of an array.
func (r *JSON) Array() { r.expect('[', "an array") }

// next goes to the next member of the open value, or reads its end.
func (r *JSON) next(end byte, what string) bool {
	c := r.Peek()
	switch {
	case c == end:
		r.Pos++
		r.First = false
		return false
	case r.First:
		r.First = false
		return r.Err == nil
	case c == ',':
		r.Pos++
		return true
	}
	r.want(what)
	return false
}

// Element goes to the next element of the open array. At the end of the array it reads the
// end and returns false.
func (r *JSON) Element() bool { return r.next(']', "a comma or the end of the array") }

// Key reads the next key of the open object into r.Name, and the colon. At the end of the
// object it reads the end and returns false.
func (r *JSON) Key() bool {
	if !r.next('}', "a comma or the end of the object") {
		return false
	}
	if r.Peek() != '"' {
		r.want("a key")
		return false
	}
	r.Name = r.Str()
	if r.at() == ':' {
		r.Pos++
		r.First = false
		return true
	}
	r.expect(':', "a colon")
	return r.Err == nil
}

// End checks that nothing but white space is left.
func (r *JSON) End() {
	if r.Peek(); r.Pos < len(r.data) {
		r.want("the end of the document")
	}
}

// Null reads a null if one comes next.
func (r *JSON) Null() bool {
	if r.Peek() != 'n' {
		return false
	}
	r.literal("null")
	return r.Err == nil
}

// literal reads the word s.
func (r *JSON) literal(s string) {
	for len(r.data)-r.Pos < len(s) && r.more(r.Pos) {
	}
	if !bytes.HasPrefix(r.data[r.Pos:], []byte(s)) {
		r.want(s)
		return
	}
	r.Pos += len(s)
}

// plainByte marks the bytes that stand for themselves in a string.
var plainByte = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// Str reads a string. If possible, the result is part of the document; in a streamed one it
// is valid until more is read.
func (r *JSON) Str() []byte {
	if r.Peek() != '"' {
		r.want("a string")
		return nil
	}
	data, start := r.data, r.Pos+1
	for i := start; i < len(data); i++ {
		if c := data[i]; !plainByte[c] {
			if c != '"' {
				return r.oddString(i - start)
			}
			r.Pos = i + 1
			return data[start:i]
		}
	}
	return r.oddString(len(data) - start)
}

// oddString reads the next string, whose first bytes are plain. Escapes are rare, so
// encoding/json decodes them.
func (r *JSON) oddString(plain int) []byte {
	escaped := false
	n := 1 + plain // how much of the string was looked at, with its quotation mark
	for {
		for ; r.Pos+n < len(r.data) && r.data[r.Pos+n] != '"' && r.data[r.Pos+n] >= ' '; n++ {
			if r.data[r.Pos+n] == '\\' {
				escaped = true
				n++
			}
		}
		if r.Pos+n < len(r.data) || !r.more(r.Pos) {
			break
		}
	}
	start := r.Pos + 1
	r.Pos = min(r.Pos+n, len(r.data))
	if r.at() != '"' {
		r.want("the end of a string")
		return nil
	}
	r.Pos++
	if text := r.data[start : r.Pos-1]; !escaped && utf8.Valid(text) {
		return text
	}
	var s string
	if err := json.Unmarshal(r.data[start-1:r.Pos], &s); err != nil {
		at := start - 1
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at += int(e.Offset) - 1
		}
		r.Fail(at, "%v", err)
	}
	return []byte(s)
}

// Number reads a number and returns its text.
func (r *JSON) Number() []byte {
	_, _, end := r.Decimal()
	if end == 0 {
		end = r.Pos
		for {
			for ; end < len(r.data) && numberByte(r.data[end]); end++ {
			}
			n := end - r.Pos
			if end < len(r.data) {
				break
			}
			more := r.more(r.Pos)
			if end = r.Pos + n; !more {
				break
			}
		}
		if text := r.data[r.Pos:end]; len(text) == 0 {
			r.want("a number")
			return nil
		} else if !json.Valid(text) {
			r.Fail(r.Pos, "%.40q is not a number", text)
			return nil
		}
	}
	text := r.data[r.Pos:end]
	r.Pos = end
	return text
}

func numberByte(c byte) bool {
	return c-'0' <= 9 || c == '-' || c == '+' || c == '.' || c|0x20 == 'e'
}

// Decimal reads ahead over a number without sign or exponent and with at most 19 digits:
// mantissa / 10^decimals. It returns the end of the number, or 0 if the number has another
// form.
func (r *JSON) Decimal() (mantissa uint64, decimals, end int) {
	c := r.Peek()
	data, start, point := r.data, r.Pos, 0
	i := start
	for ; i < len(data); i++ {
		if d := data[i] - '0'; d <= 9 {
			mantissa = mantissa*10 + uint64(d)
		} else if data[i] == '.' && point == 0 && i > start {
			point = i
		} else {
			break
		}
	}
	if i == len(data) && r.src != nil {
		return r.cutDecimal(i - start)
	}
	digits := i - start
	if point > 0 {
		digits, decimals = digits-1, i-point-1
	}
	switch {
	case digits == 0 || digits > 19, // the mantissa may have overflown
		point > 0 && decimals == 0,
		c == '0' && digits > decimals+1, // not JSON
		i < len(data) && data[i]|0x20 == 'e':
		return 0, 0, 0
	}
	return mantissa, decimals, i
}

// cutDecimal is Decimal for a number that may continue beyond the bytes read so far.
func (r *JSON) cutDecimal(n int) (mantissa uint64, decimals, end int) {
	for more := true; more; {
		for more = r.more(r.Pos); r.Pos+n < len(r.data) && numberByte(r.data[r.Pos+n]); n++ {
		}
		more = more && r.Pos+n == len(r.data)
	}
	if r.Err != nil {
		return 0, 0, 0
	}
	return r.Decimal()
}

// powersOfTen are the powers that a float64 represents exactly and Decimal may need.
var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// Float reads a number. A number too large for a float64 becomes an infinity.
func (r *JSON) Float() float64 {
	mantissa, decimals, end := r.Decimal()
	if end > 0 && mantissa <= 1<<53 {
		// The quotient of two numbers that are exact in float64 is rounded once, so it is the
		// float64 nearest to the decimal number.
		r.Pos = end
		return float64(mantissa) / powersOfTen[decimals]
	}
	f, _ := strconv.ParseFloat(string(r.Number()), 64) // its errors: infinity, and those of number
	return f
}

// Whole reads a number and reports whether it is an integer from 0 to most; most may be up to 2^53.
func (r *JSON) Whole(most uint64) (uint64, bool) {
	if mantissa, decimals, end := r.Decimal(); end > 0 && decimals == 0 {
		r.Pos = end
		return mantissa, mantissa <= most
	}
	f := r.Float()
	u := uint64(min(max(f, 0), 1<<53))
	return u, float64(u) == f && u <= most
}

// Skip reads and drops a value of any kind.
func (r *JSON) Skip() {
	if r.streamed {
		r.skipStreamed()
		return
	}
	open := r.open[:0] // the objects and arrays that the value is in; no recursion
	for {
		switch r.Peek() {
		case '{', '[':
			if len(open) == maxJSONDepth {
				r.Fail(r.Pos, "nested deeper than %d", maxJSONDepth)
				return
			}
			open = append(open, r.data[r.Pos])
			r.Pos++
			r.First = true
		case '"':
			r.Str()
		case 't':
			r.literal("true")
		case 'f':
			r.literal("false")
		case 'n':
			r.literal("null")
		default:
			r.Number()
		}
		for len(open) > 0 {
			if open[len(open)-1] == '{' && r.Key() || open[len(open)-1] == '[' && r.Element() {
				break
			}
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			r.open = open
			return
		}
	}
}
