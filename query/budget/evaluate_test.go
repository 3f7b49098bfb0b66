package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// noon is the time of the tests.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

// view is the trace of a page view. Every other one has the feature search, every third the
// function draw.
func view(r *rand.Rand, n int, page string) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	c := &t.Context
	c.Page, c.ViewID, c.Interval, c.Release = page, fmt.Sprintf("%016d", n), 10_000, []string{"r1", "r2"}[n%2]
	c.Labels = trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[n/2%2])
	frame := func(name, resource string) trie.Frame {
		return trie.Frame{Name: name, Resource: resource, Line: 7, Column: 1}
	}
	const app = "https://x.example/app.js"
	stacks := []trie.NodeID{t.Insert(frame("main", app)), t.Insert(frame("main", app), frame("render", app)),
		t.Insert(frame("render", "https://x.example/"+c.Release+".js"))}
	if n%3 == 0 {
		stacks = append(stacks, t.Insert(frame("main", app), frame("draw", app)))
	}
	time := int64(0)
	for range 10 + r.IntN(50) {
		t.Samples = append(t.Samples, trie.Sample{Time: time, Node: stacks[r.IntN(len(stacks))]})
		time += 10_000
	}
	t.Samples = append(t.Samples, trie.Sample{Time: time, Marker: trie.MarkerIdle})
	if n%2 == 0 {
		c.Spans = []trie.Span{{Kind: trie.SpanFeature, Name: "search", Start: time / 4, Length: time / 4}}
	}
	return t
}

// field is a store with 300 page views of /shop/cart and 150 of /feed.
func field(t *testing.T) query.Local {
	t.Helper()
	now := noon.Add(-time.Hour)
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(1, 1))
	var records []store.Record
	for n := range 450 {
		page := "/shop/cart"
		if n >= 300 {
			page = "/feed"
		}
		tr := view(r, n, page)
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Pages: []string{page}, Payload: payload}
		copy(rec.ID.View[:], tr.Context.ViewID)
		records = append(records, rec)
	}
	if _, err := s.Append(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	now = noon
	return query.Local{Reader: s}
}

// evaluate returns the status of each budget of a file by its name.
func evaluate(t *testing.T, src query.Source, file string) map[string]Status {
	t.Helper()
	f, err := Parse(strings.NewReader("budgets:\n" + file))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Evaluate(t.Context(), src, f, noon)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Status{}
	for _, s := range all {
		out[s.Name] = s
	}
	return out
}

const fieldBudgets = `
  - {name: p75, page: /feed, metric: p75, limit: 10ms}
  - {name: p50, page: /feed, metric: p50, limit: 60s}
  - {name: p95, page: /feed, metric: p95, limit: 60s}
  - {name: mean, page: /feed, metric: mean, limit: 60s}
  - {name: long, page: /feed, metric: p75, of: long_tasks, limit: 60s}
  - {name: release, page: /feed, label: [release=r1], min_views: 50, metric: p75, limit: 60s}
  - {name: search, page: /feed, feature: search, metric: p95, limit: 60s, min_views: 50}
  - {name: search reach, page: /feed, feature: search, metric: reach, limit: 40%}
  - {name: nothing reach, page: /feed, feature: nothing, metric: reach, limit: 40%}
  - {name: nothing, page: /feed, feature: nothing, metric: p75, limit: 60s}
  - {name: draw, page: /feed, function: draw, metric: mean, limit: 60s}
  - {name: draw p75, page: /feed, function: draw, metric: p75, of: total, limit: 60s, min_views: 51}
  - {name: draw reach, page: /feed, function: draw, metric: reach, limit: 30%}
  - {name: two, page: /feed, function: render, metric: mean, limit: 60s}
  - {name: two p75, page: /feed, function: render, metric: p75, limit: 60s}
  - {name: one of two, page: /feed, function: {name: render, resource: "*/app.js"}, metric: p75, limit: 60s}
  - {name: missing, page: /feed, function: nowhere, metric: mean, limit: 60s}
  - {name: draw slow, page: /feed, label: [device=mobile-low], function: draw, metric: mean, limit: 60s, min_views: 10}
  - {name: draw slow p75, page: /feed, label: [device=mobile-low], function: draw, metric: p75, limit: 60s}
  - {name: shop, page: /shop/**, metric: mean, limit: 60s}
  - {name: all, metric: mean, limit: 60s, min_views: 450}
  - {name: more, metric: mean, limit: 60s, min_views: 451}
  - {name: nowhere, page: /nowhere, metric: mean, limit: 60s}
  - {name: label, label: [navigation=reload], metric: mean, limit: 60s}
`

// Values of budgets are equal to the values of a report.
func TestEvaluate(t *testing.T) {
	l := field(t)
	report := func(sel selection.Selection) query.PageReport {
		t.Helper()
		r, err := l.Report(t.Context(), sel)
		if err != nil || len(r.Pages) != 1 {
			t.Fatalf("report: %+v, %v", r, err)
		}
		return r.Pages[0]
	}
	feed := report(selection.Selection{Page: "/feed"})
	release := report(selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "release",
		Op: selection.Equal, Value: "r1"}}})
	function := func(name, resource string) (f query.FunctionReport) {
		for _, f = range feed.Functions {
			if f.Name == name && strings.HasSuffix(f.Resource, resource) {
				return f
			}
		}
		t.Fatalf("no function %s", name)
		return f
	}
	search, draw := feed.Features[0], function("draw", "")
	two := function("render", "/app.js").Self.Mean.Value + function("render", "/r1.js").Self.Mean.Value +
		function("render", "/r2.js").Self.Mean.Value
	share := func(k int64) query.Estimate { return shareOf(k, 150) }
	got := evaluate(t, l, fieldBudgets)
	for name, want := range map[string]struct {
		verdict Verdict
		value   query.Estimate
		views   int64
		sure    bool
	}{
		"p75":           {Blown, feed.Time.P75, 150, true},
		"p50":           {OK, feed.Time.P50, 150, true},
		"p95":           {OK, feed.Time.P95, 150, feed.Time.P95.High > 0},
		"mean":          {OK, feed.Time.Mean, 150, true},
		"long":          {OK, feed.LongTasks.P75, 150, true},
		"release":       {OK, release.Time.P75, 75, true},
		"search":        {OK, search.Time.P95, 75, search.Time.P95.High > 0},
		"search reach":  {Blown, share(75), 150, true},
		"nothing reach": {OK, share(0), 150, true},
		"draw":          {OK, draw.Self.Mean, 150, true},
		"draw p75":      {TooFew, draw.Total.P75, draw.Reach, false},
		"draw reach":    {Blown, share(draw.Reach), 150, false},
		"two":           {OK, query.Estimate{Value: two}, 150, false},
		"one of two":    {OK, function("render", "/app.js").Self.P75, function("render", "/app.js").Reach, true},
		"missing":       {OK, query.Estimate{}, 150, false},
		"shop":          {OK, report(selection.Selection{Page: "/shop/cart"}).Time.Mean, 300, true},
	} {
		s := got[name]
		if s.Verdict != want.verdict || s.Value == nil || s.Views != want.views || s.Sure != want.sure ||
			!near(*s.Value, want.value) {
			t.Errorf("%s: got %+v with %+v, want %+v", name, s, s.Value, want)
		}
	}
	for name, want := range map[string]struct {
		verdict Verdict
		text    string
	}{
		"nothing": {NoData, ""}, "nowhere": {NoData, ""}, "all": {OK, ""}, "more": {TooFew, ""},
		"two":       {OK, "sum of 3 functions"},
		"two p75":   {Failed, "3 functions have this name, and percentiles do not add up"},
		"missing":   {OK, "was not seen"},
		"label":     {Failed, "navigation|not by this label"},
		"draw slow": {OK, ""}, "draw slow p75": {Failed,
			"no percentiles: distributions of functions are stored by page and release only"},
	} {
		_, second, _ := strings.Cut(want.text, "|")
		if s := got[name]; s.Verdict != want.verdict || !strings.Contains(s.Text, want.text) &&
			!strings.Contains(s.Text, second) || want.text == "" && s.Text != "" {
			t.Errorf("%s: got %+v, want %+v", name, s, want)
		}
	}
	if s := got["draw slow"]; s.Value == nil || s.Value.High != 0 || s.Value.Value <= 0 || s.Sure {
		t.Errorf("draw slow: %+v", s.Value)
	}
}

// near reports whether two estimates are the same except for rounding.
func near(a, b query.Estimate) bool {
	is := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)) }
	return is(a.Value, b.Value) && is(a.Low, b.Low) && is(a.High, b.High)
}

// counting is a source that counts its queries, and can fail.
type counting struct {
	query.Source
	series, tops int
	err          error
}

func (c *counting) Series(ctx context.Context, q query.SeriesQuery) (query.Series, error) {
	if c.series++; c.err != nil {
		return query.Series{}, c.err
	}
	return c.Source.Series(ctx, q)
}

func (c *counting) Top(ctx context.Context, q query.TopQuery) (query.Top, error) {
	c.tops++
	return c.Source.Top(ctx, q)
}

func TestEvaluateAsksOnce(t *testing.T) {
	src := &counting{Source: field(t)}
	file := `
  - {name: a, page: /feed, metric: p75, limit: 60s}
  - {name: b, page: /feed, metric: mean, limit: 60s}
  - {name: c, page: /feed, metric: p50, of: long_tasks, limit: 60s}
  - {name: d, page: /feed, feature: search, metric: reach, limit: 60%}
  - {name: e, page: /feed, feature: search, metric: p75, limit: 60s}
  - {name: f, page: /feed, function: draw, metric: mean, limit: 60s}
  - {name: g, page: /feed, function: render, metric: mean, limit: 60s}
`
	evaluate(t, src, file)
	if src.series != 2 || src.tops != 1 {
		t.Errorf("got %d queries for series and %d for functions", src.series, src.tops)
	}
	src.err = errors.New("broken")
	got := evaluate(t, src, file)
	if got["a"].Verdict != Failed || got["a"].Text != "broken" || got["f"].Verdict != OK {
		t.Errorf("got %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Evaluate(ctx, src, &File{Budgets: []Budget{{Name: "a", Since: "24h"}}}, noon); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestShareOf(t *testing.T) {
	for _, test := range []struct {
		k, n           int64
		value, low, hi float64
	}{
		{0, 100, 0, 0, 3.699}, {100, 100, 100, 96.301, 100}, {50, 100, 50, 40.383, 59.617}, {1, 10, 10, 1.787, 40.415},
	} {
		s := shareOf(test.k, test.n)
		if math.Abs(s.Value-test.value)+math.Abs(s.Low-test.low)+math.Abs(s.High-test.hi) > 0.01 {
			t.Errorf("%d of %d: %+v", test.k, test.n, s)
		}
	}
}
