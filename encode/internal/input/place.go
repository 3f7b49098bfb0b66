package input

import (
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// FunctionName returns s, or "" if s is one of the names that browsers give anonymous functions.
func FunctionName(s string) string {
	if s == "(anonymous)" || s == "(anonymous function)" {
		return ""
	}
	return s
}

// CutNumber takes ":" and a number off the end of s.
func CutNumber(s string) (rest string, n uint32, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	u, err := strconv.ParseUint(s[i+1:], 10, 32)
	return s[:i], uint32(u), err == nil
}

// ParsePlace reads "url:line:column", "url:line" or "url" as a frame without a name. The
// first number after a scheme and a host is a port.
func ParsePlace(s string) trie.Frame {
	rest, last, ok := cutPositive(s)
	url, line, two := cutPositive(rest)
	switch {
	case ok && two && !isOrigin(url):
		return trie.Frame{Resource: url, Line: line, Column: last}
	case ok && (two || !isOrigin(rest)):
		return trie.Frame{Resource: rest, Line: last}
	}
	return trie.Frame{Resource: s}
}

// CutPlace splits "name (place)". Both a URL and a name may contain parentheses, so it
// looks for the one that matches the last.
func CutPlace(s string) (name, place string, ok bool) {
	if !strings.HasSuffix(s, ")") {
		return "", "", false
	}
	for i, depth := len(s)-1, 0; i > 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			if s[i-1] == ' ' {
				return s[:i-1], s[i+1 : len(s)-1], true
			}
			break
		}
	}
	// The parentheses of the URL do not match. URLs have no spaces, so the place begins
	// at the last " (".
	i := strings.LastIndex(s, " (")
	return s[:max(i, 0)], s[min(i+2, len(s)-1) : len(s)-1], i >= 0
}

// IsResource reports whether s is likely to be the URL or path of a script, and not a
// list of types.
func IsResource(s string) bool {
	return strings.Contains(s, "://") ||
		!strings.ContainsAny(s, " ,") && !strings.Contains(s, "::") && strings.ContainsAny(s, ":/")
}

// isOrigin reports whether s is the scheme and host of a URL that may have a port.
func isOrigin(s string) bool {
	_, host, ok := strings.Cut(s, "://")
	return ok && strings.HasPrefix(s, "http") && host != "" && !strings.ContainsAny(host, "/?#")
}

// cutPositive is [CutNumber] for numbers as programs write them: from 1 up, without
// leading zeros.
func cutPositive(s string) (rest string, n uint32, ok bool) {
	rest, n, ok = CutNumber(s)
	return rest, n, ok && n > 0 && s[len(rest)+1] != '0' && s[len(rest)+1] != '+'
}

// ClampLine returns n as a line or column, or 0 if it is out of range.
func ClampLine(n int64) uint32 {
	if n < 0 || n > 1<<32-1 {
		return 0
	}
	return uint32(n)
}
