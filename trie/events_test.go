package trie

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// nestOneByOne is like [Nest], but compares each event with all open events.
func nestOneByOne(events []Event) (nested []Event, clipped, dropped int) {
	drop := make([]bool, len(events))
	var open []int
	for i := range events {
		e := &events[i]
		open = slices.DeleteFunc(open, func(k int) bool { return events[k].End <= e.Start })
		crosses := func(k int) bool { return events[k].End < e.End }
		if e.Measure {
			drop[i] = slices.ContainsFunc(open, crosses) || !slices.ContainsFunc(open, func(k int) bool {
				return !events[k].Measure
			})
			if !drop[i] {
				open = append(open, i)
			}
			continue
		}
		open = slices.DeleteFunc(open, func(k int) bool {
			drop[k] = drop[k] || crosses(k) && events[k].Measure
			return drop[k]
		})
		if at := slices.IndexFunc(open, crosses); at >= 0 {
			outer, inner := &events[open[at]], &events[open[len(open)-1]]
			if outer.End-e.Start < e.End-inner.End && e.Start > outer.Start {
				for _, k := range open[at:] {
					events[k].End = e.Start
					clipped++
				}
				open = open[:at]
			} else {
				e.End = inner.End
				clipped++
			}
		}
		open = append(open, i)
	}
	for i, e := range events {
		if drop[i] {
			dropped++
		} else {
			nested = append(nested, e)
		}
	}
	return nested, clipped, dropped
}

func TestNestLikeOneByOne(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var events []Event
		for range r.IntN(30) {
			start := r.Int64N(100)
			events = append(events, Event{Frame: Frame{Name: []string{"RunTask", "e"}[r.IntN(2)]}, Start: start,
				End: start + r.Int64N(60), Measure: r.IntN(3) == 0})
		}
		got, clipped, dropped := Nest(slices.Clone(events)) // sorts its argument; sorted events are unchanged
		sorted := slices.Clone(events)
		slices.SortStableFunc(sorted, compareEvents)
		want, wantClipped, wantDropped := nestOneByOne(sorted)
		if clipped != wantClipped || dropped != wantDropped || len(got) != len(want) || len(got) > 0 &&
			!reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v\ngot  %v %d %d\nwant %v %d %d", seed, events, got, clipped, dropped, want,
				wantClipped, wantDropped)
		}
	}
}

// Comparing each event with all open events would take minutes.
func TestNestCrossing(t *testing.T) {
	const n = 300_000
	var events []Event
	for i := range int64(n) {
		events = append(events, Event{Start: i, End: i + 2*n}, Event{Start: i, End: i + 2*n, Measure: true})
	}
	nested, clipped, dropped := Nest(events)
	if len(nested)+dropped != 2*n || clipped != n-1 {
		t.Errorf("%d events, %d clipped, %d dropped", len(nested), clipped, dropped)
	}
}
