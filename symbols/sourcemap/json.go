package sourcemap

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON of a known shape without copying it. It validates the values that it returns.
// Skipped values must have balanced quotes and brackets, but may be invalid otherwise.
type scanner struct {
	text []byte
	at   int
}

// peek skips white space and returns the byte after it, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take skips white space and then c, if it comes next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.at >= len(s.text) {
		return false
	}
	s.at++
	return true
}

// null skips null, if it comes next.
func (s *scanner) null() bool {
	if s.peek() != 'n' || !bytes.HasPrefix(s.text[s.at:], []byte("null")) {
		return false
	}
	s.at += len("null")
	return true
}

// unexpected is the error for a value other than wanted.
func (s *scanner) unexpected(wanted string) error {
	found := s.found()
	return fmt.Errorf("byte %d: found %s, want %s", s.at, found, wanted)
}

// found describes the next value, for errors.
func (s *scanner) found() string {
	switch c := s.peek(); {
	case s.at >= len(s.text):
		return "the end of the file"
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c >= '0' && c <= '9' || c == '-':
		return "a number"
	}
	for _, word := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(s.text[s.at:], []byte(word)) {
			return word
		}
	}
	char, _ := utf8.DecodeRune(s.text[s.at:])
	return strconv.QuoteRune(char)
}

// object calls member for each key of an object, with s at the value.
func (s *scanner) object(what string, member func(key string) error) error {
	if !s.take('{') {
		return s.unexpected(what)
	}
	if s.take('}') {
		return nil
	}
	for {
		key, err := s.string("a key")
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.unexpected("a colon")
		}
		if err := member(string(key)); err != nil {
			return err
		}
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.unexpected("a comma or the end of the object")
		}
	}
}

// array calls element for each value of an array, with s at it. Null is an empty array.
func (s *scanner) array(element func(i int) error) error {
	if s.null() {
		return nil
	}
	if !s.take('[') {
		return s.unexpected("an array")
	}
	if s.take(']') {
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return s.unexpected("a comma or the end of the array")
		}
	}
}

// quoted returns the text between the quotes of a string.
func (s *scanner) quoted(what string) ([]byte, error) {
	if !s.take('"') {
		return nil, s.unexpected(what)
	}
	begin := s.at
	for {
		n := bytes.IndexByte(s.text[s.at:], '"')
		if n < 0 {
			return nil, fmt.Errorf("byte %d: unterminated string", begin-1)
		}
		end := s.at + n
		s.at = end + 1
		slashes := 0
		for end-slashes > begin && s.text[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 { // otherwise the last one escapes the quote
			return s.text[begin:end:end], nil
		}
	}
}

// string returns the value of a string. It is a part of the file if it has no escapes.
func (s *scanner) string(what string) ([]byte, error) {
	raw, err := s.quoted(what)
	if err != nil || bytes.IndexByte(raw, '\\') < 0 {
		return raw, err
	}
	value, bad := unescape(raw)
	if bad >= 0 {
		return nil, fmt.Errorf("byte %d: invalid escape", s.at-1-len(raw)+bad)
	}
	return value, nil
}

// unescape returns the value of raw, from [scanner.quoted], or the offset of an invalid escape; bad
// is -1 if all are valid. A surrogate without its other half becomes U+FFFD, which has one UTF-16
// unit as well, so columns stay right.
func unescape(raw []byte) (value []byte, bad int) {
	value = make([]byte, 0, len(raw))
	for at := 0; ; {
		n := bytes.IndexByte(raw[at:], '\\')
		if n < 0 {
			return append(value, raw[at:]...), -1
		}
		value = append(value, raw[at:at+n]...)
		at += n
		if c := unescaped[raw[at+1]]; c != 0 { // raw does not end with an escaping backslash
			value = append(value, c)
			at += 2
			continue
		}
		char, ok := codeUnit(raw[at:])
		if !ok {
			return nil, at
		}
		at += 6
		if utf16.IsSurrogate(char) {
			low, _ := codeUnit(raw[at:])
			if char = utf16.DecodeRune(char, low); char != utf8.RuneError {
				at += 6
			}
		}
		value = utf8.AppendRune(value, char)
	}
}

// unescaped maps the byte after a backslash to its meaning, for escapes of two bytes.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// codeUnit returns the UTF-16 unit of an escape of six bytes, and whether b begins with one.
func codeUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(unit), err == nil
}

// index returns a whole number from 0 to below 1<<31.
func (s *scanner) index(what string) (int32, error) {
	if c := s.peek(); (c < '0' || c > '9') && c != '-' {
		return 0, s.unexpected(what)
	}
	end := s.at
	for end < len(s.text) && bytes.IndexByte([]byte("+-.0123456789Ee"), s.text[end]) >= 0 {
		end++
	}
	digits := s.text[s.at:end]
	n, err := strconv.ParseUint(string(digits), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("byte %d: found %.40s, want %s: a whole number from 0 to 2147483647", s.at, digits, what)
	}
	s.at = end
	return int32(n), nil
}

// skip skips a value. It keeps no stack, so values may be nested to any depth.
func (s *scanner) skip() error {
	if c := s.peek(); c == ',' || c == ':' || c == ']' || c == '}' || s.at >= len(s.text) {
		return s.unexpected("a value")
	}
	begin := s.at
	for depth := 0; s.at < len(s.text); {
		switch s.text[s.at] {
		case '"':
			if _, err := s.quoted(""); err != nil {
				return err
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return nil // the end of the enclosing value
			}
			depth--
			s.at++
		case ',':
			if depth == 0 {
				return nil
			}
			s.at++
			continue
		default:
			s.at++
			continue // of a number or a word, or between values
		}
		if depth == 0 {
			return nil
		}
	}
	return fmt.Errorf("byte %d: unterminated value", begin)
}
