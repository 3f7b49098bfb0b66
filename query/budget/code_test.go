package budget

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

func TestCodeFits(t *testing.T) {
	for _, test := range []struct {
		by, name, part string
		fits           bool
	}{
		{"package", "react-dom", "react-dom@19.2.0", true},
		{"package", "react-dom", "react-dom", true},
		{"package", "react-dom@19.2.0", "react-dom@19.2.0", true},
		{"package", "react-dom@18.0.0", "react-dom@19.2.0", false},
		{"package", "react", "react-dom@19.2.0", false},
		{"package", "@acme/ui", "@acme/ui@1.0.0", true},
		{"package", "@acme/ui", "@acme/ui", true},
		{"package", "", "@acme/ui", false},
		{"owner", "third-party", "(third-party ads.example)", true},
		{"owner", "third-party ads.example", "(third-party ads.example)", true},
		{"owner", "(third-party ads.example)", "(third-party ads.example)", true},
		{"owner", "third-party", "(app)", false},
		{"owner", "app", "(app)", true},
		{"team", "@acme/shop", "@acme/shop @acme/web", true},
		{"team", "@acme/shop", "@acme/shopping", false},
		{"team", "Check out", "Check out", true},
		{"team", "(no team)", "(no team)", true},
		{"file", "src/table/*", "src/table/Row.tsx", true},
		{"file", "src/table", "src/table/Row.tsx", false},
	} {
		if c := (Code{test.by, test.name}); c.fits(test.part) != test.fits {
			t.Errorf("%s %q and %q: %t", test.by, test.name, test.part, !test.fits)
		}
	}
}

// A budget of code has the value of a query by parts.
func TestEvaluateCode(t *testing.T) {
	l := field(t)
	top, err := l.Top(t.Context(), query.TopQuery{Selection: selection.Selection{Page: "/feed",
		Parts: selection.Parts{By: "file"}}})
	if err != nil {
		t.Fatal(err)
	}
	self, total := map[string]float64{}, map[string]float64{}
	for _, f := range top.Functions {
		self[f.Name], total[f.Name] = float64(f.Self)/1000/150, float64(f.Total)/1000/150
	}
	const app = "https://x.example/app.js"
	got := evaluate(t, l, `
  - {name: app, page: /feed, code: {file: "*/app.js"}, metric: mean, limit: 1ms}
  - {name: total, page: /feed, code: {file: "*/app.js"}, metric: mean, of: total, limit: 1m}
  - {name: all, page: /feed, code: {file: "*"}, metric: mean, limit: 1m}
  - {name: unmapped, page: /feed, code: {owner: unmapped}, metric: mean, limit: 1m}
  - {name: none, page: /feed, code: {package: react-dom}, metric: mean, limit: 1ms}
  - {name: nowhere, page: /nowhere, code: {package: react-dom}, metric: mean, limit: 1ms}
`)
	all := 0.0
	for _, ms := range self {
		all += ms
	}
	for name, want := range map[string]struct {
		verdict Verdict
		value   float64
		text    string
	}{
		"app": {Blown, self[app], ""}, "total": {OK, total[app], ""}, "all": {OK, all, "sum of 3 files that fit"},
		"unmapped": {OK, all, ""}, "none": {OK, 0, "no time was in it"},
	} {
		s := got[name]
		if s.Verdict != want.verdict || s.Value == nil || !near(*s.Value, query.Estimate{Value: want.value}) ||
			s.Text != want.text {
			t.Errorf("%s: got %+v with %+v, want %+v", name, s, s.Value, want)
		}
	}
	if s := got["nowhere"]; s.Verdict != NoData {
		t.Errorf("got %+v", s)
	}
	blown := got["app"]
	if what := blown.What(); what != "mean self of file */app.js on /feed" {
		t.Errorf("what: %s", what)
	}
}
