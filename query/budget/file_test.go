package budget

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

const everything = `budgets:
  - name: feed stays fast
    owner: team-feed
    page: /feed
    metric: p75
    limit: 250ms
    min_views: 200
    since: 7d
    hysteresis: 10%
  - {name: search, feature: search, label: [device=mobile-low, release!=r1], metric: reach, limit: 12.5%}
  - name: render
    page: /shop/**
    function: {name: renderFeed, resource: "*/app.*.js"}
    metric: mean
    of: total
    limit: 1.5s
  - {name: long, metric: p95, of: long_tasks, limit: 1m}
  - {name: f, function: f, metric: p50, limit: 1us, hysteresis: 0%}
  - {name: React, code: {package: react-dom}, metric: mean, limit: 30ms}
features:
  - name: checkout
    page: /checkout/**
  - {name: charts, package: chart.js}
  - {name: search, function: "search*", resource: "*/app.*.js"}
`

func TestParse(t *testing.T) {
	f, err := Parse(strings.NewReader(everything))
	if err != nil {
		t.Fatal(err)
	}
	label := func(text string) selection.Matcher {
		m, err := selection.ParseMatcher(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := []Budget{
		{Name: "feed stays fast", Owner: "team-feed", Page: "/feed", Metric: P75, Of: Time, Limit: 250, MinViews: 200,
			Since: "7d", Hysteresis: 0.1, Line: 2},
		{Name: "search", Feature: "search", Where: []selection.Matcher{label("device=mobile-low"),
			label("release!=r1")}, Metric: Reach, Limit: 12.5, MinViews: 100, Since: "24h", Hysteresis: 0.05, Line: 10},
		{Name: "render", Page: "/shop/**", Function: &Function{"renderFeed", "*/app.*.js"}, Metric: Mean, Of: Total,
			Limit: 1500, MinViews: 100, Since: "24h", Hysteresis: 0.05, Line: 11},
		{Name: "long", Metric: P95, Of: LongTasks, Limit: 60000, MinViews: 100, Since: "24h",
			Hysteresis: 0.05, Line: 17},
		{Name: "f", Function: &Function{Name: "f"}, Metric: P50, Of: Self, Limit: 0.001, MinViews: 100,
			Since: "24h", Line: 18},
		{Name: "React", Code: &Code{"package", "react-dom"}, Metric: Mean, Of: Self, Limit: 30, MinViews: 100,
			Since: "24h", Hysteresis: 0.05, Line: 19},
	}
	if !reflect.DeepEqual(f.Budgets, want) {
		t.Errorf("got\n%+v, want\n%+v", f.Budgets, want)
	}
	if reflect.ValueOf(f.Features).IsZero() {
		t.Error("no features")
	}
	status := statusOf(&f.Budgets[2])
	if got := status.What(); got != "mean total of renderFeed on /shop/**" {
		t.Errorf("what: %s", got)
	}
}

// brokenFiles maps invalid files to their errors.
var brokenFiles = []struct{ name, file, want string }{
	{"empty", "", "neither budgets, features, watch nor max_cost"},
	{"watched kind", "watch: {of: [pages]}", `watch: of: "pages" is none of page, feature, function, vital`},
	{"watched page", "watch: {pages: [feed]}", "watch: page"},
	{"watched time", "watch: {min: 3}", `watch: min: "3" is no time such as 2ms`},
	{"watched share", "watch: {min_share: 3}", `watch: min_share: "3" is not a percentage`},
	{"watched views", "watch: {min_views: 3}", "watch: min_views: it is no number from 100 on"},
	{"watched field", "watch: {every: 3h}", "every"},
	{"no list", "budgets: 1", "line 1: budgets is not a list"},
	{"an empty list", "budgets: []", "not a list with at least one entry"},
	{"unknown key", "budgets:\n  - name: a\n    limt: 1ms", `line 3: unknown key "limt"`},
	{"unknown key at the top", "budget: []", `line 1: unknown key "budget"`},
	{"not YAML", "budgets: [", "line 1"},
	{"no name", "budgets:\n  - metric: p75", "line 2: a budget without a name"},
	{"empty name", `budgets: [{name: ""}]`, "name: give it a text"},
	{"long name", `budgets: [{name: ` + strings.Repeat("x", 501) + `}]`, "up to 500 bytes"},
	{"control characters", `budgets: [{name: "a\nb"}]`, "without control characters"},
	{"a name twice", "budgets:\n  - {name: a, metric: p75, limit: 1ms}\n  - {name: a, metric: p50, limit: 1ms}",
		`line 3: a second budget with the name "a"`},
	{"no metric", "budgets: [{name: a, limit: 1ms}]", "metric is missing"},
	{"unknown metric", "budgets: [{name: a, metric: p99, limit: 1ms}]", `metric "p99": known are`},
	{"no limit", "budgets: [{name: a, metric: p75}]", `limit ""`},
	{"a limit without a unit", "budgets: [{name: a, metric: p75, limit: 250}]",
		`limit "250": that of p75 is a duration`},
	{"a negative limit", "budgets: [{name: a, metric: p75, limit: -1ms}]", "is a duration"},
	{"a share of time", "budgets: [{name: a, metric: p75, limit: 5%}]", "is a duration"},
	{"an endless limit", "budgets: [{name: a, metric: p75, limit: 2h}]", "up to an hour"},
	{"reach of nothing", "budgets: [{name: a, metric: reach, limit: 5%}]", "needs a feature or a function"},
	{"reach as time", "budgets: [{name: a, feature: b, metric: reach, limit: 5ms}]", "a percentage such as 12%"},
	{"reach over all", "budgets: [{name: a, feature: b, metric: reach, limit: 101%}]", "a percentage"},
	{"reach of no number", "budgets: [{name: a, feature: b, metric: reach, limit: NaN%}]", "a percentage"},
	{"reach of a kind", "budgets: [{name: a, feature: b, metric: reach, of: time, limit: 1%}]", "leave out of"},
	{"self of a page", "budgets: [{name: a, metric: p75, of: self, limit: 5ms}]", "known are time and long_tasks"},
	{"long tasks of a function", "budgets: [{name: a, function: f, metric: p75, of: long_tasks, limit: 5ms}]",
		"known are self and total"},
	{"a vital of all pages", "budgets: [{name: a, metric: p75, of: inp, limit: 200ms}]", "name one page"},
	{"a vital of pages below", "budgets: [{name: a, page: /a/**, metric: p75, of: lcp, limit: 200ms}]",
		"name one page"},
	{"a vital of a feature", "budgets: [{name: a, page: /a, feature: f, metric: p75, of: inp, limit: 200ms}]",
		"leave out feature"},
	{"the mean of a vital", "budgets: [{name: a, page: /a, metric: mean, of: inp, limit: 200ms}]", "p50, p75 and p95"},
	{"a score with a unit", "budgets: [{name: a, page: /a, metric: p75, of: cls, limit: 100ms}]",
		"a score such as 0.1"},
	{"a vital without a unit", "budgets: [{name: a, page: /a, metric: p75, of: inp, limit: 200}]",
		"a duration such as 200ms"},
	{"a page without a slash", "budgets: [{name: a, page: feed, metric: p75, limit: 5ms}]",
		"is not a page such as /feed"},
	{"a star within a page", "budgets: [{name: a, page: /a/*/b, metric: p75, limit: 5ms}]",
		"a star is allowed only at the end"},
	{"a function without a name", "budgets: [{name: a, function: {resource: x}, metric: p75, limit: 5ms}]",
		"function: it has no name"},
	{"functions", "budgets: [{name: a, function: [x], metric: p75, limit: 5ms}]", "function is not a mapping"},
	{"code and a function", "budgets: [{name: a, function: f, code: {team: x}, metric: mean, limit: 5ms}]",
		"a budget is about one of them"},
	{"code of two kinds", "budgets: [{name: a, code: {team: x, package: y}, metric: mean, limit: 5ms}]",
		"code: give one of owner, team, package, file"},
	{"code of nothing", "budgets: [{name: a, code: {}, metric: mean, limit: 5ms}]", "code: give one of"},
	{"code without a name", `budgets: [{name: a, code: {team: ""}, metric: mean, limit: 5ms}]`, "team: give it a text"},
	{"unknown code", "budgets: [{name: a, code: {folder: x}, metric: mean, limit: 5ms}]", `unknown key "folder"`},
	{"percentiles of code", "budgets: [{name: a, code: {team: x}, metric: p75, limit: 5ms}]", "use mean for code"},
	{"long tasks of code", "budgets: [{name: a, code: {team: x}, metric: mean, of: long_tasks, limit: 5ms}]",
		"known are self and total"},
	{"no label", "budgets: [{name: a, label: [device], metric: p75, limit: 5ms}]", `label "device" is none of`},
	{"a page as a label", "budgets: [{name: a, label: [page=/x], metric: p75, limit: 5ms}]",
		"has a field page of its own"},
	{"many labels", "budgets: [{name: a, label: [a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1], metric: p75, limit: " +
		"5ms}]", "11 labels, the most is 10"},
	{"no views", "budgets: [{name: a, metric: p75, limit: 5ms, min_views: 0}]", "a whole number from 1"},
	{"half a view", "budgets: [{name: a, metric: p75, limit: 5ms, min_views: 1.5}]", "a whole number from 1"},
	{"no time", "budgets: [{name: a, metric: p75, limit: 5ms, since: yesterday}]",
		"since: \"yesterday\" is not a duration"},
	{"a second", "budgets: [{name: a, metric: p75, limit: 5ms, since: 1s}]", "from a minute"},
	{"no hysteresis", "budgets: [{name: a, metric: p75, limit: 5ms, hysteresis: 0.1}]", "not a percentage"},
	{"all hysteresis", "budgets: [{name: a, metric: p75, limit: 5ms, hysteresis: 100%}]", "below 100%"},
	{"a feature without a name", "features:\n  - page: /x", "line 2: feature \"\": name is missing"},
	{"a feature of nothing", "features:\n  - name: x", "no condition: set a page"},
	{"a feature of both", "features:\n  - {name: x, page: /x, function: f}", "write two rules"},
	{"a feature with a limit", "features:\n  - {name: x, limit: 1}", `unknown key "limit"`},
}

func TestParseErrors(t *testing.T) {
	for _, test := range brokenFiles {
		if _, err := Parse(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	many := "budgets:\n" + strings.Repeat("  - {name: a, metric: p75, limit: 5ms}\n", MaxBudgets+1)
	if _, err := Parse(strings.NewReader(many)); err == nil || !strings.Contains(err.Error(),
		"501 budgets, the most is 500") {
		t.Errorf("many budgets: %v", err)
	}
}

func TestExample(t *testing.T) {
	r, err := os.Open("../../docs/budgets.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := Parse(r); err != nil {
		t.Error(err)
	}
}

// Parsed budgets are within their limits, and their queries are valid.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	for _, test := range brokenFiles {
		f.Add(test.file)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		e := evaluation{now: noon}
		for i := range file.Budgets {
			b := &file.Budgets[i]
			if !(b.Limit > 0) || b.MinViews < 1 || !(b.Hysteresis >= 0 && b.Hysteresis < 1) || b.Name == "" {
				t.Errorf("budget %+v", b)
			}
			if sel, err := e.selection(b); err != nil || !sel.Since.Before(noon) {
				t.Errorf("budget %+v: %+v, %v", b, sel, err)
			}
		}
	})
}
