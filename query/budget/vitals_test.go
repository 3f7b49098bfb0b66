package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Budgets for Web Vitals use the values of all page views with a report, profiled or not.
func TestVitals(t *testing.T) {
	now := noon.Add(-time.Hour)
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	for i := range 200 {
		inp := rollup.Vital{Name: "inp", Labels: trie.MakeLabels("device", []string{"desktop-high", "mobile-low"}[i%2])}
		inp.Add(int64(100+i+i%2*200)*1000, 1)
		cls := rollup.Vital{Name: "cls", Labels: inp.Labels}
		cls.Add(int64(i)*1000, 1)
		s.CountVitals("/feed", []rollup.Vital{inp, cls})
	}
	now = now.Add(time.Second)
	s.RollUp(t.Context())
	f, err := Parse(strings.NewReader(`
budgets:
  - {name: all, page: /feed, metric: p75, of: inp, limit: 200ms}
  - {name: fast, page: /feed, label: [device=desktop-high], metric: p75, of: inp, limit: 300ms}
  - {name: shifts, page: /feed, metric: p50, of: cls, limit: 0.2}
  - {name: unknown, page: /feed, metric: p75, of: lcp, limit: 2.5s}
  - {name: in a phase, page: /feed, label: [phase=load], metric: p75, of: inp, limit: 300ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Evaluate(t.Context(), query.Local{Reader: s}, f, noon)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		verdict Verdict
		unit    string
		views   int64
	}{{Blown, "ms", 200}, {OK, "ms", 100}, {OK, "score", 200}, {NoData, "ms", 0}, {Failed, "ms", 0}} {
		if s := got[i]; s.Verdict != want.verdict || s.Unit != want.unit || s.Views != want.views {
			t.Errorf("%s: %s in %s of %d page views, want %+v: %+v", s.Name, s.Verdict, s.Unit, s.Views, want, s)
		}
	}
	if v := got[0].Value; v.Value < 340 || v.Value > 400 || v.Low >= v.Value || v.High <= v.Value {
		t.Errorf("p75 of inp is %+v", v)
	}
}
