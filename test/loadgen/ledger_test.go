package loadgen

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// TestLedger records the outcomes of the chunks of a view.
func TestLedger(t *testing.T) {
	hour := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	type event struct {
		chunk  int
		fate   fate
		second int // after the hour
		last   bool
	}
	for name, c := range map[string]struct {
		events []event
		want   tally
	}{
		"everything is stored": {[]event{{0, acked, 1, true}, {1, acked, 5, true}}, tally{acked: 3}},
		"an hour ends": {[]event{{0, acked, -1, true}, {1, acked, 1, true}},
			tally{acked: 3, split: true}},
		"one chunk cannot be split": {[]event{{0, acked, -1, true}, {1, refused, 1, true}}, tally{acked: 1}},
		"no answer": {[]event{{0, acked, 1, true}, {1, unclear, 2, true}},
			tally{acked: 1, unclear: 2}},
		"no answer at first": {[]event{{0, acked, 1, true}, {1, unclear, 2, false}, {1, acked, 3, true}},
			tally{acked: 3}},
		"no answer at first, then busy": {[]event{{0, acked, 1, true}, {1, unclear, 2, false}, {1, refused, 3, true}},
			tally{acked: 1, unclear: 2}},
		"stored before the answer, split": {[]event{{0, unclear, -9, false}, {0, acked, 1, true}, {1, acked, 3, true}},
			tally{acked: 3, split: true}},
	} {
		l := newLedger()
		v := &view{}
		l.open(v, 2)
		for _, e := range c.events {
			at := hour.Add(time.Duration(e.second) * time.Second)
			l.settle(delivery{view: v, number: e.chunk}, e.fate, at, at, e.last)
		}
		if got := slices.Collect(maps.Keys(l.views)); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestBounds expects that a view with chunks in two hours counts once or twice, and all its other
// values once.
func TestBounds(t *testing.T) {
	g, err := New(Options{Traces: realTraces(t)[:2], Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(g.variants, func(v variant) bool { return len(v.chunks) == 2 })
	if n < 0 {
		t.Fatal("no variant has two chunks")
	}
	x, err := newExpectation(g.variants)
	if err != nil {
		t.Fatal(err)
	}
	q := pageQuery{page: "/p"}
	least, most := x.bounds(q, 0, map[tally]uint64{{variant: n, acked: 3, split: true}: 10, {variant: n, acked: 1,
		unclear: 2}: 5})
	if least.Views != 15 || most.Views != 25 || least.Traces != 25 || most.Traces != 30 {
		t.Errorf("%d to %d views, %d to %d traces", least.Views, most.Views, least.Traces, most.Traces)
	}
	if _, count := compare(least, least, most, 9); count > 0 {
		t.Errorf("the lower bound is not within the bounds")
	}
	if _, count := compare(most, least, least, 9); count == 0 {
		t.Errorf("the bounds are equal")
	}
}
