package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/query/vital"
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
	if !(lcp.P75.Low < lcp.P75.Value && lcp.P75.Value < lcp.P75.High) || math.Abs(lcp.P75.Value-2600) > 80 ||
		lcp.Rating != "needs improvement" {
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
		t.Errorf("a single page view has an interval, or a Web Vital that it did not report: %+v", about)
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
	phones, err := l.Vitals(t.Context(), selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "device",
		Op: selection.Equal, Value: "mobile-low"}}})
	if err != nil || len(phones.Pages) != 1 || phones.Pages[0].Of("lcp").P50.Value != byDevice["mobile-low"] {
		t.Errorf("phones: %+v and %v, want %g", phones, err, byDevice["mobile-low"])
	}
	if none, err := l.Vitals(t.Context(), selection.Selection{Page: "/nowhere"}); err != nil || len(none.Pages) != 0 {
		t.Errorf("unknown page: %+v and %v", none, err)
	}
}

// A comparison shows the changes of Web Vitals and the function that caused a change of INP. In
// release b, every second page view has an interaction of 300 ms in which filter runs.
func TestCompareVitals(t *testing.T) {
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(7, 7))
	const views = 400 // per release
	for i := range 2 * views {
		release := []string{"a", "b"}[i%2]
		slow := release == "b" && i%4 == 1
		tr := &trie.Trace{Trie: *trie.New()}
		c := &tr.Context
		c.Page, c.ViewID, c.Interval, c.Release = "/feed", fmt.Sprintf("%016d", i), 10_000, release
		main := tr.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1})
		filter := tr.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1},
			trie.Frame{Name: "filter", Resource: "https://x.example/app.js", Line: 9, Column: 1})
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
		A: selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "release", Op: selection.Equal,
			Value: "a"}}},
		B: selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "release", Op: selection.Equal,
			Value: "b"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Vitals) != 1 || got.Vitals[0].Name != "inp" || got.Vitals[0].Status != compare.Slower ||
		math.Abs(got.Vitals[0].Difference.Value-215) > 20 {
		t.Errorf("vitals: %+v", got.Vitals)
	}
	if got.Slow == nil || got.Slow.Views != (compare.Pair{A: 0, B: 500}) || math.Abs(got.Slow.Time.B-500*250) > 1 ||
		got.Slow.Time.A != 0 {
		t.Fatalf("slow interactions: %+v", got.Slow)
	}
	if f := got.Slow.Functions[0]; f.Name != "filter" || math.Abs(f.Time.B-500*250) > 1 || f.Time.A != 0 {
		t.Errorf("the function behind it: %+v", got.Slow.Functions)
	}
}

// The reports of elements and parts equal lists of all reports.
func TestVitalElements(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 6))
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	type report struct {
		page, element string
		value         int64
		parts         []int64
	}
	var all []report
	inp, _ := rollup.VitalKindOf("inp")
	for range 3000 {
		x := report{page: []string{"/feed", "/about"}[r.IntN(2)]}
		labels := trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[r.IntN(2)])
		if n := int(r.ExpFloat64() * 5); n > 0 {
			x.element = fmt.Sprintf("pointer button#b%d", n)
			labels = append(labels, trie.Label{Key: "element", Value: x.element}).Sort()
		}
		var list []rollup.Vital
		add := func(name string, labels trie.Labels, value int64) {
			v := rollup.Vital{Name: name, Labels: labels}
			v.Add(value, 10)
			list = append(list, v)
		}
		for _, part := range inp.Parts {
			us := int64(r.ExpFloat64() * 80_000)
			x.parts, x.value = append(x.parts, us), x.value+us
			add(inp.Part(part), labels, us)
		}
		add("inp", append(slices.Clone(labels), trie.Label{Key: "arm", Value: "none"}).Sort(), x.value)
		s.CountVitals(x.page, list)
		all = append(all, x)
	}
	now = now.Add(time.Minute)
	s.RollUp(t.Context())
	l := Local{Reader: s}
	got, err := l.Vitals(t.Context(), selection.Selection{Page: "/feed", Until: now.Add(time.Hour)})
	if err != nil || len(got.Pages) != 1 || len(got.Pages[0].Vitals) != 1 {
		t.Fatalf("got %+v and %v", got, err)
	}
	of := func(element string) (values []float64, parts [3][]float64) {
		for _, x := range all {
			if x.page == "/feed" && (element == "" || x.element == element) {
				values = append(values, float64(x.value)/1000)
				for i, us := range x.parts {
					parts[i] = append(parts[i], float64(us)/1000)
				}
			}
		}
		return values, parts
	}
	p75 := func(what string, got sums.Estimate, values []float64) {
		slices.Sort(values)
		if want := values[len(values)*3/4]; math.Abs(got.Value-want) > 0.04*want || len(values) > 100 &&
			!(got.Low < got.Value && got.Value < got.High) {
			t.Errorf("%s: p75 %+v, want %g", what, got, want)
		}
	}
	inpOf := got.Pages[0].Vitals[0]
	values, parts := of("")
	p75("inp", inpOf.P75, values)
	names := map[string]bool{}
	for _, x := range all {
		if x.page == "/feed" && x.element != "" {
			names[x.element] = true
		}
	}
	if len(inpOf.Parts) != 3 || len(inpOf.Elements) != vital.MostElements ||
		inpOf.MoreElements != len(names)-vital.MostElements {
		t.Fatalf("%d parts, %d elements and %d more of %d", len(inpOf.Parts), len(inpOf.Elements), inpOf.MoreElements,
			len(names))
	}
	for i, part := range inpOf.Parts {
		p75("inp/"+part.Name, part.P75, parts[i])
	}
	for i, x := range inpOf.Elements {
		values, parts := of(x.Element)
		if x.Views != int64(len(values)) || x.PageViews != 10*x.Views ||
			math.Abs(x.Share-float64(x.Views)/float64(inpOf.Views)) > 1e-9 || i > 0 &&
			x.PageViews > inpOf.Elements[i-1].PageViews {
			t.Errorf("element %d is %+v, of %d page views", i, x, len(values))
		}
		if len(values) > 30 {
			p75(x.Element, x.P75, values)
			p75(x.Element+" "+x.Parts[1].Name, x.Parts[1].P75, parts[1])
		}
	}

	one, err := l.Vitals(t.Context(), selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "element",
		Op: selection.Equal, Value: inpOf.Elements[2].Element}}})
	if err != nil || len(one.Pages) != 1 || one.Pages[0].Of("inp").P75 != inpOf.Elements[2].P75 ||
		!reflect.DeepEqual(one.Pages[0].Of("inp").Parts, inpOf.Elements[2].Parts) {
		t.Errorf("one element: %+v and %v, want %+v", one, err, inpOf.Elements[2])
	}
	groups, err := l.Vitals(t.Context(), selection.Selection{GroupBy: []string{"element"}})
	if err != nil || len(groups.Pages) < len(names) {
		t.Errorf("%d groups and %v", len(groups.Pages), err)
	}
	pages, err := l.Vitals(t.Context(), selection.Selection{})
	if err != nil || len(pages.Pages) != 2 || pages.Pages[0].Of("inp").Elements != nil ||
		len(pages.Pages[0].Of("inp").Parts) != 3 {
		t.Errorf("all pages: %+v and %v", pages, err)
	}
	arms, err := l.Vitals(t.Context(), selection.Selection{Page: "/feed", GroupBy: []string{"arm"}})
	if err != nil || len(arms.Pages) != 1 || arms.Pages[0].Of("inp").PageViews != inpOf.PageViews ||
		arms.Pages[0].Of("inp").Parts != nil {
		t.Errorf("by arm: %+v and %v", arms, err)
	}
}
