package selection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Op is how the value of a label is compared.
type Op string

// The operators of matchers, those of Prometheus. Regular expressions are RE2 and match
// the whole value.
const (
	Equal     Op = "="
	NotEqual  Op = "!="
	Matches   Op = "=~"
	MatchesNo Op = "!~"
)

// maxPattern bounds a regular expression, in bytes.
const maxPattern = 1000

// Matcher is a condition on a label. The keys page and feature are those of the time
// itself, release and environment those of the context. A label that is missing has the
// value "". As time may have several features, those that are negative say that none of
// them is like that.
type Matcher struct {
	Key   string
	Op    Op
	Value string
	re    *regexp.Regexp // of Matches and MatchesNo

	literal string // the only value that re matches, if there is one
	isOne   bool
}

// NewMatcher returns a Matcher. Its errors are about the key, operator or expression.
func NewMatcher(key string, op Op, value string) (Matcher, error) {
	m := Matcher{Key: key, Op: op, Value: value}
	if key == "" {
		return m, fmt.Errorf("the label before %s%s has no name", op, value)
	}
	switch op {
	case Equal, NotEqual:
	case Matches, MatchesNo:
		if len(value) > maxPattern {
			return m, fmt.Errorf("the regular expression for %s has %d bytes, the most is %d", key, len(value), maxPattern)
		}
		bare, err := regexp.Compile(value) // without what is put around it
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

// ParseMatcher reads KEY=VALUE, KEY!=VALUE, KEY=~EXPRESSION or KEY!~EXPRESSION. An empty
// value is that of a label that is missing.
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

// String returns m as ParseMatcher reads it.
func (m Matcher) String() string { return m.Key + string(m.Op) + m.Value }

// Positive reports whether m asks for values, and does not rule some out.
func (m Matcher) Positive() bool { return m.Op == Equal || m.Op == Matches }

// is reports whether value is what m compares with, whatever it says of that.
func (m Matcher) is(value string) bool {
	if m.re != nil {
		return m.re.MatchString(value)
	}
	return value == m.Value
}

// Takes reports whether m holds for time with one value of the label.
func (m Matcher) Takes(value string) bool { return m.is(value) == m.Positive() }

// only returns the value that m asks for, if there is but one.
func (m Matcher) only() (string, bool) {
	switch m.Op {
	case Equal:
		return m.Value, true
	case Matches:
		return m.literal, m.isOne
	}
	return "", false
}

// takesAny reports whether m holds for time with all of these values; none is "".
func (m Matcher) takesAny(values []string) bool {
	if len(values) == 0 {
		return m.Takes("")
	}
	return slices.ContainsFunc(values, m.is) == m.Positive()
}
