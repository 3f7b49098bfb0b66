package stretch

import (
	"math/rand/v2"
	"testing"
	"time"
)

// random returns hours with gaps and up to most page views per side.
func random(rng *rand.Rand, most int64) (hours []Hour) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for range 1 + rng.IntN(60) {
		at = at.Add(time.Duration(1+rng.IntN(2)) * time.Hour)
		hours = append(hours, Hour{at, 1 + rng.Int64N(most), 1 + rng.Int64N(most)})
	}
	return hours
}

// Each pool has enough page views of both sides at about the same ratio, and no hour is in two
// pools.
func TestPool(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	single, pooled, left := 0, 0, 0
	for range 500 {
		hours := random(rng, 1+rng.Int64N(100))
		seen := map[time.Time]bool{}
		for _, p := range Pool(hours, Enough) {
			if a, b := Sum(p); min(a, b) < Enough || !alike(p) {
				t.Fatalf("a pool with %d and %d page views: %v", a, b, p)
			}
			if len(p) == 1 {
				single++
			} else {
				pooled++
			}
			for _, h := range p {
				if seen[h.Time] {
					t.Fatalf("%v is in two pools", h.Time)
				}
				seen[h.Time] = true
			}
		}
		left += len(hours) - len(seen)
		for _, h := range hours {
			if min(h.A, h.B) >= Enough && !seen[h.Time] {
				t.Fatalf("%+v is not compared", h)
			}
		}
	}
	if min(single, pooled, left) < 100 {
		t.Errorf("%d single hours, %d pools, %d hours not compared", single, pooled, left)
	}
}

// Sides with page views at different times are not compared.
func TestShift(t *testing.T) {
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	if p := Pool([]Hour{{at, 100, 20}, {at.Add(time.Hour), 20, 100}}, Enough); len(p) != 0 {
		t.Errorf("pooled: %v", p)
	}
	if p := Pool([]Hour{{at, 25, 20}, {at.Add(time.Hour), 20, 25}}, Enough); len(p) != 1 || len(p[0]) != 2 {
		t.Errorf("not pooled: %v", p)
	}
}

// Join returns each hour once, in order, with about the same number of page views per stratum.
func TestJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		hours := random(rng, 300)
		pools := Pool(hours, Enough)
		compared := map[time.Time]int64{}
		var total, most int64
		for _, p := range pools {
			a, b := Sum(p)
			total, most = total+min(a, b), max(most, min(a, b))
			for _, h := range p {
				compared[h.Time] = min(h.A, h.B)
			}
		}
		views := map[string]int64{}
		last := time.Time{}
		for _, s := range Join(pools) {
			if s.Since.Before(last) {
				t.Fatalf("%v follows %v", s.Since, last)
			}
			for last = s.Since; last.Before(s.Until); last = last.Add(time.Hour) {
				n, ok := compared[last]
				if !ok {
					t.Fatalf("%v is not compared", last)
				}
				delete(compared, last)
				views[s.Stratum] += n
			}
		}
		if len(compared) > 0 || len(views) > mostStrata {
			t.Fatalf("%d hours are missing, %d strata", len(compared), len(views))
		}
		for s, n := range views {
			if n > total/mostStrata+most+1 {
				t.Errorf("%s has %d of %d page views", s, n, total)
			}
		}
	}
}
