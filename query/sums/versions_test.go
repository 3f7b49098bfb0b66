package sums

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// The versions of a side cover all of its page views, however they are divided among records.
func TestVersions(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		views := randomViews(r)
		side, day := NewSide(Facet{Selection: selection.Selection{}}, nil, false, func(int) error {
			return nil
		}), NewDay(time.Time{}, "")
		plain := NewSide(Facet{Selection: selection.Selection{}}, nil, true, func(int) error { return nil })
		for _, x := range split(t, r, views) {
			for _, s := range []*Side{side, plain} {
				if err := s.Add(x, false); err != nil {
					t.Fatal(err)
				}
			}
			day.Add(x, false)
		}
		want := map[string]float64{}
		for i := range views {
			want[views[i].browser]++
		}
		cells := side.versions.Cells()
		got := map[string]float64{}
		var all browsers.Sum
		for _, c := range cells {
			for name, x := range c.Versions {
				got[name] += x.Views
				all = all.Plus(x)
			}
		}
		strata := map[string]float64{}
		var spent rollup.Spread
		for _, x := range side.strata {
			spent.AddAll(&x.time)
			for name, n := range x.versions {
				strata[name] += n
			}
		}
		for name, n := range want {
			if got[name] != n || strata[name] != n {
				t.Errorf("seed %d: %s has %g page views in cells and %g in strata, want %g", seed, name, got[name],
					strata[name], n)
			}
		}
		if !near(all.Time, float64(spent.Sum)/1e3) || !near(all.Squares, spent.Squares()/1e6) {
			t.Errorf("seed %d: %+v of %d µs", seed, all, spent.Sum)
		}
		if days := day.versions.Cells(); len(days) != len(cells) {
			t.Errorf("seed %d: %d cells of a day, %d of a side", seed, len(days), len(cells))
		}
		if len(plain.versions) != 0 {
			t.Errorf("seed %d: a side without strata has versions", seed)
		}
	}
}

func TestVersionOf(t *testing.T) {
	for browser, want := range map[string]string{"Chrome 158": "Chrome 158", trie.FrameOther: "", "": ""} {
		if got := VersionOf(trie.MakeLabels("browser", browser)); got != want {
			t.Errorf("%q is %q, want %q", browser, got, want)
		}
	}
}
