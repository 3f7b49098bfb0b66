package collect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/collect/redact"
)

// PageRules maps paths to pages: /user/8123 becomes /user/:id. The zero value has only the built-in
// rule, which replaces segments that look like identifiers.
type PageRules struct {
	patterns [][]string // segments of each rule, first match wins
}

// Names of pages that no path has.
const (
	PageUnknown = "(unknown)" // the trace does not contain the page
	PageOther   = "(other)"   // too many distinct pages this hour
)

// maxPage is the maximum length of a page in bytes, without the mark of a truncated page.
// maxSegments is the maximum number of segments.
const (
	maxPage     = 512
	maxSegments = 32
	cut         = "…"
)

// ParsePageRules parses rules, one a line. A rule is a path whose segments are plain text, ":name"
// (any one segment) or, last, "**" (any rest). A matching path is replaced by the rule itself.
// Empty lines and lines that begin with # are skipped. The built-in rule applies to paths that
// match no other rule.
func ParsePageRules(r io.Reader) (PageRules, error) {
	var rules PageRules
	err := readRules(r, func(line string) error {
		segments, err := parsePageRule(line)
		rules.patterns = append(rules.patterns, segments)
		return err
	})
	if err != nil {
		return PageRules{}, err
	}
	return rules, nil
}

// maxMistakes is the maximum number of errors reported for a file of rules.
const maxMistakes = 50

// readRules calls rule with each line of r that is neither empty nor a comment, and returns all
// errors, joined.
func readRules(r io.Reader, rule func(line string) error) error {
	lines := bufio.NewScanner(r)
	var wrong []error
	n := 1
	for ; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		if err := rule(line); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %.200q %w", n, line, err))
		}
		if len(wrong) == maxMistakes {
			return errors.Join(append(wrong, errors.New("there are more errors"))...)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		wrong = append(wrong, fmt.Errorf("line %d: over %d bytes", n, bufio.MaxScanTokenSize))
	case err != nil:
		wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
	}
	return errors.Join(wrong...)
}

func parsePageRule(line string) ([]string, error) {
	if line[0] != '/' {
		return nil, fmt.Errorf("is not a path such as /user/:id")
	}
	// Rules are compared with decoded paths, so an encoded rule would never match.
	if path := pathOf(line); path != line {
		return nil, fmt.Errorf(
			"never matches: paths are compared without query, fragment, parameters and percent-encoding")
	}
	segments := segmentsOf(line)
	if len(line) > maxPage || len(segments) > maxSegments {
		return nil, fmt.Errorf("is too long: pages have up to %d bytes and %d segments", maxPage, maxSegments)
	}
	for i, s := range segments {
		switch {
		case s == "**" && i < len(segments)-1:
			return nil, fmt.Errorf("has ** before its end")
		case s == ":":
			return nil, fmt.Errorf("has a colon without a name")
		case s != "**" && strings.Contains(s, "*"):
			return nil, fmt.Errorf("has a star in %q: use :name for one segment, ** for the rest", s)
		}
	}
	return segments, nil
}

// Page returns the page of a path or URL. It drops origin, query and fragment. It is idempotent:
// the page of a page is the page itself.
func (r PageRules) Page(path string) string { return r.page(path, new(redact.Redactor)) }

// page is like Page, with the redactor of a trace.
func (r PageRules) page(path string, texts *redact.Redactor) string {
	if path == PageUnknown || path == PageOther {
		return path
	}
	path = pathOf(path)
	if path == "" {
		return PageUnknown
	}
	segments := segmentsOf(path)
	if len(segments) > maxSegments {
		segments = append(segments[:maxSegments:maxSegments], cut)
	}
	for range 2 { // the second time for truncated paths
		if rule, ok := r.rule(segments); ok {
			return pageOf(rule)
		}
		// In this order: the name may be longer than the identifier.
		nameIdentifiers(texts, segments)
		segments = shorten(segments)
	}
	return pageOf(segments)
}

// nameIdentifiers replaces segments that look like identifiers.
func nameIdentifiers(r *redact.Redactor, segments []string) {
	for i, s := range segments {
		if r.Identifier(s) {
			segments[i] = ":id"
		}
	}
}

// rule returns the first rule that segments match, or that they are equal to.
func (r PageRules) rule(segments []string) ([]string, bool) {
	if slices.ContainsFunc(r.patterns, func(p []string) bool { return slices.Equal(p, segments) }) {
		return segments, true
	}
	for _, p := range r.patterns {
		if fits(p, segments) {
			return p, true
		}
	}
	return nil, false
}

// shorten truncates a path that is longer than a page may be.
func shorten(segments []string) []string {
	page := pageOf(segments)
	if len(page) <= maxPage {
		return segments
	}
	page = page[:maxPage]
	for !utf8.ValidString(page) {
		page = page[:len(page)-1]
	}
	segments = segmentsOf(page)
	segments[len(segments)-1] += cut
	return segments
}

func pageOf(segments []string) string { return "/" + strings.Join(segments, "/") }

// segmentsOf returns the non-empty segments of a path.
func segmentsOf(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// pathOf returns the path of a URL or path, fully decoded and without the parameters of its
// segments (/feed;session=1), which are like a query.
func pathOf(s string) string {
	s = strings.Map(func(r rune) rune { // this replaces invalid UTF-8 by RuneError, too
		switch {
		case unicode.IsControl(r):
			return utf8.RuneError
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1 // direction marks, zero widths and other invisible characters
		}
		return r
	}, redact.Unescape(s))
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok && !strings.Contains(scheme, "/") {
		_, path, _ := strings.Cut(rest, "/")
		s = "/" + path
	}
	if strings.Contains(s, ";") {
		segments := strings.Split(s, "/")
		for i := range segments {
			segments[i], _, _ = strings.Cut(segments[i], ";")
		}
		s = strings.Join(segments, "/")
	}
	return s
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
