package query

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// TestStepCache asks at random for steps of less than an hour while traces come in, chunks of page
// views in different steps among them, and hours end. What is kept of steps that are over must
// make no difference.
func TestStepCache(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	f := &fixture.Stored{Store: s}
	exact := localOf(f)
	kept := localOf(f)
	kept.Steps = NewStepCache()
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
			t.Fatalf("%v after noon, %+v:\ngot  %d traces, %v\nwant %d traces, %v", now.Sub(fixture.Noon), q,
				got.Stats.Traces, got.Groups, want.Stats.Traces, want.Groups)
		}
		for _, name := range kept.Steps.kept.Names() {
			if x, ok := kept.Steps.kept.Get(name); ok {
				known = max(known, len(x.steps))
			}
		}
	}
	if known < 20 {
		t.Errorf("at most %d steps were kept", known)
	}
}

// What is kept is bounded in bytes, and what was not used for the longest time goes first.
func TestStepCacheRoom(t *testing.T) {
	f := NewStepCache()
	for n := range 40 {
		x, err := f.take(t.Context(), fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			x.steps = append(x.steps, step{stepSums: stepSums{weights: make([]trie.Weight, 100)}})
		}
		f.give(x)
		if now, ok := f.kept.Get(fmt.Sprint(n)); !ok || now != x || f.kept.Size() > maxStepBytes {
			t.Fatalf("%d pages take %d bytes, the last one is there: %v", len(f.kept.Names()), f.kept.Size(), ok)
		}
	}
	if names := f.kept.Names(); slices.Contains(names, "0") || len(names) < 10 {
		t.Errorf("%d pages are left", len(names))
	}
}

func stepsOfSize(bytes int) []step {
	s := step{at: time.Now(), page: "/"}
	return make([]step, bytes/s.size()+1)
}

// Two ask for the same steps, which take more room than there is. The first drops them; the second,
// who waited for its turn, gives back what is in no map any more, which counts for nothing.
func TestStepCacheGivenBackAfterDrop(t *testing.T) {
	f := NewStepCache()
	a, err := f.take(context.Background(), "k")
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan *pageSteps)
	go func() {
		b, _ := f.take(context.Background(), "k")
		second <- b
	}()
	time.Sleep(50 * time.Millisecond)
	a.steps = stepsOfSize(maxStepBytes + 1)
	f.give(a)
	give := func(what string, x *pageSteps) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: panic: %v (size %d, kept %d)", what, r, f.kept.Size(), len(f.kept.Names()))
			}
		}()
		f.give(x)
	}
	give("the second", <-second)
	c, _ := f.take(context.Background(), "another, small question")
	give("another, small question", c)
	d, _ := f.take(context.Background(), "one more")
	give("one more", d)
}

func TestStepCacheSizeOfDropped(t *testing.T) {
	f := NewStepCache()
	slow, _ := f.take(context.Background(), "slow")
	big, _ := f.take(context.Background(), "big")
	slow.steps, big.steps = stepsOfSize(maxStepBytes/3), stepsOfSize(maxStepBytes+1)
	f.give(big) // which is too large
	f.give(slow)
	if f.kept.Size() > maxStepBytes {
		t.Errorf("%d bytes are kept", f.kept.Size())
	}
}

// Entries of 12 MB, which 20,000 traces are by the minute. Now and then one is pushed out while it
// is being read anew.
func TestStepCacheLeaksUntilItPanics(t *testing.T) {
	f := NewStepCache()
	get := func(key string) *pageSteps {
		x, err := f.take(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		x.steps = stepsOfSize(12 << 20)
		return x
	}
	for round := range 20 {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("round %d: panic: %v (size %d, kept %d)", round, r, f.kept.Size(), len(f.kept.Names()))
				}
			}()
			slow := get("slow page")
			for i := range 8 { // other pages, meanwhile
				f.give(get(string(rune('a' + i))))
			}
			f.give(slow)
		}()
	}
}
