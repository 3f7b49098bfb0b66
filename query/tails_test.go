package query

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// growing is a store that receives traces, some of them further chunks of stored page views.
type growing struct {
	Store *storetest.Store
	rnd   *rand.Rand
	views int
	all   map[string]map[int][]*trie.Trace // by page and view
}

func (g *growing) append(t *testing.T, n int) {
	t.Helper()
	var recs []store.Record
	for range n {
		view := g.rnd.IntN(g.views/2 + 5)
		g.views = max(g.views, view)
		page := []string{"/feed", "/shop"}[view%2]
		if g.all[page] == nil {
			g.all[page] = map[int][]*trie.Trace{}
		}
		chunk := len(g.all[page][view])
		tr := fixture.ViewTrace(g.rnd, view, 30+g.rnd.IntN(20)*10)
		tr.Context.Page, tr.Context.Chunk = page, uint32(chunk)
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Pages: []string{page}, Payload: payload}
		copy(rec.ID.View[:], tr.Context.ViewID)
		rec.ID.Chunk = uint32(chunk)
		recs = append(recs, rec)
		g.all[page][view] = append(g.all[page][view], tr)
	}
	if _, err := g.Store.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
}

// want merges all stored traces.
func (g *growing) want(sel selection.Selection) *trie.Profile {
	m := trie.NewMerger()
	for page, views := range g.all {
		for _, traces := range views {
			m.NextView()
			for _, tr := range traces {
				if sel.TakesPage(page) {
					sel.Merge(m, tr, page)
				}
			}
		}
	}
	return m.Profile()
}

// In any order of queries, new traces and rolling up, a response has all traces stored before its
// query.
func TestTails(t *testing.T) {
	for seed := range uint64(2) {
		now := fixture.Noon
		s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
		g := &growing{Store: s, rnd: rand.New(rand.NewPCG(seed, 3)), all: map[string]map[int][]*trie.Trace{}}
		l := Local{Reader: s}
		g.append(t, 300) // more than are read one by one
		for step := range 40 {
			g.append(t, g.rnd.IntN(12))
			now = now.Add(time.Duration(g.rnd.IntN(700)) * time.Millisecond)
			if g.rnd.IntN(4) == 0 {
				s.RollUp(t.Context())
			}
			sel := []selection.Selection{{Page: "/feed"}, {Page: "/shop"}, {}, {Page: "/feed", Feature: "search"},
				{Where: fixture.Having(trie.MakeLabels("device", "mobile-low"))}}[g.rnd.IntN(5)]
			p := g.want(sel)
			result, err := l.Profile(t.Context(), sel, nil)
			if err != nil || len(result.Stats.Warnings) > 0 {
				t.Fatalf("seed %d, step %d: %v, %q", seed, step, err, result.Stats.Warnings)
			}
			if got, want := fmt.Sprint(fixture.StacksOf(result.Profile)),
				fmt.Sprint(fixture.StacksOf(p)); got != want || result.Profile.Views != p.Views ||
				result.Profile.Traces != p.Traces {
				t.Fatalf("seed %d, step %d%s: %d views, %d traces, want %d, %d\n got %s\nwant %s", seed, step, sel,
					result.Profile.Views, result.Profile.Traces, p.Views, p.Traces, got, want)
			}
			top, err := l.Top(t.Context(), TopQuery{Selection: sel})
			if err != nil || top.Views != p.Views {
				t.Fatalf("seed %d, step %d%s: %d views, want %d; %v", seed, step, sel, top.Views, p.Views, err)
			}
			for i, f := range p.Functions() {
				x := top.Functions[i]
				if x.Name != f.Name || x.Self != f.Self || x.SelfSpread == nil && len(sel.Where) == 0 &&
					sel.Feature == "" {
					t.Fatalf("seed %d, step %d%s: %+v, want %+v", seed, step, sel, x, f)
				}
			}
		}
	}
}

// Concurrent queries run while traces arrive and are rolled up.
func TestTailsAtOnce(t *testing.T) {
	s := storetest.Open(t, storetest.Options{})
	g := &growing{Store: s, rnd: rand.New(rand.NewPCG(9, 9)), all: map[string]map[int][]*trie.Trace{}}
	g.append(t, 300)
	l := Local{Reader: s}
	var asking sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		asking.Go(func() {
			last := int64(0)
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				sel := selection.Selection{Page: "/feed"}
				traces := int64(0)
				if (n+i)%2 == 0 {
					top, err := l.Top(t.Context(), TopQuery{Selection: sel})
					if err != nil {
						t.Error(err)
						return
					}
					traces = top.Traces
				} else {
					series, err := l.Series(t.Context(), SeriesQuery{Selection: sel})
					if err != nil {
						t.Error(err)
						return
					}
					traces = series.Groups[0].Points[0].Traces
				}
				if traces < last {
					t.Errorf("the number of traces fell to %d from %d", traces, last)
				}
				last = traces
			}
		})
	}
	for range 15 {
		g.append(t, 20)
		s.RollUp(t.Context())
	}
	close(done)
	asking.Wait()
	sel := selection.Selection{Page: "/feed"}
	top, err := l.Top(t.Context(), TopQuery{Selection: sel})
	if want := g.want(sel); err != nil || top.Traces != want.Traces || top.Views != want.Views {
		t.Errorf("%d traces of %d views, want %d of %d; %v", top.Traces, top.Views, want.Traces, want.Views, err)
	}
}
