package demo

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// TestResample stretches random recordings, and holds the time of each function against that of the recording.
func TestResample(t *testing.T) {
	const interval = 10_000
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var samples []trie.Sample
		at, runs := r.Int64N(1e6), 0
		before := map[trie.NodeID]float64{}
		for len(samples) < 400 {
			node := trie.NodeID(r.IntN(6))
			runs++
			for range 1 + r.IntN(20) {
				samples = append(samples, trie.Sample{Time: at, Node: node})
				before[node] += interval
				at += interval
			}
		}
		stretch := math.Exp(r.NormFloat64() * 0.6)
		after := map[trie.NodeID]float64{}
		got := resample(samples, interval, stretch, r.Int64N(1e9))
		for i, s := range got {
			after[s.Node] += interval
			if i > 0 && s.Time-got[i-1].Time != interval {
				t.Fatalf("seed %d: %d µs between two samples", seed, s.Time-got[i-1].Time)
			}
		}
		for node, us := range before { // each run is cut to whole intervals, this way or that
			if off := after[node] - us*stretch; math.Abs(off) > interval*(2+4*math.Sqrt(float64(runs))) {
				t.Errorf("seed %d: node %d has %.0f µs and not %.0f", seed, node, after[node], us*stretch)
			}
		}
	}
}

// TestResampleSame looks at a recording as it was looked at before.
func TestResampleSame(t *testing.T) {
	samples := []trie.Sample{{Time: 5000, Node: 1}, {Time: 15_000}, {Time: 25_000, Node: 2, Marker: trie.MarkerGC}, {Time: 95_000, Node: 3}, {Time: 105_000, Node: 3}}
	got := resample(samples, 10_000, 1, 0)
	want := append(slices.Clone(samples[:3]), trie.Sample{Time: 35_000, Node: 2, Marker: trie.MarkerGC}, trie.Sample{Time: 45_000, Node: 2, Marker: trie.MarkerGC}, samples[3], samples[4])
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestReplay stretches what a trace has beside samples, and calls interactions slow by what they take then.
func TestReplay(t *testing.T) {
	of := &trie.Trace{Trie: *trie.New(), Cost: trie.Cost{Start: 100, Encode: 50, Bytes: 9}}
	of.Context = trie.Context{Interval: 10_000, Spans: []trie.Span{
		{Kind: trie.SpanLabel, Name: "phase=interaction", Start: 1000, Length: 120_000},
		{Kind: trie.SpanFeature, Name: "search", Start: 2000, Length: 100_000},
		{Kind: trie.SpanLabel, Name: "phase=slow-interaction", Start: 500_000, Length: 300_000},
	}}
	slower := replay(of, 2, 0)
	if got := slower.Context.Spans; got[0].Name != "phase=slow-interaction" || got[0].Length != 240_000 || got[1].Start != 4000 || got[2].Name != "phase=slow-interaction" {
		t.Errorf("slower: %+v", got)
	}
	if got := replay(of, 0.5, 0).Context.Spans; got[0].Name != "phase=interaction" || got[2].Name != "phase=interaction" || got[2].Start != 250_000 {
		t.Errorf("faster: %+v", got)
	}
	if got := slower.Cost; got.Start != 200 || got.Encode != 100 || got.Bytes != 9 {
		t.Errorf("cost: %+v", got)
	}
	if of.Context.Spans[0].Length != 120_000 {
		t.Error("the recording is another one now")
	}
	vitals := replayVitals(map[string]float64{"ttfb": 100, "lcp": 600, "inp": 100, "cls": 0.1}, 2, 3)
	if vitals["ttfb"] != 300 || vitals["lcp"] != 1300 || vitals["inp"] != 200 || vitals["cls"] != 0.1 {
		t.Errorf("vitals: %v", vitals)
	}
	parts := replayParts(map[string][]float64{"lcp": {100, 100, 200, 200}, "inp": {10, 20, 70}}, vitals)
	if want := map[string][]float64{"lcp": {300, 200, 400, 400}, "inp": {20, 40, 140}}; !reflect.DeepEqual(parts, want) {
		t.Errorf("parts: %v, want %v", parts, want)
	}
}
