package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// viewTrace returns a trace of a page view on /feed of about ms of work, some of it in the
// feature search and in the phase load.
func viewTrace(r *rand.Rand, n int, ms int) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	c := &t.Context
	c.Page, c.ViewID, c.Interval = "/feed", fmt.Sprintf("%016d", n), 10_000
	c.Release = []string{"r1", "r2"}[n%2]
	c.SamplingShare = 0.1
	c.Labels = trie.MakeLabels("browser", "Chrome 156", "device", []string{"mobile-low", "desktop-high"}[n/2%2], "phase", "idle")
	app := func(name string) trie.Frame {
		return trie.Frame{Name: name, Resource: "https://x.example/app.js", Line: 7, Column: 1}
	}
	leaf := t.Insert(app("main"), app("render"))
	other := t.Insert(app("main"), app("hydrate"))
	time := int64(0)
	for range ms / 10 {
		node := leaf
		if r.IntN(4) == 0 {
			node = other
		}
		t.Samples = append(t.Samples, trie.Sample{Time: time, Node: node})
		time += 10_000
	}
	t.Samples = append(t.Samples, trie.Sample{Time: time, Marker: trie.MarkerIdle})
	c.Spans = []trie.Span{{Kind: trie.SpanLabel, Name: "phase=load", Length: time / 2}, {Kind: trie.SpanFeature, Name: "search", Start: time / 4, Length: time / 4}}
	trie.SortSpans(c.Spans)
	return t
}

// appendView stores a trace of a page view on /feed.
func appendView(t testing.TB, s storetest.Store, tr *trie.Trace) {
	t.Helper()
	payload, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	rec := store.Record{Pages: []string{"/feed"}, Payload: payload}
	copy(rec.ID.View[:], tr.Context.ViewID)
	if _, err := s.Append(t.Context(), []store.Record{rec}); err != nil {
		t.Fatal(err)
	}
}

// rolledField is a store with page views of three hours, of which sums were made.
func rolledField(t *testing.T, views int) (Local, *trie.Merger) {
	t.Helper()
	now := noon.Truncate(time.Hour)
	s := storetest.Open(t, local.Options{MemTableSize: 8 << 20, RollEvery: 1, RollTraces: 1, Now: func() time.Time { return now }})
	all := trie.NewMerger()
	r := rand.New(rand.NewPCG(1, 1))
	for n := range views {
		if n%(views/3+1) == 0 && n > 0 {
			now = now.Add(time.Hour)
			if err := s.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		tr := viewTrace(r, n, 100+n%100*10)
		appendView(t, s, tr)
		all.AddTrace(tr, func(trie.Slice) int { return all.Group(nil) })
		if n%7 == 0 {
			if err := s.Roll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.CountViews("/feed", "unsampled", 900)
	s.CountViews("/feed", "unsupported", 50)
	now = now.Add(time.Second)
	if err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return Local{Reader: s}, all
}

// summedHours is how many hours of a rolledField are summed up as hours: in a bucket that which goes on is one.
func summedHours() int {
	if storetest.InBucket() {
		return 3
	}
	return 2
}

func TestReport(t *testing.T) {
	const views = 300
	l, all := rolledField(t, views)
	report, err := l.Report(t.Context(), Selection{Page: "/feed"})
	if err != nil || len(report.Pages) != 1 {
		t.Fatalf("got %+v and %v", report, err)
	}
	if st := report.Stats; st.Hours != summedHours() || len(st.Warnings) > 0 {
		t.Errorf("stats: %+v", st)
	}
	p := report.Pages[0]
	self, _ := all.Profile().Groups[0].Sum()
	if p.Views != views || math.Abs(p.Time.Mean.Value*views-float64(self)/1000) > 1e-6 {
		t.Errorf("%d views of %g ms, want %d and %g in all", p.Views, p.Time.Mean.Value, views, float64(self)/1000)
	}
	if p.Population.Value != 10*views || !(p.Population.Low < 10*views && 10*views < p.Population.High) {
		t.Errorf("population: %+v", p.Population)
	}
	if p.Coverage["unsampled"] != 900 || p.Coverage["unsupported"] != 50 {
		t.Errorf("coverage: %v", p.Coverage)
	}
	if m := p.Time; math.Abs(m.P50.Value-595) > 25 || math.Abs(m.P95.Value-1045) > 40 || m.P50.Low > m.P50.Value || m.P50.High < m.P50.Value || m.Mean.High <= m.Mean.Value {
		t.Errorf("time: %+v", m)
	}
	if p.LongTasks.Mean.Value != p.Time.Mean.Value { // all of a view is one stretch
		t.Errorf("long tasks: %+v, time: %+v", p.LongTasks.Mean, p.Time.Mean)
	}
	if len(p.Features) != 1 || p.Features[0].Views != views || math.Abs(p.Features[0].Time.Mean.Value/p.Time.Mean.Value-0.25) > 0.02 {
		t.Errorf("features: %+v", p.Features)
	}
	if names := []string{p.Phases[0].Name, p.Phases[1].Name}; !slices.Contains(names, "load") || !slices.Contains(names, "idle") {
		t.Errorf("phases: %+v", p.Phases)
	}
	var sum float64
	for _, f := range p.Functions {
		sum += f.Self.Mean.Value
		if f.Name == "main" && (f.Reach != views || f.Self.Mean.Value != 0 || math.Abs(f.Total.Mean.Value-p.Time.Mean.Value) > 1e-9) {
			t.Errorf("main: %+v", f)
		}
	}
	if len(p.Functions) != 3 || math.Abs(sum-p.Time.Mean.Value) > 1e-9 {
		t.Errorf("functions sum up to %g of %g ms: %+v", sum, p.Time.Mean.Value, p.Functions)
	}
}

// A report of traces alone is that of sums.
func TestReportOfTraces(t *testing.T) {
	l, _ := rolledField(t, 60)
	for _, sel := range []Selection{{Page: "/feed"}, {}, {Page: "/feed", Feature: "search"},
		{Page: "/feed", Where: having(trie.MakeLabels("release", "r1"))}, {Where: having(trie.MakeLabels("device", "mobile-low", "phase", "load"))}} {
		sums, err := l.Report(t.Context(), sel)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newReporting(sel)
		if err != nil {
			t.Fatal(err)
		}
		stats, err := l.eachRecord(t.Context(), sel, store.Wanted{None: true}, r.add)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Traces != 60 {
			t.Errorf("%+v: read %d traces", sel, stats.Traces)
		}
		for i, p := range r.reports(nil) {
			p.Coverage = sums.Pages[i].Coverage // traces know nothing of it
			if got, want := fmt.Sprintf("%+v", p), fmt.Sprintf("%+v", sums.Pages[i]); got != want {
				t.Errorf("%+v:\n got %s\nwant %s", sel, got, want)
			}
		}
	}
}

func TestReportRefuses(t *testing.T) {
	l, _ := rolledField(t, 3)
	for _, sel := range []Selection{
		{Where: having(trie.MakeLabels("navigation", "reload"))}, {Where: having(trie.MakeLabels("visibility", "hidden"))},
		{Feature: "search", Where: having(trie.MakeLabels("phase", "load"))}, {Since: noon, Until: noon},
	} {
		if _, err := l.Report(t.Context(), sel); err == nil {
			t.Errorf("%+v is answered", sel)
		} else if !strings.Contains(err.Error(), "are kept") && !strings.Contains(err.Error(), "before until") {
			t.Errorf("%+v: %v", sel, err)
		}
	}
}

// Questions about labels that sums do not have are answered from the traces.
func TestOtherLabels(t *testing.T) {
	l, _ := rolledField(t, 30)
	result, err := l.Profile(t.Context(), Selection{Page: "/feed", Where: having(trie.MakeLabels("navigation", ""))}, nil)
	if err != nil || result.Stats.Hours != 0 || result.Stats.Traces != 30 {
		t.Errorf("got %+v and %v", result.Stats, err)
	}
	if text := result.Stats.Read(); text != "" {
		t.Errorf("said %q of traces alone", text)
	}
	if result, err = l.Profile(t.Context(), Selection{Page: "/feed"}, nil); err != nil || result.Stats.Read() != fmt.Sprint(summedHours(), " hours summed up") {
		t.Errorf("got %q and %v", result.Stats.Read(), err)
	}
}
