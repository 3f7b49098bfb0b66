package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func TestVitals(t *testing.T) {
	l := vitalField(t)
	all, err := l.Vitals(t.Context(), selection.Selection{})
	if err != nil || len(all.Pages) != 2 || all.Pages[0].Page != "/feed" || all.Pages[1].Page != "/about" {
		t.Fatalf("got %+v and %v", all, err)
	}
	lcp := all.Pages[0].Of("lcp")
	if lcp.Views != 600 || lcp.PageViews != 400+2000 || lcp.Unit != "ms" {
		t.Errorf("lcp: %+v", lcp)
	}
	if !(lcp.P75.Low < lcp.P75.Value && lcp.P75.Value < lcp.P75.High) || math.Abs(lcp.P75.Value-2600) > 80 || lcp.Rating != "needs improvement" {
		t.Errorf("lcp p75: %+v, %s", lcp.P75, lcp.Rating)
	}
	if lcp.Good <= 0.5 || lcp.Good >= 1 || lcp.Poor != 0 {
		t.Errorf("lcp: %g good, %g poor", lcp.Good, lcp.Poor)
	}
	cls := all.Pages[0].Of("cls")
	if cls.Unit != "score" || math.Abs(cls.P50.Value-0.15) > 0.005 || cls.Poor == 0 {
		t.Errorf("cls: %+v", cls)
	}
	if about := all.Pages[1]; about.Of("ttfb").P75.High != 0 || about.Of("lcp") != nil {
		t.Errorf("one page view has an interval, or a vital that it did not report: %+v", about)
	}

	groups, err := l.Vitals(t.Context(), selection.Selection{Page: "/feed", GroupBy: []string{"device"}})
	if err != nil || len(groups.Pages) != 2 {
		t.Fatalf("got %+v and %v", groups, err)
	}
	byDevice := map[string]float64{}
	for _, p := range groups.Pages {
		byDevice[p.Labels["device"]] = p.Of("lcp").P50.Value
	}
	if ratio := byDevice["mobile-low"] / byDevice["desktop-high"]; math.Abs(ratio-2) > 0.1 {
		t.Errorf("phones are %g times as slow, want 2: %v", ratio, byDevice)
	}
	phones, err := l.Vitals(t.Context(), selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "device", Op: selection.Equal, Value: "mobile-low"}}})
	if err != nil || len(phones.Pages) != 1 || phones.Pages[0].Of("lcp").P50.Value != byDevice["mobile-low"] {
		t.Errorf("of phones: %+v and %v, want %g", phones, err, byDevice["mobile-low"])
	}
	if none, err := l.Vitals(t.Context(), selection.Selection{Page: "/nowhere"}); err != nil || len(none.Pages) != 0 {
		t.Errorf("of no page: %+v and %v", none, err)
	}
}

// A comparison says how the vitals changed, and which function a change of INP comes from: of
// release b one page view of two has an interaction that is 300 ms long, in which filter runs.
func TestCompareVitals(t *testing.T) {
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(7, 7))
	const views = 400 // of each release
	for i := range 2 * views {
		release := []string{"a", "b"}[i%2]
		slow := release == "b" && i%4 == 1
		tr := &trie.Trace{Trie: *trie.New()}
		c := &tr.Context
		c.Page, c.ViewID, c.Interval, c.Release = "/feed", fmt.Sprintf("%016d", i), 10_000, release
		main := tr.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1})
		filter := tr.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1}, trie.Frame{Name: "filter", Resource: "https://x.example/app.js", Line: 9, Column: 1})
		time := int64(0)
		for range 10 + r.IntN(20) {
			tr.Samples = append(tr.Samples, trie.Sample{Time: time, Node: main})
			time += 10_000
		}
		inp := rollup.Vital{Name: "inp", Labels: trie.MakeLabels("release", release)}
		inp.Add(int64(40+r.IntN(60))*1000, 1)
		if slow {
			c.Spans = []trie.Span{{Kind: trie.SpanLabel, Name: "phase=slow-interaction", Start: time, Length: 300_000}}
			for range 25 {
				tr.Samples = append(tr.Samples, trie.Sample{Time: time, Node: filter})
				time += 10_000
			}
			inp = rollup.Vital{Name: "inp", Labels: inp.Labels}
			inp.Add(300_000, 1)
		}
		tr.Samples = append(tr.Samples, trie.Sample{Time: time, Marker: trie.MarkerIdle})
		fixture.AppendView(t, s, tr)
		s.CountVitals("/feed", []rollup.Vital{inp})
	}
	now = now.Add(time.Second)
	s.RollUp(t.Context())
	got, err := Local{Reader: s}.Compare(t.Context(), CompareQuery{
		A: selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "release", Op: selection.Equal, Value: "a"}}},
		B: selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "release", Op: selection.Equal, Value: "b"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Vitals) != 1 || got.Vitals[0].Name != "inp" || got.Vitals[0].Status != compare.Slower || math.Abs(got.Vitals[0].Difference.Value-215) > 20 {
		t.Errorf("vitals: %+v", got.Vitals)
	}
	if got.Slow == nil || got.Slow.Views != (compare.Pair{A: 0, B: 500}) || math.Abs(got.Slow.Time.B-500*250) > 1 || got.Slow.Time.A != 0 {
		t.Fatalf("slow interactions: %+v", got.Slow)
	}
	if f := got.Slow.Functions[0]; f.Name != "filter" || math.Abs(f.Time.B-500*250) > 1 || f.Time.A != 0 {
		t.Errorf("the function behind it: %+v", got.Slow.Functions)
	}
}
