package quota

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestEstablishedNames checks that a flood of new names takes places only from other new names, not
// from names of earlier hours, even if it lasts long or comes at night.
func TestEstablishedNames(t *testing.T) {
	const most, site, flood = 100, 40, 1000
	hour := 0
	var b Budget
	places := func(prefix string, n int) (found int) {
		for i := range n {
			if ok, _ := b.Take("page", fmt.Sprint(prefix, i), Sender{}, noon.Add(time.Duration(hour)*time.Hour)); ok {
				found++
			}
		}
		return found
	}
	for _, c := range []struct {
		name string
		from func()
	}{
		{"in three hours", func() {
			for range 3 {
				places("/page-", site)
				hour++
			}
		}},
		{"before a start", func() {
			var names []string
			for i := range site {
				names = append(names, fmt.Sprint("/page-", i))
			}
			b.Establish("page", names)
			b.Start(noon, "page", names[:site/2])
		}},
	} {
		b, hour = Budget{most: most}, 0
		c.from()
		for day := range 3 {
			for range 8 {
				if got := places("/flood-", flood); got != most-site {
					t.Fatalf("%s, day %d: the flood has %d places, want the rest of %d", c.name, day, got, most)
				}
				if got := places("/page-", site); got != site {
					t.Fatalf("%s, day %d: %d of %d established pages have a place", c.name, day, got, site)
				}
				hour++
			}
			for range 3 { // at night, the flood is the only traffic
				places(fmt.Sprint("/night-", day), flood)
				hour++
			}
			if day == 0 {
				hour += 10 // no requests
			}
		}
	}
}

// TestBudgetBounds checks with random names that an hour never has too many names or kinds, and
// that a name keeps its place for the hour.
func TestBudgetBounds(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		b := Budget{most: 1 + r.IntN(12)}
		now := noon
		for range 60 {
			have := map[string]map[string]bool{}
			for range r.IntN(600) {
				kind, name := fmt.Sprint("kind", r.IntN(1+r.IntN(90))), fmt.Sprint(r.IntN(1+r.IntN(40)))
				ok, _ := b.Take(kind, name, Sender{}, now)
				if have[kind][name] && !ok {
					t.Fatalf("seed %d: %s %s has lost its place", seed, kind, name)
				}
				if ok {
					if have[kind] == nil {
						have[kind] = map[string]bool{}
					}
					have[kind][name] = true
				}
				if len(have[kind]) > b.most || len(have) > maxKinds {
					t.Fatalf("seed %d: %d names, the most is %d, of %d kinds", seed, len(have[kind]), b.most, len(have))
				}
			}
			for k, kept := range b.kept {
				if len(kept) > b.most/2 || len(b.earlier[k]) > b.most {
					t.Fatalf("seed %d: %d places are kept of %d, %d names are remembered", seed, len(kept), b.most,
						len(b.earlier[k]))
				}
			}
			if len(b.kept) > maxKinds/2 {
				t.Fatalf("seed %d: places are kept for %d kinds", seed, len(b.kept))
			}
			now = now.Add(time.Duration(1+r.IntN(2)) * time.Hour)
		}
	}
}

// TestBudgetClock checks that a new hour begins when a clock that was ahead is corrected.
func TestBudgetClock(t *testing.T) {
	for _, ahead := range []time.Duration{2 * time.Hour, 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		b := New(3)
		b.Start(noon, "page", nil)
		take := func(name string, at time.Time) bool {
			ok, _ := b.Take("page", name, Sender{}, at)
			return ok
		}
		take("/ahead", noon.Add(ahead))
		for hour := range 4 {
			for i := range 4 {
				if got, want := take(fmt.Sprint("/new-", hour, i), noon.Add(time.Duration(hour)*time.Hour)),
					i < 3; got != want {
					t.Errorf("%s ahead: page %d of hour %d: got room %t, want %t", ahead, i, hour, got, want)
				}
			}
		}
	}
}

// noon is the beginning of the first hour.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)
