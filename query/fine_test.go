package query

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// TestFine asks at random for steps of less than an hour while traces come in, chunks of page
// views in different steps among them, and hours end. What is kept of steps that are over must
// make no difference.
func TestFine(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	now := fixture.Noon
	s := storetest.Open(t, store.Options{MemTableSize: 8 << 20, MinFree: -1, Now: func() time.Time { return now }})
	f := &fixture.Stored{Store: s}
	exact := localOf(f)
	kept := localOf(f)
	kept.Fine = NewFine()
	pages := func(op selection.Op, value string) []selection.Matcher {
		m, err := selection.NewMatcher(selection.KeyPage, op, value)
		if err != nil {
			t.Fatal(err)
		}
		return []selection.Matcher{m}
	}
	var waiting []*trie.Trace
	for hour := range 12 {
		waiting = append(waiting, fixture.Spans(hour)...)
	}
	known := 0
	for n := 0; len(waiting) > 0; n++ {
		now = now.Add(time.Duration(r.IntN(60)) * time.Second)
		for range min(r.IntN(8), len(waiting)) {
			i := r.IntN(min(40, len(waiting)))
			f.Append(t, n, waiting[i:i+1])
			waiting = slices.Delete(waiting, i, i+1)
		}
		q := SeriesQuery{Step: []time.Duration{time.Minute, 5 * time.Minute}[r.IntN(2)], Histogram: true}
		q.Since = fixture.Noon.Add(time.Duration(r.IntN(2)) * 10 * time.Minute)
		q.GroupBy = [][]string{nil, {selection.KeyPage}, {rollup.KeyFeature}, {rollup.KeyRelease}}[r.IntN(4)]
		switch r.IntN(4) {
		case 0:
			q.Page = "/a"
		case 1:
			q.Where = pages(selection.Matches, `\/b`)
		case 2:
			q.Where = pages(selection.NotEqual, "/b")
		}
		want, err := exact.Series(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Lag = 4 // ns: nothing is so young that it is not read again
		got, err := kept.Series(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Groups, want.Groups) || got.Stats.Traces != want.Stats.Traces {
			t.Fatalf("%v after noon, %+v:\ngot  %d traces, %v\nwant %d traces, %v", now.Sub(fixture.Noon), q, got.Stats.Traces, got.Groups, want.Stats.Traces, want.Groups)
		}
		for _, x := range kept.Fine.of {
			known = max(known, len(x.steps))
		}
	}
	if known < 20 {
		t.Errorf("at most %d steps were kept", known)
	}
}

// What is kept is bounded in bytes, and what was not used for the longest time goes first.
func TestFineRoom(t *testing.T) {
	f := NewFine()
	for n := range 40 {
		x, err := f.take(t.Context(), fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			x.steps = append(x.steps, step{stepSums: stepSums{weights: make([]trie.Weight, 100)}})
		}
		f.give(x)
		sum := 0
		for _, x := range f.of {
			sum += x.size
		}
		if sum != f.size || sum > maxFineSize || f.of[fmt.Sprint(n)] != x {
			t.Fatalf("%d pages take %d bytes, %d are counted, the last one is there: %v", len(f.of), sum, f.size, f.of[fmt.Sprint(n)] == x)
		}
	}
	if f.of["0"] != nil || len(f.of) < 10 {
		t.Errorf("%d pages are left", len(f.of))
	}
}
