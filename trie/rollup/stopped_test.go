package rollup

import (
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// A page view whose profiling stopped early is in sums, but not in distributions, even if only its
// last trace has the label, and after it is subtracted again.
func TestStopped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	b := NewBuilder("/a", trie.New(), Limits{})
	whole := smallViews(r, 20)
	for _, v := range whole {
		addView(b, 1, v...)
	}
	first, last := smallTrace(r, "stopped000000000", 0), smallTrace(r, "stopped000000000", 1)
	last.Context.Labels = trie.MakeLabels("connection", "4g", "device", "mobile-low", "stopped", "cost")
	addView(b, 1, first)
	addView(b, -1, first)
	addView(b, 1, first, last)
	rec, err := b.Record()
	if err != nil {
		t.Fatal(err)
	}
	views, _ := rec.Views()
	timed, functions := int64(0), int64(0)
	for _, d := range rec.Distributions {
		timed += d.Time.Count
	}
	for _, f := range rec.Functions {
		for _, x := range f.Of {
			functions = max(functions, x.Total.Count)
		}
	}
	if want := int64(len(whole)); views != want+1 || functions > want {
		t.Errorf("%d page views, want %d; a function is in %d, want %d at most", views, want+1, functions, want)
	}
	all := NewBuilder("/a", trie.New(), Limits{})
	for _, v := range whole {
		addView(all, 1, v...)
	}
	other, err := all.Record()
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, d := range other.Distributions {
		want += d.Time.Count
	}
	if timed != want {
		t.Errorf("%d page views in distributions, want %d", timed, want)
	}
}
