package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxJSONDepth is how deep the values may be nested that a [jsonReader] skips. It is
// the limit of encoding/json.
const maxJSONDepth = 10_000

// jsonReader reads a JSON document from a byte slice, piece by piece, and builds
// nothing of it. It exists because traces in JSON are the most work that a server has, and
// large files the most that a user waits for: encoding/json takes more than five times as
// long, and the fast libraries twice as long and several times the memory
// (docs/benchmarks.md); none of them checks a limit before it has built the document.
//
// It accepts exactly what encoding/json accepts, and like it puts U+FFFD in the place
// of each byte that is not UTF-8 and of each lone half of a surrogate pair. The methods read
// what must come next:
//
//	for r.object(); r.key(); {
//		switch string(r.name) {
//		case "list":
//			for r.array(); r.element(); {
//				sum += r.float()
//			}
//		default:
//			r.skip()
//		}
//	}
//	r.end()
//	return r.err
//
// The first error sticks. After it every method returns zero or false, so that loops
// end and one check at the end is enough.
type jsonReader struct {
	data  []byte // the document; nil after an error
	pos   int    // offset of the next byte
	err   error  // the first error, an *Error
	ended bool   // the error is that the document ends where it must not
	name  []byte // the key that was read last; it stays until the next key
	first bool   // nothing of the innermost open object or array was read yet
	open  []byte // scratch space of skip

	// For a document that is read as it comes, see [jsonReader.stream].
	streamed bool
	src      io.Reader // where the rest is; nil if data holds all that is left
	base     int64     // offset of data[0] in the document
	kept     []byte    // a key that may be overwritten
}

// reset makes r read data from its beginning. It passes over a byte order mark, which
// some tools write although JSON has none.
func (r *jsonReader) reset(data []byte) {
	*r = jsonReader{data: data, open: r.open, kept: r.kept}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		r.pos = len("\ufeff")
	}
}

// fail makes the document malformed at the given offset, unless an error came before.
func (r *jsonReader) fail(offset int, format string, args ...any) {
	r.stop(refuse(Malformed, "", "byte %d: %s", r.base+int64(offset), fmt.Sprintf(format, args...)))
}

// stop makes err the error of r, unless an error came before.
func (r *jsonReader) stop(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data, r.pos, r.src = nil, 0, nil
}

// want fails because what comes next is not what is wanted.
func (r *jsonReader) want(what string) {
	if r.pos >= len(r.data) {
		r.ended = r.ended || r.err == nil
		r.fail(r.pos, "the document ends where %s should be", what)
		return
	}
	c, _ := utf8.DecodeRune(r.data[r.pos:])
	r.fail(r.pos, "%q where %s should be", c, what)
}

// at returns the next byte, 0 at the end.
func (r *jsonReader) at() byte {
	if r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

// peek passes over white space and returns the byte after it, 0 at the end.
func (r *jsonReader) peek() byte {
	if c := r.at(); c > ' ' {
		return c
	}
	return r.peekSpace()
}

func (r *jsonReader) peekSpace() byte {
	for {
		switch c := r.at(); c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		case 0:
			if r.pos < len(r.data) || !r.more(r.pos) {
				return 0
			}
		default:
			return c
		}
	}
}

// expect reads the byte c, which opens something unless it is a colon.
func (r *jsonReader) expect(c byte, what string) {
	if r.peek() != c {
		r.want(what)
		return
	}
	r.pos++
	r.first = c != ':'
}

// object reads the beginning of an object.
func (r *jsonReader) object() { r.expect('{', "an object") }

// array reads the beginning of an array.
func (r *jsonReader) array() { r.expect('[', "an array") }

// next goes to the next member of what is open, or reads the end of it.
func (r *jsonReader) next(end byte, what string) bool {
	c := r.peek()
	switch {
	case c == end:
		r.pos++
		r.first = false
		return false
	case r.first:
		r.first = false
		return r.err == nil
	case c == ',':
		r.pos++
		return true
	}
	r.want(what)
	return false
}

// element goes to the next element of the array that is open. It returns false at the
// end of the array, which it reads.
func (r *jsonReader) element() bool { return r.next(']', "a comma or the end of the array") }

// key reads the next key of the object that is open into r.name, and the colon. It
// returns false at the end of the object, which it reads.
func (r *jsonReader) key() bool {
	if !r.next('}', "a comma or the end of the object") {
		return false
	}
	if r.peek() != '"' {
		r.want("a key")
		return false
	}
	r.name = r.str()
	if r.at() == ':' {
		r.pos++
		r.first = false
		return true
	}
	r.expect(':', "a colon")
	return r.err == nil
}

// end checks that nothing but white space is left.
func (r *jsonReader) end() {
	if r.peek(); r.pos < len(r.data) {
		r.want("the end of the document")
	}
}

// null reads a null if one comes next.
func (r *jsonReader) null() bool {
	if r.peek() != 'n' {
		return false
	}
	r.literal("null")
	return r.err == nil
}

// literal reads the word s.
func (r *jsonReader) literal(s string) {
	for len(r.data)-r.pos < len(s) && r.more(r.pos) {
	}
	if !bytes.HasPrefix(r.data[r.pos:], []byte(s)) {
		r.want(s)
		return
	}
	r.pos += len(s)
}

// plainByte tells the bytes that stand for themselves in a string.
var plainByte = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// str reads a string. What it returns is a part of the document, where that is possible,
// and of a streamed one good until more is read.
func (r *jsonReader) str() []byte {
	if r.peek() != '"' {
		r.want("a string")
		return nil
	}
	data, start := r.data, r.pos+1
	for i := start; i < len(data); i++ {
		if c := data[i]; !plainByte[c] {
			if c != '"' {
				return r.oddString(i - start)
			}
			r.pos = i + 1
			return data[start:i]
		}
	}
	return r.oddString(len(data) - start)
}

// oddString reads the string that comes next, of which the first bytes are plain. What
// has to be decoded is left to encoding/json, as it is rare.
func (r *jsonReader) oddString(plain int) []byte {
	escaped := false
	n := 1 + plain // how much of the string was looked at, with its quotation mark
	for {
		for ; r.pos+n < len(r.data) && r.data[r.pos+n] != '"' && r.data[r.pos+n] >= ' '; n++ {
			if r.data[r.pos+n] == '\\' {
				escaped = true
				n++
			}
		}
		if r.pos+n < len(r.data) || !r.more(r.pos) {
			break
		}
	}
	start := r.pos + 1
	r.pos = min(r.pos+n, len(r.data))
	if r.at() != '"' {
		r.want("the end of a string")
		return nil
	}
	r.pos++
	if text := r.data[start : r.pos-1]; !escaped && utf8.Valid(text) {
		return text
	}
	var s string
	if err := json.Unmarshal(r.data[start-1:r.pos], &s); err != nil {
		at := start - 1
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at += int(e.Offset) - 1
		}
		r.fail(at, "%v", err)
	}
	return []byte(s)
}

// number reads a number and returns its text.
func (r *jsonReader) number() []byte {
	_, _, end := r.decimal()
	if end == 0 {
		end = r.pos
		for {
			for ; end < len(r.data) && numberByte(r.data[end]); end++ {
			}
			n := end - r.pos
			if end < len(r.data) {
				break
			}
			more := r.more(r.pos)
			if end = r.pos + n; !more {
				break
			}
		}
		if text := r.data[r.pos:end]; len(text) == 0 {
			r.want("a number")
			return nil
		} else if !json.Valid(text) {
			r.fail(r.pos, "%.40q is not a number", text)
			return nil
		}
	}
	text := r.data[r.pos:end]
	r.pos = end
	return text
}

func numberByte(c byte) bool {
	return c-'0' <= 9 || c == '-' || c == '+' || c == '.' || c|0x20 == 'e'
}

// decimal reads ahead over a number without sign, exponent and more than 19 digits:
// mantissa / 10^decimals. It returns where the number ends, or 0 if it is not like that.
func (r *jsonReader) decimal() (mantissa uint64, decimals, end int) {
	c := r.peek()
	data, start, point := r.data, r.pos, 0
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

// cutDecimal does what decimal does for a number of which more may have to be read.
func (r *jsonReader) cutDecimal(n int) (mantissa uint64, decimals, end int) {
	for more := true; more; {
		for more = r.more(r.pos); r.pos+n < len(r.data) && numberByte(r.data[r.pos+n]); n++ {
		}
		more = more && r.pos+n == len(r.data)
	}
	if r.err != nil {
		return 0, 0, 0
	}
	return r.decimal()
}

// powersOfTen are those that a float64 holds exactly and decimal may ask for.
var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// float reads a number. One that is too large for a float64 is an infinity.
func (r *jsonReader) float() float64 {
	mantissa, decimals, end := r.decimal()
	if end > 0 && mantissa <= 1<<53 {
		// The quotient of two numbers that a float64 holds exactly is rounded once, so
		// it is the float64 that is nearest to the decimal number.
		r.pos = end
		return float64(mantissa) / powersOfTen[decimals]
	}
	f, _ := strconv.ParseFloat(string(r.number()), 64) // its errors: infinity, and those of number
	return f
}

// whole reads a number and tells whether it is whole and in the range from 0 to most,
// which may be up to 2^53.
func (r *jsonReader) whole(most uint64) (uint64, bool) {
	if mantissa, decimals, end := r.decimal(); end > 0 && decimals == 0 {
		r.pos = end
		return mantissa, mantissa <= most
	}
	f := r.float()
	u := uint64(min(max(f, 0), 1<<53))
	return u, float64(u) == f && u <= most
}

// skip reads a value of any kind and drops it.
func (r *jsonReader) skip() {
	if r.streamed {
		r.skipStreamed()
		return
	}
	open := r.open[:0] // the objects and arrays that the value is in; no recursion
	for {
		switch r.peek() {
		case '{', '[':
			if len(open) == maxJSONDepth {
				r.fail(r.pos, "nested deeper than %d", maxJSONDepth)
				return
			}
			open = append(open, r.data[r.pos])
			r.pos++
			r.first = true
		case '"':
			r.str()
		case 't':
			r.literal("true")
		case 'f':
			r.literal("false")
		case 'n':
			r.literal("null")
		default:
			r.number()
		}
		for len(open) > 0 {
			if open[len(open)-1] == '{' && r.key() || open[len(open)-1] == '[' && r.element() {
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
