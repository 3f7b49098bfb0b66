package feature

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern string
		fit     string // separated by spaces
		not     string
	}{
		{"search", "search", "searches Search re-search"},
		{"search*", "search searches search.all", "re-search searc"},
		{"*search", "search re-search", "searches"},
		{"*search*", "search re-searches", "seerch"},
		{"a*b*c", "abc a-b-c aabbcc abcbc", "acb ab bc"},
		{"a*a", "aa aba", "a ab"},
		{"ab*ba", "abba abxba", "aba"},
		{"*/app.*.js", "https://x.example/app.1a2b.js /app..js",
			"https://x.example/app.js app.1.js https://x.example/app.1.css"},
		{"*", "a *", ""},
		{"**", "a", ""},
	} {
		g := newGlob(test.pattern)
		for s := range strings.FieldsSeq(test.fit) {
			if !g.fits(s) {
				t.Errorf("%s does not match %s", test.pattern, s)
			}
		}
		for s := range strings.FieldsSeq(test.not) {
			if g.fits(s) {
				t.Errorf("%s fits %s", test.pattern, s)
			}
		}
	}
	if star, a, all := newGlob("*"), newGlob("a*"), newGlob(""); !star.fits("") || a.fits("") || !all.fits("x") {
		t.Error("a star is any text, none too, patterns are not allowed is any text")
	}
}

func TestFitsPage(t *testing.T) {
	for _, test := range []struct {
		pattern, page string
		want          bool
	}{
		{"/checkout", "/checkout", true}, {"/checkout", "/checkout/pay", false}, {"/checkout", "/", false},
		{"/checkout/**", "/checkout", true}, {"/checkout/**", "/checkout/pay/:id", true},
		{"/checkout/**", "/checkouts", false},
		{"/**", "/", true}, {"/**", "/a/b", true}, {"/**", "(unknown)", false}, {"(other)", "(other)", true},
		{"/user/:id", "/user/:id", true}, {"/user/:id", "/user/settings", false},
	} {
		if got := FitsPage(test.pattern, test.page); got != test.want {
			t.Errorf("%s and %s: got %v", test.pattern, test.page, got)
		}
	}
}

func TestNewRulesErrors(t *testing.T) {
	for _, test := range []struct {
		rule Rule
		want string
	}{
		{Rule{Page: "/a"}, "name is missing"},
		{Rule{Name: "a"}, "no condition: set a page"},
		{Rule{Name: "a", Page: "/a", Function: "f"}, "write two rules with this name"},
		{Rule{Name: "a", Page: "a"}, `"a" is not a page such as /feed`},
		{Rule{Name: "a", Page: "/a/**/b"}, "a star is allowed only at the end"},
		{Rule{Name: "a", Page: "/a*"}, "a star is allowed only at the end"},
		{Rule{Name: "a", Package: "@babel/*"}, "patterns are not allowed"},
		{Rule{Name: "a\x00", Page: "/a"}, "control characters"},
		{Rule{Name: strings.Repeat("a", 501), Page: "/a"}, "over 500 bytes"},
	} {
		if _, err := NewRules([]Rule{test.rule}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %s", test.rule, err, test.want)
		}
	}
	var many []Rule
	for i := range MaxFeatures + 1 {
		many = append(many, Rule{Name: string(rune('Ā' + i)), Page: "/a"})
	}
	if _, err := NewRules(many); err == nil || !strings.Contains(err.Error(), "over 64 features") {
		t.Errorf("many features: %v", err)
	}
	if _, err := NewRules(make([]Rule, MaxRules+1)); err == nil || !strings.Contains(err.Error(), "the most is 200") {
		t.Errorf("many rules: %v", err)
	}
	if n := (Rules{}).Apply(&trie.Trace{Trie: *trie.New()}, Bounds{}); n != 0 {
		t.Errorf("no rules: %d skipped", n)
	}
}
