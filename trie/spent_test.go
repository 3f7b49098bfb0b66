package trie

import (
	"math/rand/v2"
	"testing"
)

// What the time of a trace went to is what its merge has, whose frames say it: both are sums of
// the same samples by other code.
func TestSpentIsThatOfMerge(t *testing.T) {
	seen := Spent{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		trace := randomTrace(seed)
		trace.Gapless = r.IntN(2) == 0
		if n := len(trace.Samples); n > 0 {
			trace.End = trace.Samples[n-1].Time + int64(r.IntN(1000))
		}
		names := []string{FrameProgram, FrameIdle, FrameGC, "f"}
		for i := range trace.Samples {
			if r.IntN(3) == 0 {
				trace.Samples[i] = Sample{Time: trace.Samples[i].Time, Node: trace.Insert(Frame{Name: names[r.IntN(len(names))]})}
			}
		}
		m := NewMerger()
		m.AddStream(&Stream{Trace: trace}, m.Group(nil))
		p := m.Profile()
		got, want := trace.Spent(), p.Spent(0)
		if got != want {
			t.Errorf("seed %d: got %+v, the merge has %+v", seed, got, want)
		}
		self, _ := p.Groups[0].Sum()
		if all := want.JavaScript + want.Collecting + want.Program + want.Idle; all != self+p.Groups[0].Coverage.Idle {
			t.Errorf("seed %d: %+v of %d µs, %d µs of that idle", seed, want, self+p.Groups[0].Coverage.Idle, p.Groups[0].Coverage.Idle)
		}
		seen.Add(got)
	}
	if seen.JavaScript == 0 || seen.Collecting == 0 || seen.Program == 0 || seen.Idle == 0 {
		t.Errorf("the traces have %+v alone", seen)
	}
}
