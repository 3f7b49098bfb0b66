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

// TestStepCache queries random steps of less than an hour while traces arrive and hours end. Chunks
// of the same page view are in different steps. Cached steps must not change the results.
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
		q.Lag = 4 // ns: no cached response is young enough to be reused
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
		t.Errorf("at most %d steps were cached", known)
	}
}

// The cache is bounded in bytes and drops the least recently used entry first.
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
			t.Fatalf("%d pages take %d bytes, the last one is cached: %v", len(f.kept.Names()), f.kept.Size(), ok)
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

// Two queries use the same steps, which do not fit into the cache. The first query drops them. The
// second query, which waited for the first, releases steps that are no longer in the map and have
// no size.
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
	c, _ := f.take(context.Background(), "another, small query")
	give("another, small query", c)
	d, _ := f.take(context.Background(), "one more")
	give("one more", d)
}

func TestStepCacheSizeOfDropped(t *testing.T) {
	f := NewStepCache()
	slow, _ := f.take(context.Background(), "slow")
	big, _ := f.take(context.Background(), "big")
	slow.steps, big.steps = stepsOfSize(maxStepBytes/3), stepsOfSize(maxStepBytes+1)
	f.give(big) // too large to be cached
	f.give(slow)
	if f.kept.Size() > maxStepBytes {
		t.Errorf("%d bytes are cached", f.kept.Size())
	}
}

// Entries take 12 MB, as 20,000 traces by the minute do. Some are evicted while they are read
// again.
func TestStepCacheEviction(t *testing.T) {
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
			for i := range 8 { // other pages, concurrently
				f.give(get(string(rune('a' + i))))
			}
			f.give(slow)
		}()
	}
}
