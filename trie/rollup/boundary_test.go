package rollup

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// sampled returns a trace of a page view with an interval of 10 ms and a sample at each time (µs):
// of f, or without a stack if the time is negative.
func sampled(times ...int64) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context.Page, t.Context.ViewID, t.Context.Interval = "/a", "view", 10_000
	f := t.Insert(trie.Frame{Name: "f"})
	for _, at := range times {
		if at < 0 {
			t.Samples = append(t.Samples, trie.Sample{Time: -at})
		} else {
			t.Samples = append(t.Samples, trie.Sample{Time: at, Node: f})
		}
	}
	return t
}

// A task of exactly 50 ms is long.
func TestLongTasks(t *testing.T) {
	for _, tt := range []struct {
		what  string
		trace *trie.Trace
		want  int64
	}{
		{"just under 50 ms", sampled(0, 10_000, 20_000, 30_000, 40_000, -49_999), 0},
		{"50 ms", sampled(0, 10_000, 20_000, 30_000, 40_000, -50_000), 50_000},
		{"twice 30 ms, with a pause", sampled(0, 10_000, 20_000, -30_000, 40_000, 50_000, 60_000, -70_000), 0},
		{"60 ms up to the last sample", sampled(0, 10_000, 20_000, 30_000, 40_000, 50_000), 60_000},
	} {
		b := NewBuilder("/a", trie.New(), Limits{})
		addView(b, 1, tt.trace)
		if got := decoded(t, b, Whole).Distributions[0].Long.Sum; got != tt.want {
			t.Errorf("%s: got %d µs in long tasks, want %d", tt.what, got, tt.want)
		}
	}
}

// A gap is likely JavaScript if the samples on both sides are, and half of it if one of them is.
// The estimate excludes the time that the first sample already covers.
func TestLikely(t *testing.T) {
	for _, tt := range []struct {
		what  string
		trace *trie.Trace
		want  int64
	}{
		{"both", sampled(0, 100_000, -110_000), 100_000 - 30_000},
		{"only the sample before", sampled(0, -100_000, -110_000), 50_000 - 30_000},
		{"only the sample after", sampled(-1, 100_001, -110_001), 50_000},
		{"none", sampled(-1, -100_001, -110_001), 0},
		{"no sample is missing", sampled(0, 20_000, -40_000), 0},
	} {
		b := NewBuilder("/a", trie.New(), Limits{})
		addView(b, 1, tt.trace)
		got := int64(0)
		for _, c := range decoded(t, b, Whole).Cells {
			got += c.Likely
		}
		if got != tt.want {
			t.Errorf("%s: got %d µs, want %d", tt.what, got, tt.want)
		}
	}
}

// Distributions exclude a page view if profiling stopped early in any of its traces.
func TestStoppedByAnyTrace(t *testing.T) {
	for _, stops := range [][]bool{
		{false, false, false}, {true, false, false}, {false, true, false}, {false, false, true},
	} {
		var chunks []*trie.Trace
		want := int64(1)
		for i, stopped := range stops {
			x := sampled(0, 10_000)
			x.Context.Chunk = uint32(i)
			if stopped {
				x.Context.Labels, want = trie.MakeLabels(KeyStopped, "cost"), 0
			}
			chunks = append(chunks, x)
		}
		b := NewBuilder("/a", trie.New(), Limits{})
		addView(b, 1, chunks...)
		rec := decoded(t, b, Whole)
		got := int64(0)
		for _, d := range rec.Distributions {
			got += d.Time.Count
		}
		if views, traces := rec.Views(); got != want || views != 1 || traces != 3 {
			t.Errorf("%v: got %d page views in distributions and %d with %d traces in all, want %d and 1 with 3",
				stops, got, views, traces, want)
		}
	}
}

// Rounding of a share does not change the rank: 7 % of 100 values is the seventh value.
func TestRank(t *testing.T) {
	for _, n := range []int{1, 2, 10, 100, 1000} {
		for i := 1; i <= n; i++ {
			if got := Rank(float64(i)/float64(n), n); got != i-1 {
				t.Fatalf("%d of %d values: got rank %d, want %d", i, n, got, i-1)
			}
		}
	}
	for percent := 1; percent <= 100; percent++ {
		if got := Rank(float64(percent)*0.01, 100); got != percent-1 {
			t.Errorf("%d %% of 100 values: got rank %d, want %d", percent, got, percent-1)
		}
	}
	for _, tt := range []struct {
		q    float64
		n    int
		want int
	}{{0, 5, 0}, {1, 5, 4}, {0.5, 5, 2}, {0.5, 4, 1}, {0.51, 4, 2}, {0.75, 1, 0}} {
		if got := Rank(tt.q, tt.n); got != tt.want {
			t.Errorf("%g of %d values: got rank %d, want %d", tt.q, tt.n, got, tt.want)
		}
	}
}
