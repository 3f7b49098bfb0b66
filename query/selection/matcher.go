package selection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Op is the comparison operator of a matcher.
type Op string

// Operators of matchers, as in Prometheus. Regular expressions are RE2 and match the whole value.
const (
	Equal     Op = "="
	NotEqual  Op = "!="
	Matches   Op = "=~"
	MatchesNo Op = "!~"
)

// maxPattern is the maximum length of a regular expression, in bytes.
const maxPattern = 1000

// Matcher is a condition on a label. The keys page and feature refer to the time itself, release
// and environment to the context. A missing label has the value "". Time may have several features:
// a negative matcher requires that none of them match.
type Matcher struct {
	Key   string
	Op    Op
	Value string
	re    *regexp.Regexp // for Matches and MatchesNo

	literal string // the only value that re matches, if there is one
	isOne   bool
}

// NewMatcher returns a Matcher. It returns an error if the key is empty, the operator unknown, or
// the expression invalid or too long.
func NewMatcher(key string, op Op, value string) (Matcher, error) {
	m := Matcher{Key: key, Op: op, Value: value}
	if key == "" {
		return m, fmt.Errorf("the label before %s%s has no name", op, value)
	}
	switch op {
	case Equal, NotEqual:
	case Matches, MatchesNo:
		if len(value) > maxPattern {
			return m, fmt.Errorf("the regular expression for %s has %d bytes; the maximum is %d", key, len(value),
				maxPattern)
		}
		bare, err := regexp.Compile(value) // for an error message without the added anchors
		if err != nil {
			return m, fmt.Errorf("label %s: %w", key, err)
		}
		m.literal, m.isOne = bare.LiteralPrefix()
		if m.re, err = regexp.Compile("^(?s:" + value + ")$"); err != nil {
			return m, fmt.Errorf("label %s: %w", key, err)
		}
	default:
		return m, fmt.Errorf("label %s: %q is no operator; known are = != =~ !~", key, op)
	}
	return m, nil
}

// ParseMatcher parses KEY=VALUE, KEY!=VALUE, KEY=~EXPRESSION or KEY!~EXPRESSION. An empty value
// matches a missing label.
func ParseMatcher(s string) (Matcher, error) {
	if i := strings.IndexAny(s, "=!"); i > 0 {
		for _, op := range []Op{Matches, NotEqual, MatchesNo, Equal} {
			if value, ok := strings.CutPrefix(s[i:], string(op)); ok {
				return NewMatcher(s[:i], op, value)
			}
		}
	}
	return Matcher{}, fmt.Errorf("label %q is none of KEY=VALUE, KEY!=VALUE, KEY=~EXPRESSION, KEY!~EXPRESSION", s)
}

// String returns m in the syntax of ParseMatcher.
func (m Matcher) String() string { return m.Key + string(m.Op) + m.Value }

// Positive reports whether m includes values, rather than excluding them.
func (m Matcher) Positive() bool { return m.Op == Equal || m.Op == Matches }

// is reports whether value equals or matches the value of m, whether m is negative or not.
func (m Matcher) is(value string) bool {
	if m.re != nil {
		return m.re.MatchString(value)
	}
	return value == m.Value
}

// Takes reports whether m holds for time with one value of the label.
func (m Matcher) Takes(value string) bool { return m.is(value) == m.Positive() }

// only returns the only value that m can match, if there is exactly one.
func (m Matcher) only() (string, bool) {
	switch m.Op {
	case Equal:
		return m.Value, true
	case Matches:
		return m.literal, m.isOne
	}
	return "", false
}

// takesAny reports whether m holds for time with all of these values; no values are equivalent to
// "".
func (m Matcher) takesAny(values []string) bool {
	if len(values) == 0 {
		return m.Takes("")
	}
	return slices.ContainsFunc(values, m.is) == m.Positive()
}
