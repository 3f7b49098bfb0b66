package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// An invalid query is a client error, in JSON, with a remedy.
func TestRefusedQuestions(t *testing.T) {
	f := fixture.New(t)
	h := Handler(localOf(f), Options{Now: fixture.Now})
	long := strings.Repeat("x", store.MaxPage+1)
	for _, test := range []struct{ target, want string }{
		{"/pprof/profile?page=%00x", `parameter page: page \"\\x00x\" contains a NUL byte`},
		{"/api/v1/profile?page=%00x", "contains a NUL byte"},
		{"/api/v1/top?page=" + long, "the page has 1025 bytes; the maximum is 1024"},
		{"/api/v1/tree?compare_page=%00x", "parameter compare_page"},
		{"/pprof/profile?since=1969-12-31", "is not from 1970 to 9999"},
		{"/api/v1/series?since=0002-01-01&until=0003-01-01", "0002-01-01T00:00:00Z is not from 1970 to 9999"},
		{"/api/v1/series?since=1970-01-01&step=1s", "the most is 2000"},
		{"/api/v1/labels?label=team=t1", "labels are stored by page, feature, release"},
		{"/api/v1/labels?label=team!=t1", "labels are stored by page, feature, release"},
		{"/api/v1/stats?feature=edit&label=feature=search", "use only one condition on the feature"},
		{"/api/v1/stats?label=phase=load&label=phase=typing", "use only one condition on the phase"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.target, nil))
		if w.Code != http.StatusBadRequest || !strings.HasPrefix(w.Body.String(), `{"error":"`) ||
			!strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%.80s: %d, %s, want %s", test.target, w.Code, w.Body, test.want)
		}
	}
}

// Distributions are omitted where they would cover other time than the sums.
func TestNoSpread(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	matcher := func(text string) selection.Matcher {
		m, err := selection.ParseMatcher(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, test := range []struct {
		feature string
		groupBy string
		where   []string
		want    string // "": there are spreads
	}{
		{"", "feature", nil, ""},
		{"", "feature", []string{"feature=~e.*"}, ""},
		{"edit", "", nil, ""},
		{"", "", []string{"feature=edit"}, ""},
		{"", "feature", []string{"feature!=edit"}, "select features with = or =~, not !="},
		{"", "feature", []string{"feature!~e.*"}, "not !~"},
		{"", "phase", []string{"phase!=load"}, "select phases with = or =~"},
		{"", "", []string{"feature!=edit"}, "select one with label=feature=NAME"},
		{"edit", "", []string{"feature=search"}, "use only one condition on the feature"},
		{"", "", []string{"feature=edit", "feature=search"}, "use only one condition on the feature"},
		{"", "feature", []string{"feature=~e.*", "feature=~.*t"}, "use only one condition on the feature"},
	} {
		q := query.SeriesQuery{Selection: selection.Selection{Page: "/a", Feature: test.feature}}
		if test.groupBy != "" {
			q.GroupBy = []string{test.groupBy}
		}
		for _, text := range test.where {
			q.Where = append(q.Where, matcher(text))
		}
		s, err := l.Series(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Groups) == 0 || (s.Spreads == "") != (test.want == "") || !strings.Contains(s.Spreads, test.want) {
			t.Errorf("%+v: %d groups, no spread for %q", test, len(s.Groups), s.Spreads)
			continue
		}
		for _, g := range s.Groups {
			if has := g.Points[0].Spread != nil; has != (test.want == "") {
				t.Errorf("%+v: %v has a spread: %t", test, g.Labels, has)
			}
		}
	}
}

// Page views without a profile are counted by page, however the pages are selected.
func TestCoverageOfPages(t *testing.T) {
	l, _ := rolledField(t, 30)
	where := func(key, value string) []selection.Matcher { return fixture.Having(trie.MakeLabels(key, value)) }
	for _, test := range []struct {
		sel  selection.Selection
		want int64
	}{
		{selection.Selection{}, 900}, {selection.Selection{Page: "/feed"}, 900},
		{selection.Selection{Where: where("page", "/feed")}, 900},
		{selection.Selection{Where: where("release", "r1")}, 0}, {selection.Selection{Feature: "search"}, 0},
	} {
		r, err := l.Report(t.Context(), test.sel)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Pages[0].Coverage["unsampled"]; got != test.want {
			t.Errorf("report%s: %d unsampled, want %d", test.sel, got, test.want)
		}
		s, err := l.Series(t.Context(), query.SeriesQuery{Selection: test.sel, Coverage: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Groups[0].Points[0].Coverage["unsampled"]; got != test.want {
			t.Errorf("series%s: %d unsampled, want %d", test.sel, got, test.want)
		}
	}
}

// A removed function is not mistaken for a function that moved to its place.
func TestAlignKeepsApart(t *testing.T) {
	at := func(name string, line uint32) trie.Frame {
		return trie.Frame{Name: name, Resource: "https://x.example/app.js", Line: line, Column: 3}
	}
	of := func(frames ...trie.Frame) *trie.Profile {
		p := trie.NewProfile()
		p.Views = 1
		g := p.Group(nil)
		for i, f := range frames {
			g.Weights.Add(p.Insert(f), trie.Weight{Self: int64(100 * (i + 1))})
		}
		return p
	}
	a := of(at("", 10), at("", 12), at("alpha", 1), at("beta", 30), at("gamma", 40))
	b := of(at("", 12), at("alpha", 3), at("beta", 32), at("gamma", 42))
	want := map[trie.Frame]int64{
		at("", 12): 100, at("(anonymous) (gone)", 12): 200, at("alpha", 3): 300, at("beta", 32): 400,
		at("gamma", 42): 500,
	}
	got := compare.Align(a, b).Functions()
	for _, f := range got {
		if f.Self != want[f.Frame] {
			t.Errorf("%+v has %d, want %d", f.Frame, f.Self, want[f.Frame])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d functions, want %d", len(got), len(want))
	}
}
