package selection

import (
	"strings"
	"testing"
)

func TestParseMatcher(t *testing.T) {
	for text, want := range map[string]Matcher{
		"a=b": {Key: "a", Op: Equal, Value: "b"}, "a=b=c": {Key: "a", Op: Equal, Value: "b=c"},
		"a=":   {Key: "a", Op: Equal},
		"a!=b": {Key: "a", Op: NotEqual, Value: "b"}, "a!=~b": {Key: "a", Op: NotEqual, Value: "~b"},
		"a=~b.*": {Key: "a", Op: Matches, Value: "b.*"}, "a!~b|c": {Key: "a", Op: MatchesNo, Value: "b|c"},
	} {
		got, err := ParseMatcher(text)
		if err != nil || got.Key != want.Key || got.Op != want.Op || got.Value != want.Value || got.String() != text {
			t.Errorf("%q: got %+v and %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "none of KEY=VALUE", "a": "none of KEY=VALUE", "=b": "none of KEY=VALUE", "a!b": "none of KEY=VALUE",
		"a=~(":     "missing closing )",
		"a=~b)|(c": "unexpected )", "a=~" + strings.Repeat("x", 1001): "has 1001 bytes; the maximum is 1000",
	} {
		if m, err := ParseMatcher(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %+v and %v, want %s", text, m, err, want)
		}
	}
}

// Regular expressions match whole values.
func TestMatcherTakes(t *testing.T) {
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"a=x", "x", true}, {"a=x", "xx", false}, {"a!=x", "", true}, {"a=~x|y", "y", true}, {"a=~x|y", "xy", false},
		{"a=~x.*", "x\ny", true}, {"a!~x.*", "", true}, {"a=~", "", true}, {"a=~.+", "", false},
	} {
		m, err := ParseMatcher(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Takes(c.value); got != c.want {
			t.Errorf("%s takes %q: %v", c.text, c.value, got)
		}
	}
}

// An expression that matches only one value finds a page as fast as its name.
func TestMatcherOnly(t *testing.T) {
	for _, c := range []struct {
		op    Op
		value string
		only  string
		is    bool
	}{
		{Equal, "/a", "/a", true},
		{Matches, `\/a\.b`, "/a.b", true},
		{Matches, "/a", "/a", true},
		{Matches, "", "", true},
		{Matches, "/a.", "", false},
		{Matches, "(?i:/a)", "", false},
		{Matches, "/a|/b", "", false},
		{Matches, "/a|", "", false},
		{Matches, "^/a$", "/a", true},
		{NotEqual, "/a", "", false},
		{MatchesNo, "/a", "", false},
	} {
		m, err := NewMatcher(KeyPage, c.op, c.value)
		if err != nil {
			t.Fatal(err)
		}
		if only, ok := m.only(); ok != c.is || ok && only != c.only {
			t.Errorf("%s: got %q, %v, want %q, %v", m, only, ok, c.only, c.is)
		}
		for _, v := range []string{"", "/a", "/a.b", "/A", "/b"} {
			if c.is && m.Takes(v) != (v == c.only) {
				t.Errorf("%s takes %q: %v", m, v, m.Takes(v))
			}
		}
	}
}
