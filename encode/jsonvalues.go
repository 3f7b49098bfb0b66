package encode

import (
	"math"
	"slices"
	"strconv"
)

// integer reads a whole number, of either sign, or a text of one. What is no such, or out
// of range, is an error.
func (r *jsonReader) integer() int64 {
	if r.peek() == '"' {
		text := r.str()
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil && r.err == nil {
			r.fail(r.pos, "%.40q is not a whole number", text)
		}
		return n
	}
	if mantissa, decimals, end := r.decimal(); end > 0 && decimals == 0 && mantissa <= 1<<53 {
		r.pos = end
		return int64(mantissa)
	}
	at := r.pos
	f := r.float()
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		r.fail(at, "%v is not a whole number within ±2^53", f)
		return 0
	}
	return int64(f)
}

// looseFloat reads a number, or a text of one, since some programs write numbers so. What
// is neither is passed over, and ok is false.
func (r *jsonReader) looseFloat() (f float64, ok bool) {
	switch c := r.peek(); {
	case c == '"':
		f, err := strconv.ParseFloat(string(r.str()), 64)
		return f, err == nil && !math.IsNaN(f)
	case c == '-' || c-'0' <= 9:
		return r.float(), true
	}
	r.skip()
	return 0, false
}

// text reads a string of up to most bytes, or null as "".
func (r *jsonReader) text(field string, most int) string {
	if r.null() {
		return ""
	}
	s := r.str()
	if err := check(field, len(s), most); err != nil {
		r.stop(err)
		return ""
	}
	return string(s)
}

// position reads a line or column from 1 up. Anything else, such as null, is 0: files
// have -1 and the like for what is not known.
func (r *jsonReader) position() uint32 {
	if c := r.peek(); c != '-' && c-'0' > 9 {
		r.skip()
		return 0
	}
	n, ok := r.whole(math.MaxUint32)
	if !ok {
		return 0
	}
	return uint32(n)
}

// hasMember reads a value, and reports whether it is an object that has a member of one
// of these names. If so, the rest of the object is not read.
func (r *jsonReader) hasMember(names ...string) bool {
	if r.peek() != '{' {
		r.skip()
		return false
	}
	for r.object(); r.key(); r.skip() {
		if slices.Contains(names, string(r.name)) {
			return true
		}
	}
	return false
}

// firstHasMember reads a value, and reports whether it is an array whose first element
// is an object that has a member of one of these names. If so, the rest is not read.
func (r *jsonReader) firstHasMember(names ...string) bool {
	if r.peek() != '[' {
		r.skip()
		return false
	}
	r.array()
	for first := true; r.element(); first = false {
		if !first {
			r.skip()
		} else if r.hasMember(names...) {
			return true
		}
	}
	return false
}
