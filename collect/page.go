package collect

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// PageRules turns paths into pages: /user/8123 becomes /user/:id. The zero value has
// the built-in rule alone, which replaces segments that look like identifiers.
type PageRules struct {
	patterns [][]string // segments of each rule, first match wins
}

// ParsePageRules reads rules, one a line: a path whose segments are plain text, ":name"
// (any one segment) or, last, "**" (any rest). A path that fits becomes the rule itself.
// Empty lines and those that begin with # are skipped. Paths that fit no rule get the
// built-in one.
func ParsePageRules(r io.Reader) (PageRules, error) {
	var rules PageRules
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] != '/' || strings.ContainsAny(line, "?# \t") {
			return PageRules{}, fmt.Errorf("line %d: %q is not a path such as /user/:id", n, line)
		}
		segments := strings.Split(line[1:], "/")
		for i, s := range segments {
			if s == "**" && i < len(segments)-1 {
				return PageRules{}, fmt.Errorf("line %d: %q: ** may only stand at the end", n, line)
			}
		}
		rules.patterns = append(rules.patterns, segments)
	}
	if err := lines.Err(); err != nil {
		return PageRules{}, fmt.Errorf("read page rules: %w", err)
	}
	return rules, nil
}

// Names of pages that no path has.
const (
	PageUnknown = "(unknown)" // the trace does not say
	PageOther   = "(other)"   // too many distinct pages this hour
)

// maxPage is how long a page may be in bytes, and maxSegments how deep.
const (
	maxPage     = 512
	maxSegments = 32
)

// Page returns the page of a path or URL. Query, fragment and origin are dropped.
func (r PageRules) Page(path string) string {
	if path == PageUnknown || path == PageOther {
		return path
	}
	path = pathOf(path)
	if path == "" {
		return PageUnknown
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if len(segments) > maxSegments {
		segments = append(segments[:maxSegments], "…")
	}
	for _, p := range r.patterns {
		if fits(p, segments) {
			return "/" + strings.Join(p, "/")
		}
	}
	for i, s := range segments {
		if identifier(s) {
			segments[i] = ":id"
		}
	}
	page := "/" + strings.Join(segments, "/")
	if len(page) > maxPage {
		page = page[:maxPage]
		for !utf8.ValidString(page) {
			page = page[:len(page)-1]
		}
		page += "…"
	}
	return page
}

// pathOf returns the path of a URL or path, without control characters.
func pathOf(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	if scheme, rest, ok := strings.Cut(s, "://"); ok && !strings.Contains(scheme, "/") {
		_, path, _ := strings.Cut(rest, "/")
		s = "/" + path
	}
	if u, err := url.PathUnescape(s); err == nil && utf8.ValidString(u) {
		s, _, _ = strings.Cut(u, "?")
		s, _, _ = strings.Cut(s, "#")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

func fits(pattern, segments []string) bool {
	for i, p := range pattern {
		switch {
		case p == "**":
			return true
		case i >= len(segments):
			return false
		case !strings.HasPrefix(p, ":") && p != segments[i]:
			return false
		}
	}
	return len(pattern) == len(segments)
}

// What identifiers look like. A name for a page is hardly ever all digits, a long run
// of hexadecimal digits, or a long mixture of letters and digits.
var identifiers = []*regexp.Regexp{
	regexp.MustCompile(`^[0-9]+$`),
	regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`), // UUID
	regexp.MustCompile(`^[^/@\s]+@[^/@\s]+$`),                                    // e-mail address
	regexp.MustCompile(`^eyJ[A-Za-z0-9_.-]+$`),                                   // JSON web token
}

// identifier reports whether a path segment looks like the name of one thing among very
// many.
func identifier(s string) bool {
	for _, x := range identifiers {
		if x.MatchString(s) {
			return true
		}
	}
	if dot := strings.LastIndexByte(s, '.'); dot > 0 { // a file name
		s = s[:dot]
	}
	digits, hex, others := 0, 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			hex++
		case c >= 'g' && c <= 'z', c >= 'G' && c <= 'Z', c == '_':
			others++
		default: // words-with-dashes are names
			return false
		}
	}
	n := digits + hex + others
	return (others == 0 && digits >= 2 && n >= 8) || (digits >= 4 && n >= 16)
}
