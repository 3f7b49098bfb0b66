package owner

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// maxName is the maximum length of a text matched by more than one of * and ?, in bytes: no file
// system has longer names.
const maxName = 255

// glob is a text in which * is any text and ? any character; a backslash escapes the next
// character. Most globs have no wildcard, or one star.
type glob struct {
	first, last string // before the first and after the last of * and ?
	between     []rune // from the first wildcard to the last; nil: none, and first is the complete text
}

// Wildcards in glob.between.
const (
	anyText rune = -1
	anyRune rune = -2
)

func newGlob(text string) (glob, error) {
	if text == "" {
		return glob{}, errors.New("an empty path segment (//)")
	}
	if !strings.ContainsAny(text, `*?[\`) {
		return glob{first: text}, nil
	}
	var all []rune
	first, last := -1, -1 // of * and ?
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
			continue
		case c == '[':
			return glob{}, errors.New(`[ ] is not supported; write a literal bracket as \[`)
		case c == '*':
			if n := len(all); n > 0 && all[n-1] == anyText {
				continue
			}
			c = anyText
		case c == '?':
			c = anyRune
		}
		if c < 0 {
			if first < 0 {
				first = len(all)
			}
			last = len(all)
		}
		all = append(all, c)
	}
	switch {
	case escaped:
		return glob{}, errors.New(`a backslash at the end; write a literal backslash as \\`)
	case first < 0:
		return glob{first: string(all)}, nil
	}
	return glob{first: string(all[:first]), last: string(all[last+1:]), between: all[first : last+1]}, nil
}

// all reports whether every text matches.
func (g *glob) all() bool {
	return g.first == "" && g.last == "" && len(g.between) == 1 && g.between[0] == anyText
}

// fits reports whether the pattern matches all of s. A star takes as little as possible, and only
// the last star reached is ever extended.
func (g *glob) fits(s string) bool {
	if g.between == nil {
		return s == g.first
	}
	if len(s) < len(g.first)+len(g.last) || !strings.HasPrefix(s, g.first) || !strings.HasSuffix(s, g.last) {
		return false
	}
	s = s[len(g.first) : len(s)-len(g.last)]
	if len(g.between) == 1 && g.between[0] == anyText {
		return true
	}
	if len(s) > maxName {
		return false
	}
	i, k := 0, 0               // positions in between and in s
	afterStar, resume := -1, 0 // where the last star ended
	for i < len(g.between) || k < len(s) {
		if i < len(g.between) && g.between[i] == anyText {
			i++
			afterStar, resume = i, k
			continue
		}
		if i < len(g.between) && k < len(s) {
			if c, size := utf8.DecodeRuneInString(s[k:]); c == g.between[i] || g.between[i] == anyRune {
				i, k = i+1, k+size
				continue
			}
		}
		if afterStar < 0 || resume == len(s) {
			return false
		}
		_, size := utf8.DecodeRuneInString(s[resume:])
		resume += size
		i, k = afterStar, resume
	}
	return true
}
