package summary

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

var update = flag.Bool("update", false, "rewrite what is compared with")

// hostile is a name with Markdown, HTML, a mention, links and control characters.
const hostile = "a`b|c*d_e <img src=x> [x](https://evil.example) @team #1 www.evil.example $x$ ~~y~~ \x1b[31m\nz"

func changed(status compare.Status, before, after float64) compare.Change {
	low, high, part := after-before-1, after-before+1, (after-before)/before
	e := compare.Estimate{Value: after - before, Low: &low, High: &high}
	c := compare.Change{Mean: compare.Pair{A: before, B: after}, Shown: e, Level: 0.99, Status: status}
	if status != compare.TooFew {
		c.Adjusted, c.Relative = &e, &part
	}
	return c
}

func comparison(views float64, total compare.Change, functions ...compare.FunctionChange) query.Comparison {
	return query.Comparison{Result: compare.Result{Views: compare.Pair{A: views, B: views + 234}, MinViews: 100,
		Enough: views >= 100, FalseDiscovery: 0.05,
		Total: total, Functions: functions, Tested: 1234}}
}

func function(name string, c compare.Change) compare.FunctionChange {
	return compare.FunctionChange{Place: compare.Place{Name: name, Resource: "src/feed/" + name + ".ts", Line: 12,
		Column: 3}, Change: c}
}

// fake is a source with fixed responses.
type fake struct {
	query.Source
	pages map[string]query.Comparison // "" for all pages
	order []string
}

func (f fake) Compare(_ context.Context, q query.CompareQuery) (query.Comparison, error) {
	return f.pages[q.B.Page], nil
}

func (f fake) Series(context.Context, query.SeriesQuery) (query.Series, error) {
	var s query.Series
	for _, page := range f.order {
		s.Groups = append(s.Groups, query.SeriesGroup{Labels: map[string]string{"page": page},
			Points: []query.Point{{}}})
	}
	return s, nil
}

func example() (fake, Query) {
	render := function("render", changed(compare.Slower, 20, 31.5))
	feed := comparison(5000, changed(compare.Slower, 212, 240), render, function("onlyHere", changed(compare.New, 0.001,
		4)), function("noise", changed(compare.WithinNoise, 3, 3.1)))
	feed.Vitals = []query.VitalChange{{Name: "inp", Unit: "ms", A: query.Estimate{Value: 180},
		B: query.Estimate{Value: 260}, Difference: query.Estimate{Value: 80, Low: 60, High: 100},
		Status: compare.Slower},
		{Name: "cls", Unit: "score", A: query.Estimate{Value: 0.1}, B: query.Estimate{Value: 0.1},
			Status: compare.WithinNoise}}
	src := fake{order: []string{"/quiet", "/feed", hostile, "/rare", "/fourth"}, pages: map[string]query.Comparison{
		"": comparison(12345, changed(compare.Slower, 200, 215.5), render, function(hostile, changed(compare.Faster, 9,
			5))), "/quiet": comparison(900, changed(compare.WithinNoise, 100, 101)),
		"/feed": feed, hostile: comparison(800, changed(compare.Faster, 50, 40)), "/rare": comparison(7,
			changed(compare.TooFew, 1, 2)),
	}}
	return src, Query{SideA: "release 1.2", SideB: "release 1.3", Pages: 4, Functions: 2,
		Dashboard: "https://profiles.example.com:8419",
		Selection: url.Values{"release": {"1.3"}, "compare_release": {"1.2"}, "since": {"24h"}},
		Budgets: []budget.Status{{Name: "fast", Metric: budget.P75, Unit: "ms", Limit: 25, Verdict: budget.OK,
			Views: 100},
			{Name: hostile, Owner: "team", Page: "/feed", Metric: budget.P75, Unit: "ms", Limit: 25,
				Verdict: budget.Blown, Value: &query.Estimate{Value: 30, Low: 29, High: 31}, Views: 100}}}
}

func markdown(t *testing.T, src query.Source, q Query) string {
	t.Helper()
	s, err := Make(t.Context(), src, q)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	src, q := example()
	got := markdown(t, src, q)
	const name = "testdata/report.golden.md"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || got != string(want) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestHostileNames checks that names cannot add Markdown, HTML, mentions or links, and that each
// row has all cells.
func TestHostileNames(t *testing.T) {
	src, q := example()
	// The target of a link is a URL, which may contain anything.
	text := regexp.MustCompile(`\]\(https://profiles\.example\.com:8419/\S+\)`).ReplaceAllString(markdown(t,
		src, q), "]")
	for _, wrong := range []string{"<img", "](https://evil", "@team", " #1", "$x$", "~~", "www.evil", "`",
		"\x1b", "\nz"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q is in\n%s", wrong, text)
		}
	}
	columns := 0
	for line := range strings.Lines(text) {
		switch n := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("%d instead of %d: %s", n, columns, line)
		}
	}
}

// TestLinks checks that links lead to the dashboard page of their subject.
func TestLinks(t *testing.T) {
	src, q := example()
	links := regexp.MustCompile(`\]\((\S+)\)`).FindAllStringSubmatch(markdown(t, src, q), -1)
	if len(links) != 7 {
		t.Errorf("%d links, want one for all pages, four for pages and two for functions", len(links))
	}
	for _, l := range links {
		u, err := url.Parse(l[1])
		if err != nil || u.Host != "profiles.example.com:8419" || u.Query().Get("release") != "1.3" ||
			u.Query().Get("compare_release") != "1.2" ||
			u.Path != "/compare" && u.Path != "/function" || u.Path == "/function" && u.Query().Get("name") == "" {
			t.Errorf("%s: %v", l[1], err)
		}
	}
	q.Dashboard = ""
	if text := markdown(t, src, q); strings.Contains(text, "](") {
		t.Errorf("the report has links without a dashboard:\n%s", text)
	}
}

func TestNothing(t *testing.T) {
	src, q := example()
	for want, c := range map[string]query.Comparison{
		"There are no page views of release 1.3 " +
			"yet.": {Result: compare.Result{Views: compare.Pair{A: 5}}},
		"There are no page views of release 1.2 to compare " +
			"with.": {Result: compare.Result{Views: compare.Pair{B: 5}}},
		"**Not known yet**: 7 and 241 page views. As measured: +1 ms (+0 to +2) a page view, from 1 ms to 2 ms, " +
			"interval of 99 %.": comparison(7, changed(compare.TooFew, 1, 2)),
	} {
		src.pages[""] = c
		if text := markdown(t, src, q); !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %s", text, want)
		}
	}
}

// TestLong checks that a report fits into a comment, however long names are.
func TestLong(t *testing.T) {
	src, q := example()
	src.order = nil
	long := strings.Repeat("<", 1000)
	for i := range 100 {
		page := long + string(rune('a'+i%26)) + strings.Repeat("x", i)
		src.order = append(src.order, page)
		src.pages[page] = comparison(1000, changed(compare.Slower, 1, 2), function(long+page,
			changed(compare.Slower, 1, 2)))
	}
	q.Pages, q.Functions = 100, 200
	if text := markdown(t, src, q); len(text) > maxMarkdown+100 ||
		!strings.HasSuffix(text, "… the rest is left out.\n") {
		t.Errorf("%d bytes, the end is %q", len(text), text[len(text)-100:])
	}
}

// TestLab checks that a report of a lab begins with functions that only users have, and lists no
// changes.
func TestLab(t *testing.T) {
	src, q := example()
	q.Lab, q.SideA, q.SideB, q.Compare.B.Page = true, "users", "the lab", "/feed"
	src.pages["/feed"] = comparison(100, changed(compare.Slower, 10, 30), function("inBoth", changed(compare.Slower, 1,
		9)), function("lessThere", changed(compare.Faster, 5, 2)),
		function("inLab", changed(compare.New, 0.001, 4)), function("ofUsers", changed(compare.Gone, 7, 0.001)))
	q.Functions = 10
	text := markdown(t, src, q)
	var order []int
	for _, want := range []string{"the lab against users", "**More in the lab**",
		"| users | lab | difference (interval) |", "users alone | [<code>ofUsers", "more for users | [<code>lessThere",
		"more in the lab | [<code>inBoth", "in the lab alone | [<code>inLab"} {
		order = append(order, strings.Index(text, want))
	}
	if !slices.IsSorted(order) || order[0] < 0 || strings.Contains(text, "changed") {
		t.Errorf("%v in\n%s", order, text)
	}
}

func TestJSON(t *testing.T) {
	src, q := example()
	s, err := Make(t.Context(), src, q)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		All   struct{ Views compare.Pair }
		Pages []struct{ Page string }
		More  int `json:"more_pages"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.All.Views.A != 12345 || len(got.Pages) != 4 || got.Pages[0].Page != "/feed" || got.More != 1 {
		t.Errorf("got %+v", got)
	}
}
