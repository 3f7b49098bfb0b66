package trie

import "testing"

func TestScale(t *testing.T) {
	p := NewProfile()
	n := p.Insert(Frame{Name: "a"})
	p.Add(nil, n, Weight{Self: 10, Samples: 3, Reach: 2})
	p.Group(nil).Coverage = Coverage{Views: 4, Traces: 5, Idle: 7}
	p.Views, p.Traces = 4, 5
	got := p.Scale(6)
	if w := got.Groups[0].Weights.Of(n); w != (Weight{15, 5, 3}) {
		t.Errorf("weight: %+v", w)
	}
	if c := got.Groups[0].Coverage; c != (Coverage{Views: 6, Traces: 8, Idle: 11}) || got.Views != 6 ||
		got.Traces != 8 {
		t.Errorf("coverage: %+v of %d views, %d traces", c, got.Views, got.Traces)
	}
	if p.Groups[0].Weights.Of(n).Self != 10 {
		t.Error("the argument was changed")
	}
	if got := NewProfile().Scale(6); got.Views != 0 || len(got.Groups) != 0 {
		t.Errorf("an empty profile became %+v", got)
	}
	for seed := range uint64(100) {
		p := randomProfile(seed)
		if err := p.Scale(1 << 40).Validate(); err != nil {
			t.Error(err)
		}
	}
}
