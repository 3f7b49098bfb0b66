package rollup

import (
	"fmt"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// A page view distinguishes 63 sets of labels, and counts all others under (other).
func TestCellsOfView(t *testing.T) {
	for _, sets := range []int{1, 62, 63, 64, 65, 66, 100} {
		x := &trie.Trace{Trie: *trie.New()}
		x.Context.Page, x.Context.ViewID, x.Context.Interval = "/a", "view", 10_000
		node := x.Insert(trie.Frame{Name: "f"})
		for i := range int64(sets) {
			feature := trie.Span{Kind: trie.SpanFeature, Name: fmt.Sprintf("f%02d", i), Start: i * 10_000,
				Length: 10_000}
			x.Context.Spans = append(x.Context.Spans, feature)
			x.Samples = append(x.Samples, trie.Sample{Time: i * 10_000, Node: node})
		}
		b := NewBuilder("/a", trie.New(), Limits{})
		addView(b, 1, x)
		rec := decoded(t, b, Whole)
		self := map[string]int64{}
		rec.EachWeight(func(cell int, _ trie.NodeID, us, _ int64) {
			l := rec.Cells[cell].Labels
			self[l.Value(KeyFeature)+l.Value(trie.FrameOther)] += us
		})
		for i := range min(sets, 63) {
			if got := self[fmt.Sprintf("f%02d", i)]; got != 10_000 {
				t.Errorf("%d sets: number %d has %d µs, want 10,000", sets, i+1, got)
			}
		}
		if got, want := self[trie.FrameOther], int64(max(0, sets-63))*10_000; got != want {
			t.Errorf("%d sets: the others have %d µs, want %d", sets, got, want)
		}
	}
}

// The weight of a page view is 1/share in thousandths, at most 10,000 views.
func TestPopulation(t *testing.T) {
	for _, tt := range []struct {
		share float64
		want  int64
	}{
		{0, 1000}, {-1, 1000}, {1.5, 1000}, {1, 1000}, {0.3, 3333}, {0.05, 20_000},
		{0.0001, 10_000_000}, {0.00005, 10_000_000}, {1e-300, 10_000_000},
	} {
		if got := population(tt.share); got != tt.want {
			t.Errorf("a share of %g: got %d, want %d", tt.share, got, tt.want)
		}
	}
}
