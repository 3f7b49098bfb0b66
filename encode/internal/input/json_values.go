package input

import (
	"math"
	"slices"
	"strconv"
)

// Integer reads a whole number of either sign, or a text of one. Anything else, or a
// number out of range, is an error.
func (r *JSON) Integer() int64 {
	if r.Peek() == '"' {
		text := r.Str()
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil && r.Err == nil {
			r.Fail(r.Pos, "%.40q is not a whole number", text)
		}
		return n
	}
	if mantissa, decimals, end := r.Decimal(); end > 0 && decimals == 0 && mantissa <= 1<<53 {
		r.Pos = end
		return int64(mantissa)
	}
	at := r.Pos
	f := r.Float()
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		r.Fail(at, "%v is not a whole number within ±2^53", f)
		return 0
	}
	return int64(f)
}

// LooseFloat reads a number, or a text of one, as some programs write numbers as text.
// Anything else is skipped, and ok is false.
func (r *JSON) LooseFloat() (f float64, ok bool) {
	switch c := r.Peek(); {
	case c == '"':
		f, err := strconv.ParseFloat(string(r.Str()), 64)
		return f, err == nil && !math.IsNaN(f)
	case c == '-' || c-'0' <= 9:
		return r.Float(), true
	}
	r.Skip()
	return 0, false
}

// Text reads a string of up to most bytes, or null as "".
func (r *JSON) Text(field string, most int) string {
	if r.Null() {
		return ""
	}
	s := r.Str()
	if err := Check(field, len(s), most); err != nil {
		r.Stop(err)
		return ""
	}
	return string(s)
}

// Position reads a line or column from 1 up. Anything else, such as null, is 0: files use
// -1 and the like for unknown.
func (r *JSON) Position() uint32 {
	if c := r.Peek(); c != '-' && c-'0' > 9 {
		r.Skip()
		return 0
	}
	n, ok := r.Whole(math.MaxUint32)
	if !ok {
		return 0
	}
	return uint32(n)
}

// HasMember reads a value and reports whether it is an object with a member of one of
// these names. If so, the rest of the object is not read.
func (r *JSON) HasMember(names ...string) bool {
	if r.Peek() != '{' {
		r.Skip()
		return false
	}
	for r.Object(); r.Key(); r.Skip() {
		if slices.Contains(names, string(r.Name)) {
			return true
		}
	}
	return false
}

// FirstHasMember reads a value and reports whether it is an array whose first element is
// an object with a member of one of these names. If so, the rest is not read.
func (r *JSON) FirstHasMember(names ...string) bool {
	if r.Peek() != '[' {
		r.Skip()
		return false
	}
	r.Array()
	for first := true; r.Element(); first = false {
		if !first {
			r.Skip()
		} else if r.HasMember(names...) {
			return true
		}
	}
	return false
}
