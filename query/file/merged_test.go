package file

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// stacksProfile returns a profile of one page view with the given self times by stack, such as
// "main > draw".
func stacksProfile(of map[string]int64) *trie.Profile {
	p := trie.NewProfile()
	p.Views, p.Traces = 1, 1
	for stack, self := range of {
		var frames []trie.Frame
		for name := range strings.SplitSeq(stack, " > ") {
			frames = append(frames, trie.Frame{Name: name, Resource: "a.js", Line: 1, Column: 1})
		}
		n := p.Insert(frames...)
		p.Add(nil, n, trie.Weight{Self: self, Samples: 1, Reach: 1})
	}
	p.Group(nil).Coverage = trie.Coverage{Views: 1, Traces: 1}
	return p
}

func TestVersus(t *testing.T) {
	before := stacksProfile(map[string]int64{"main": 10, "main > draw": 20})
	after := stacksProfile(map[string]int64{"main": 5, "main > draw": 40, "main > sort": 7})
	src := Merged{Result: query.Result{Profile: Versus(before, after)}}
	for value, want := range map[string]map[string]int64{
		Before: {"main": 10, "draw": 20}, After: {"main": 5, "draw": 40, "sort": 7}, "neither": {},
	} {
		top, err := src.Top(t.Context(),
			query.TopQuery{Selection: selection.Selection{Where: fixture.Having(trie.MakeLabels(labelFile, value))}})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, f := range top.Functions {
			if f.Self != 0 {
				got[f.Name] = f.Self
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %v", value, got, want)
		}
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s: %s has %d, want %d", value, name, got[name], want[name])
			}
		}
	}
	labels, err := src.Labels(t.Context(), selection.Selection{})
	if err != nil || len(labels.Values(labelFile)) != 2 {
		t.Errorf("got %+v, %v", labels, err)
	}
}

// Queries that need a store return an error. All others return over HTTP what a store would return.
func TestMergedHandler(t *testing.T) {
	src := Merged{Result: query.Result{Profile: stacksProfile(map[string]int64{"main > draw": 20, "main": 1})}}
	h := api.Handler(src, api.Options{})
	for path, want := range map[string]string{
		"/api/v1/top":                         `"self_us":20`,
		"/api/v1/top?by=owner":                `"name":"(unmapped)"`,
		"/api/v1/tree":                        `"total_us":21`,
		"/api/v1/tree?page=/other":            `"total_us":0`,
		"/api/v1/callers?name=draw":           `"strings":["draw","a.js","main"]`,
		"/api/v1/profile?format=folded":       "main (a.js:1:1);draw (a.js:1:1) 20",
		"/api/v1/profile?group_by=owner":      "",
		"/api/v1/labels":                      `"labels":[]`,
		"/api/v1/catalog":                     `"entries":[]`,
		"/api/v1/views":                       "time order is not available",
		"/api/v1/series":                      "files have no",
		"/api/v1/stats":                       "files have no",
		"/api/v1/vitals":                      "files have no",
		"/api/v1/browsers?since=1d":           "files have no",
		"/api/v1/compare?compare_page=/other": "files have no",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		refused := want == "files have no"
		if refused != (w.Code >= 400) || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %.300s, want %s", path, w.Code, w.Body, want)
		}
	}
}

// Threads of files take the place of page views, with times since the first call.
func TestMergedViews(t *testing.T) {
	lines := make([]*trie.Timeline, 0, 3)
	for i, name := range []string{"worker", "", "main"} {
		line, err := trie.Calls(&trie.Stream{Trace: &trie.Trace{
			Context: trie.Context{Interval: 10_000},
			Trie:    *stackOf("draw"),
			Samples: []trie.Sample{{Time: 1_000_000, Node: 1}, {Time: 1_000_000 + int64(i)*10_000}},
		}}, nil, 100)
		if err != nil {
			t.Fatal(err)
		}
		line.Name = name
		lines = append(lines, line)
	}
	src := Merged{Lines: func(context.Context) ([]*trie.Timeline, error) { return lines, nil }}
	views, err := src.Views(t.Context(), query.ViewsQuery{})
	if err != nil || len(views.List) != 2 || views.List[0].Page != "main" || views.List[0].Time != 20 ||
		views.List[1].Page != "thread 2" {
		t.Fatalf("got %+v, %v", views, err)
	}
	v, err := src.View(t.Context(), query.ViewQuery{ID: views.List[0].ID})
	if err != nil || v.Page != "main" || v.Start != 0 || v.End != 20_000 {
		t.Fatalf("got %+v, %v", v, err)
	}
	fixture.CheckCalls(t, v.Calls.Level, v.Calls.Start, v.Calls.End, v.Start, v.End)
	for _, id := range []string{"", "0", threadID(3), threadID(-1), "+" + threadID(1)[1:]} {
		if _, err := src.View(t.Context(), query.ViewQuery{ID: id}); err == nil {
			t.Errorf("there is a thread %q", id)
		}
	}
}

// stackOf returns a trie with one function.
func stackOf(name string) *trie.Trie {
	t := trie.New()
	t.Insert(trie.Frame{Name: name})
	return t
}
