package pyroscope

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

// selector is a label selector of PromQL.
type selector struct {
	name     string // what stands before the brace, "" if nothing does
	matchers []selection.Matcher
}

// Bounds of a selector.
const (
	maxSelector = 64 << 10 // bytes
	maxMatchers = 20
)

// parseSelector parses a selector such as {page="/feed",release=~"2026.*"}. A name may precede it,
// which is a profile type in Pyroscope. Values are quoted as in Go, or with ' like ", and names of
// labels may be quoted, too. Errors name the position in bytes, from 1.
func parseSelector(text string) (selector, error) {
	if len(text) > maxSelector {
		return selector{}, fmt.Errorf("label selector: %d bytes, the most is %d", len(text), maxSelector)
	}
	p := selectorParser{text: text}
	s, err := p.selector()
	if err != nil {
		return selector{}, fmt.Errorf("label selector, byte %d: %w", p.at+1, err)
	}
	return s, nil
}

type selectorParser struct {
	text string
	at   int // where the next token begins, or the one that is wrong
}

func (p *selectorParser) selector() (s selector, err error) {
	p.space()
	s.name = p.word(true)
	if p.space(); p.take("{") {
		if s.matchers, err = p.matchers(); err != nil {
			return s, err
		}
	}
	if p.space(); p.at < len(p.text) {
		return s, fmt.Errorf(`%s does not belong there; a selector is {label="value",...}`, p.found())
	}
	return s, nil
}

// matchers reads up to the brace that closes.
func (p *selectorParser) matchers() (all []selection.Matcher, err error) {
	for {
		if p.space(); p.take("}") {
			return all, nil
		}
		if len(all) == maxMatchers {
			return nil, fmt.Errorf("more than %d conditions", maxMatchers)
		}
		m, err := p.matcher()
		if err != nil {
			return nil, err
		}
		all = append(all, m)
		p.space()
		if !p.take(",") && !strings.HasPrefix(p.text[p.at:], "}") {
			return nil, fmt.Errorf("want , or } and not %s", p.found())
		}
	}
}

func (p *selectorParser) matcher() (m selection.Matcher, err error) {
	start := p.at
	key := p.word(false)
	if key == "" {
		if key, err = p.quoted(); err != nil {
			return m, fmt.Errorf("want the name of a label: %w", err)
		}
	}
	p.space()
	op := selection.Op("")
	for _, o := range []selection.Op{selection.Matches, selection.MatchesNo, selection.NotEqual, selection.Equal} {
		if op == "" && p.take(string(o)) {
			op = o
		}
	}
	if op == "" {
		return m, fmt.Errorf("want =, !=, =~ or !~ and not %s", p.found())
	}
	p.space()
	value, err := p.quoted()
	if err != nil {
		return m, err
	}
	if m, err = selection.NewMatcher(key, op, value); err != nil {
		p.at = start
	}
	return m, err
}

// word reads a name, which may be empty and, if colons is set, contain colons.
func (p *selectorParser) word(colons bool) string {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || colons && c == ':'
		if !letter && (p.at == start || c < '0' || '9' < c) {
			break
		}
	}
	return p.text[start:p.at]
}

// quoted reads a text in quotation marks.
func (p *selectorParser) quoted() (string, error) {
	rest := p.text[p.at:]
	if rest == "" || !strings.ContainsRune("\"'`", rune(rest[0])) {
		return "", fmt.Errorf("want a text in quotation marks and not %s", p.found())
	}
	quote := rest[0]
	rest = rest[1:]
	if quote == '`' {
		value, after, ok := strings.Cut(rest, "`")
		if !ok {
			return "", fmt.Errorf("the text does not end")
		}
		p.at = len(p.text) - len(after)
		return value, nil
	}
	var value []byte
	for rest != "" && rest[0] != quote {
		c, multibyte, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			p.at = len(p.text) - len(rest)
			return "", fmt.Errorf("%q is no escape sequence that is known; between ` ` all stands for itself",
				firstRunes(rest, 2))
		}
		if multibyte {
			value = utf8.AppendRune(value, c)
		} else {
			value = append(value, byte(c))
		}
		rest = tail
	}
	if rest == "" {
		return "", fmt.Errorf("the text does not end")
	}
	p.at = len(p.text) - len(rest) + 1
	return string(value), nil
}

func (p *selectorParser) space() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
}

// take reads token if it comes next.
func (p *selectorParser) take(token string) bool {
	ok := strings.HasPrefix(p.text[p.at:], token)
	if ok {
		p.at += len(token)
	}
	return ok
}

// found describes the next input.
func (p *selectorParser) found() string {
	if p.at == len(p.text) {
		return "the end"
	}
	return strconv.Quote(firstRunes(p.text[p.at:], 1))
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end]
}
