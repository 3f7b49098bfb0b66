package query

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// One page view with minutes among a hundred with milliseconds is reported as few. Similar page
// views are not.
func TestFew(t *testing.T) {
	of := func(n int, us ...int64) Spread {
		var s rollup.Spread
		add := func(v int64) {
			s.Moments.Add(v, 1)
			s.Histogram.Add(v, 1)
		}
		for i := range n {
			add(50_000 + int64(i)*1000)
		}
		for _, v := range us {
			add(v)
		}
		return spreadOf(&s, s.Count)
	}
	if f := of(60, 600_000_000).Few; f == nil || f.Views != 1 || f.Share < 0.97 || f.Share > 1 {
		t.Errorf("one view of ten minutes: %+v", f)
	}
	if f := of(500, 600_000_000, 600_000_000, 90_000_000).Few; f == nil || f.Views != 6 || f.Share < 0.8 {
		t.Errorf("three views of minutes: %+v", f)
	}
	for _, s := range []Spread{of(60), of(60, 1_000_000), of(5, 600_000_000), of(0)} {
		if s.Few != nil {
			t.Errorf("%+v of a mean of %.0f ms", s.Few, s.Mean.Value)
		}
	}
}
