package collect

import (
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const testSampling = `
# The shop earns the money.
/checkout 0.5
/shop/:item	 0.05
	/blog/** 0
/my page 1
/ 1e-3
/:lang/docs/** 0.25
** 0.1
`

func TestSamplingRules(t *testing.T) {
	rules, err := ParseSamplingRules(strings.NewReader(testSampling))
	if err != nil {
		t.Fatal(err)
	}
	some, err := ParseSamplingRules(strings.NewReader("/a 0.5\n/:x 1\n/a 0"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rules SamplingRules
		page  string
		want  float64
		ok    bool
	}{
		{rules, "/checkout", 0.5, true},
		{rules, "/checkout/done", 0.1, true},
		{rules, "/shop/:item", 0.05, true},
		{rules, "/shop/blue-shoe", 0.05, true},
		{rules, "/shop/**", 0.05, true},
		{rules, "/blog", 0, true},
		{rules, "/blog/a/b/c", 0, true},
		{rules, "/my page", 1, true},
		{rules, "/", 0.001, true},
		{rules, "/de/docs/x", 0.25, true},
		{rules, PageUnknown, 0.1, true},
		{rules, PageOther, 0.1, true},
		{some, "/a", 0.5, true},
		{some, "/b", 1, true},
		{some, "/a/b", 0, false},
		{some, "/", 0, false},
		{some, PageUnknown, 0, false},
		{SamplingRules{}, "/a", 0, false},
	} {
		if got, ok := c.rules.Rate(c.page); got != c.want || ok != c.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", c.page, got, ok, c.want, c.ok)
		}
	}
}

func TestSamplingRuleErrors(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{"/a 0.5\n/shop", `line 2: "/shop" is not a pattern and a rate, such as /shop/:item 0.05`},
		{"0.5", `line 1: "0.5" is not a pattern and a rate`},
		{"/a 2", `line 1: "/a 2" ends with "2", which is not a rate from 0 to 1`},
		{"/a -0.1", `ends with "-0.1"`},
		{"/a -0", `ends with "-0"`},
		{"/a NaN", `ends with "NaN"`},
		{"/a 1e999", `ends with "1e999"`},
		{"/a 5%", `ends with "5%"`},
		{"/a 0,5", `ends with "0,5"`},
		{"/a 0.5 # half", `ends with "half"`},
		{"\n#\nshop 0.5", `line 3: "shop 0.5" is not a path`},
		{"/a* 0.5", `has a star in "a*"`},
		{"/**/a 0.5", `has ** before its end`},
		{"/a?b 0.5", `never matches`},
		{"/" + strings.Repeat("x", maxPage) + " 0.5", `is too long`},
		{"/a 0.5\n/" + strings.Repeat("x", 70_000), `line 2: `},
	} {
		if got, err := ParseSamplingRules(strings.NewReader(c.rules)); err == nil || !strings.Contains(err.Error(),
			c.want) || got.rules != nil {
			t.Errorf("%.40q: got %v, %v, want an error with %q", c.rules, got, err, c.want)
		}
	}
}

// TestRateInAnswer checks the rate in responses, also after the rules were replaced.
func TestRateInAnswer(t *testing.T) {
	rules, err := ParseSamplingRules(strings.NewReader("/user/:id 0.05\n/stop 0\n/all 1\n/tiny 0.0000001"))
	if err != nil {
		t.Fatal(err)
	}
	trace := func(page string) string { return traceJSON(page, `"page":"`+page+`",`) }
	for _, c := range []struct{ body, want string }{
		{trace("/user/8123?x=1"), `"rate":0.05}`},
		{trace("/stop"), `"rate":0}`},
		{trace("/all"), `"rate":1}`},
		{trace("/tiny"), `"rate":1e-7}`},
		{trace("/none"), ""},
		{traceJSON("f", ""), ""},
		{trace("/all") + trace("/stop"), `"rate":0}`},
		{trace("/stop") + trace("/none"), ""},
		{trace("/stop") + "{}", `"rate":0}`},
		{"{}", ""},
	} {
		col, s := newCollector(Options{Sampling: rules, Limits: Limits{Pages: 1}, KnownPages: []string{"/x"}})
		answer := func() string {
			w := httptest.NewRecorder()
			col.ServeHTTP(w, httptest.NewRequest("POST", "/v1/traces", strings.NewReader(c.body)))
			return strings.TrimSpace(w.Body.String())
		}
		if got := answer(); !strings.HasSuffix(got, c.want) || strings.Contains(got, "rate") != (c.want != "") {
			t.Errorf("%s: got %s, want %s", c.body, got, c.want)
		}
		for _, r := range s.records { // the page has no place, but the rate is still its own
			if p := r.Pages[0]; p != PageOther && p != PageUnknown {
				t.Errorf("stored under %q", p)
			}
		}
		col.SetSampling(SamplingRules{})
		if got := answer(); strings.Contains(got, "rate") {
			t.Errorf("%s: without rules: got %s", c.body, got)
		}
	}
}

// TestSteer checks that the rate of a steered page is the lower of rule and bound.
func TestSteer(t *testing.T) {
	rules, err := ParseSamplingRules(strings.NewReader("/a 0.5\n/b 0.01"))
	if err != nil {
		t.Fatal(err)
	}
	col, _ := newCollector(Options{Sampling: rules})
	for _, c := range []struct {
		most map[string]float64
		page string
		want float64
		ok   bool
	}{
		{nil, "/a", 0.5, true},
		{map[string]float64{"/a": 0.1}, "/a", 0.1, true},
		{map[string]float64{"/b": 0.1}, "/b", 0.01, true},
		{map[string]float64{"/b": 0}, "/b", 0, true},
		{map[string]float64{"/c": 0.1}, "/c", 0.1, true},
		{map[string]float64{"/c": 0.1}, "/d", 0, false},
		{map[string]float64{}, "/a", 0.5, true},
	} {
		col.Steer(c.most)
		if got, ok := col.rate(c.page); got != c.want || ok != c.ok {
			t.Errorf("%s with %v: %g, %t, want %g, %t", c.page, c.most, got, ok, c.want, c.ok)
		}
	}
}

// FuzzSamplingRules parses any rules: accepted rules have rates from 0 to 1, and a page used as a
// rule matches itself.
func FuzzSamplingRules(f *testing.F) {
	for _, s := range []string{testSampling, "/a 0.5\n/:x 1", "** 0.1", "/** 0", "/ 1", "/a 2", "/a", "/a b 0x1p-2",
		"/a\t.5", "# x", "/caf\u00e9/:x 1e-300"} {
		f.Add(s, "/a")
	}
	f.Add("/x/** 1", "(unknown)")
	f.Fuzz(func(t *testing.T, text, path string) {
		rules, err := ParseSamplingRules(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		page := PageRules{}.Page(path)
		rate, ok := rules.Rate(page)
		if !(rate >= 0 && rate <= 1) || math.Signbit(rate) || !ok && rate != 0 {
			t.Fatalf("%q: rate %v, %v", page, rate, ok)
		}
		for i, r := range rules.rules { // a page used as a rule has a rate
			first := slices.IndexFunc(rules.rules, func(o samplingRule) bool { return fits(o.pattern, r.pattern) })
			if got, ok := rules.Rate(pageOf(r.pattern)); !ok || first > i || got != rules.rules[first].rate {
				t.Fatalf("%q: rate of rule %d is %v, %v, the first match is %d", text, i, got, ok, first)
			}
		}
	})
}
