package outline

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// nameOf returns the name in a word, string or number of the text.
func nameOf(source string) string {
	if source == "" {
		return ""
	}
	switch first := source[0]; {
	case first == '"' || first == '\'':
		source = source[1:]
		if n := len(source); n > 0 && source[n-1] == first {
			source = source[:n-1]
		}
	case first == '.' || '0' <= first && first <= '9':
		return numberName(source)
	}
	if strings.IndexByte(source, '\\') >= 0 {
		return unescape(source)
	}
	return source
}

// numberName returns a number as JavaScript prints it as a key: 0x10 is 16.
func numberName(source string) string {
	plain := source[0] != '0' || len(source) == 1
	for i := 0; plain && i < len(source); i++ {
		plain = '0' <= source[i] && source[i] <= '9'
	}
	if plain && len(source) < 16 {
		return source
	}
	digits := strings.ReplaceAll(strings.TrimSuffix(source, "n"), "_", "")
	value, err := strconv.ParseFloat(digits, 64)
	if n, e := strconv.ParseUint(digits, 0, 64); e == nil {
		value, err = float64(n), nil
	}
	if err != nil {
		return source
	}
	if value != 0 && (value < 1e-6 || value >= 1e21) {
		return strings.Replace(strconv.FormatFloat(value, 'e', -1, 64), "e-0", "e-", 1)
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// unescape replaces the escapes of a string or word.
func unescape(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); {
		if source[i] != '\\' || i+1 == len(source) {
			b.WriteByte(source[i])
			i++
			continue
		}
		r, size := escape(source[i:])
		if utf16.IsSurrogate(r) && strings.HasPrefix(source[i+size:], `\`) {
			low, lowSize := escape(source[i+size:])
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r, size = pair, size+lowSize
			}
		}
		if r >= 0 {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// escape returns the character of an escape, -1 for none, and its length.
func escape(s string) (r rune, size int) {
	if len(s) < 2 {
		return '\\', len(s)
	}
	switch s[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'v':
		return '\v', 2
	case 'f':
		return '\f', 2
	case '0':
		return 0, 2
	case '\n': // the line goes on
		return -1, 2
	case '\r':
		if strings.HasPrefix(s[2:], "\n") {
			return -1, 3
		}
		return -1, 2
	case 'x':
		return hexadecimal(s, 2, 4)
	case 'u':
		if end := strings.IndexByte(s, '}'); strings.HasPrefix(s[2:], "{") && end >= 0 {
			r, _ = hexadecimal(s, 3, end)
			return r, end + 1
		}
		return hexadecimal(s, 2, 6)
	}
	r, size = utf8.DecodeRuneInString(s[1:])
	return r, 1 + size
}

// hexadecimal returns the character with the number s[start:end], and the end.
func hexadecimal(s string, start, end int) (r rune, size int) {
	if end > len(s) {
		return utf8.RuneError, len(s)
	}
	n, err := strconv.ParseUint(s[start:end], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return utf8.RuneError, end
	}
	return rune(n), end
}
