package api

import (
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// byView returns the times (ms) of page views within a selection, without page views that have
// none. It merges a profile of each page view.
func byView(sel selection.Selection, traces []*trie.Trace) []float64 {
	of := map[string]*trie.Merger{}
	for i, tr := range traces {
		id := tr.Context.ViewID
		if id == "" {
			id = fmt.Sprint("trace ", i)
		}
		if of[id] == nil {
			of[id] = trie.NewMerger()
		}
		sel.Merge(of[id], tr, "")
	}
	var times []float64
	for _, m := range of {
		p, sum, own := m.Profile(), int64(0), int64(0)
		for i := range p.Groups {
			self, _ := p.Groups[i].Sum()
			sum += self
			for n, w := range p.Groups[i].Weights.All() {
				if n != trie.Root && p.Frame(n).Name == trie.FrameFieldtrie {
					own += w.Self
				}
			}
		}
		if sum > 0 {
			times = append(times, float64(sum-own)/1000)
		}
	}
	slices.Sort(times)
	return times
}

// percentile is the definition: the smallest of some sorted values that at least a share q of them
// does not exceed.
func percentile(values []float64, q float64) float64 {
	for i, v := range values {
		if i+1 == len(values) || float64(i+1) >= q*float64(len(values))-1e-6 {
			return v
		}
	}
	return 0
}

// Percentiles of rollups and of single page views follow the same definition, also for few page
// views.
func TestOnePercentile(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	report, err := l.Report(t.Context(), selection.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, p := range report.Pages {
		views, err := l.Views(t.Context(), query.ViewsQuery{Selection: selection.Selection{Page: p.Page}})
		if err != nil {
			t.Fatal(err)
		}
		if views.Views != p.Views {
			continue // page views with traces in two hours count in both
		}
		for i, got := range []query.Estimate{p.Time.P50, p.Time.P75, p.Time.P95} {
			compared++
			if want := views.List[i].Time; math.Abs(got.Value-want) > want/31+0.001 {
				t.Errorf("%s: the percentile %g of %d views is %.3f ms, the view at that quantile has %.3f", p.Page,
					views.List[i].Quantile, p.Views, got.Value, want)
			}
		}
	}
	if compared < 6 {
		t.Errorf("%d percentiles compared", compared)
	}
}

func TestViews(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	srv := httptest.NewServer(Handler(l, Options{Now: fixture.Now}))
	defer srv.Close()
	remote, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(f.First, f.Second)
	quantiles := []float64{0, 0.1, 0.5, 0.75, 0.95, 1}
	for _, sel := range append(fixture.Selections(), selection.Selection{GroupBy: []string{selection.KeyPage}}) {
		if !sel.Since.IsZero() || !sel.Until.IsZero() {
			continue // traces do not have the time of receipt
		}
		q := query.ViewsQuery{Selection: sel, Quantiles: quantiles}
		got, err := l.Views(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := byView(sel, all)
		if got.Views != int64(len(want)) || len(want) > 0 && len(got.List) != len(quantiles) {
			t.Errorf("%s: %d of %d views, want %d", sel, len(got.List), got.Views, len(want))
			continue
		}
		for i, v := range got.List {
			if x := percentile(want, quantiles[i]); math.Abs(v.Time-x) > 1e-6 || v.Quantile != quantiles[i] {
				t.Errorf("%s: the view at %g has %g ms, want %g", sel, quantiles[i], v.Time, x)
			}
		}
		asked, err := remote.Views(t.Context(), q)
		if err != nil || !reflect.DeepEqual(asked.List, got.List) {
			t.Errorf("%s, from a daemon: %+v, %v", sel, asked.List, err)
		}
	}
}

// A page view is complete, and its calls nest.
func TestView(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	l.Symbols = naming.New(newUploaded())
	views, err := l.Views(t.Context(), query.ViewsQuery{Selection: selection.Selection{Page: "/b"},
		Quantiles: []float64{0, 0.3, 0.6, 1}})
	if err != nil || len(views.List) != 4 {
		t.Fatalf("%+v, %v", views, err)
	}
	srv := httptest.NewServer(Handler(l, Options{Now: fixture.Now}))
	defer srv.Close()
	remote, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range views.List {
		q := query.ViewQuery{Selection: selection.Selection{Page: "/b"}, ID: entry.ID}
		v, err := l.View(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if v.ID != entry.ID || v.Page != "/a" || v.Release != entry.Release || v.Traces < entry.Traces ||
			v.Time < entry.Time || v.LongTime < entry.LongTime {
			t.Errorf("got %+v of %+v", v.ViewEntry, entry)
		}
		checkFrames(t, &v)
		checkStretches(t, &v)
		if v.Stats.Names == nil {
			t.Error("the response has no coverage of names")
		}
		asked, err := remote.View(t.Context(), q)
		if err != nil || !reflect.DeepEqual(asked.Calls, v.Calls) || !reflect.DeepEqual(asked.Spans, v.Spans) {
			t.Errorf("from a daemon: %+v, %v", asked, err)
		}
	}
	_, err = l.View(t.Context(), query.ViewQuery{ID: strings.Repeat("0", 32)})
	if _, ok := errors.AsType[*query.NotFoundError](err); !ok {
		t.Errorf("an unknown view: %v", err)
	}
}

// checkFrames checks that all calls have frames and that calls nest.
func checkFrames(t *testing.T, v *query.View) {
	t.Helper()
	fixture.CheckCalls(t, v.Calls.Level, v.Calls.Start, v.Calls.End, v.Start, v.End)
	if len(v.Calls.Frame) != len(v.Calls.Level) {
		t.Fatalf("%d frames of %d calls", len(v.Calls.Frame), len(v.Calls.Level))
	}
	for i, f := range v.Calls.Frame {
		if v.Strings[v.Frames.Name[f]] == "" {
			t.Errorf("call %d has no frame", i)
		}
	}
}

// checkStretches checks that no call is in a stretch without samples, and that the entry has the
// same long tasks.
func checkStretches(t *testing.T, v *query.View) {
	t.Helper()
	for _, gap := range v.Unsampled {
		for i, level := range v.Calls.Level {
			if level == 0 && v.Calls.Start[i] < gap.End && v.Calls.End[i] > gap.Start {
				t.Errorf("a call from %d to %d where there are no samples, from %d to %d", v.Calls.Start[i],
					v.Calls.End[i], gap.Start, gap.End)
			}
		}
	}
	var sum int64
	for _, long := range v.Long {
		sum += long.End - long.Start
	}
	if v.LongCount != int64(len(v.Long)) || math.Abs(v.LongTime-float64(sum)/1000) > 1e-6 {
		t.Errorf("%d long tasks of %g ms, want %d of %d µs", v.LongCount, v.LongTime, len(v.Long), sum)
	}
}
