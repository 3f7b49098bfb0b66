package local_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// addWide stores a page view with n functions, each called by main and sampled once.
func (s *summedStore) addWide(t *testing.T, page, prefix string, n int) {
	t.Helper()
	tr := &trie.Trace{Trie: *trie.New()}
	s.n++
	tr.Context.Page, tr.Context.ViewID, tr.Context.Interval = page, fmt.Sprintf("%016d", s.n), 10_000
	for i := range n {
		node := tr.Insert(trie.Frame{Name: "main"}, trie.Frame{Name: fmt.Sprint(prefix, i)})
		tr.Samples = append(tr.Samples, trie.Sample{Time: int64(i) * 10_000, Node: node})
	}
	payload, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	rec := store.Record{Pages: []string{page}, Payload: payload}
	copy(rec.ID.View[:], tr.Context.ViewID)
	mustAppend(t, s.Store, rec)
}

// samples returns how many samples functions of a page have, those with a prefix and all.
func (s *summedStore) samples(t *testing.T, page, name string) (of, all int64) {
	t.Helper()
	sum := rollup.NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
	q := store.Query{Page: page, Since: time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 11, 6, 0, 0, 0, 0, time.UTC)}
	stats, err := s.Select(t.Context(), q, store.Wanted{Level: rollup.Wide, Details: true}, func(store.Record) error { t.Error("a trace by itself"); return nil }, func(r store.Rolled) error {
		return sum.Add(r.Record, r.Stacks)
	})
	if err != nil || !stats.Complete() {
		t.Fatalf("%v, %+v", err, stats)
	}
	p := sum.Profile()
	for _, g := range p.Groups {
		for n, w := range g.Weights.All() {
			all += w.Samples
			if p.Trie.Frame(n).Name == name {
				of += w.Samples
			}
		}
	}
	return of, all
}

// A flood of stacks that no two page views have in common takes no names from the stacks of a
// site: not when somebody asks, not in rollups, not over a restart, not in the sums of an hour
// that comes later, nor in those of the day. No time is lost either way.
func TestFloodedPage(t *testing.T) {
	const page, names = "/feed", 30
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		s := openSummed(t, local.Options{Partition: time.Hour, Rollups: rollup.Limits{Nodes: 600}})
		honest, flood := 0, 0
		check := func(when string) {
			t.Helper()
			got, all := s.samples(t, page, "honest7")
			if want := int64(honest*names + flood*300); all != want {
				t.Fatalf("seed %d, %s: %d samples, want %d", seed, when, all, want)
			}
			// The first views of an hour have no more in common than those of the flood.
			if hours := s.now.Hour() + 24*(s.now.Day()-3) + 1; got < int64(honest-4*hours) {
				t.Errorf("seed %d, %s: a function of the site was in %d page views, has %d", seed, when, honest, got)
			}
		}
		for hour := range 26 {
			for range 4 + r.IntN(6) {
				switch r.IntN(5) {
				case 0:
					for range 1 + r.IntN(4) {
						s.addWide(t, page, fmt.Sprintf("flood%d_", flood), 300)
						flood++
					}
				case 1:
					check("open")
				case 2:
					if err := s.Roll(t.Context()); err != nil {
						t.Fatal(err)
					}
				case 3:
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s.open(t)
				}
				for range 1 + r.IntN(5) {
					s.addWide(t, page, "honest", names)
					honest++
				}
			}
			if err := s.advance(t, time.Hour); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprint("after hour ", hour))
		}
		if flood < 30 {
			t.Fatalf("seed %d: a flood of %d", seed, flood)
		}
	}
}
