package local_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// vitalSums is what is known of Web Vitals, by page, labels and name.
type vitalSums map[string]*rollup.Vital

func (s vitalSums) add(page string, level rollup.Level, vitals []rollup.Vital) {
	for i := range vitals {
		v := &vitals[i]
		var labels trie.Labels
		for _, l := range v.Labels {
			if level.Has(l.Key) {
				labels = append(labels, l)
			}
		}
		key := fmt.Sprint(page, labels, v.Name)
		if s[key] == nil {
			s[key] = &rollup.Vital{Labels: labels, Name: v.Name}
		}
		s[key].AddAll(v)
	}
}

// rows returns the sums as text, for comparison.
func (s vitalSums) rows() (out []string) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		v := s[key]
		out = append(out, fmt.Sprint(key, v.Views, v.Weight, v.WeightSquares, v.Good, v.Poor, slices.Collect(v.Histogram.All())))
	}
	return out
}

func storedVitals(t *testing.T, s *local.Store, level rollup.Level, q store.Query) []string {
	t.Helper()
	got := vitalSums{}
	stats, err := s.Select(t.Context(), q, store.Wanted{Level: level, Vitals: true},
		func(store.Record) error { return nil },
		func(x store.Rolled) error {
			got.add(x.Page, level, x.Record.Vitals)
			return nil
		})
	if err != nil || !stats.Complete() {
		t.Fatalf("select: %v, %+v", err, stats)
	}
	return got.rows()
}

// What was counted is what is answered: while the hour lasts, when it and the day are over, after
// a restart and in a copy; with traces of the page and without.
func TestVitals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	c := newClock(noon)
	dir := t.TempDir()
	o := testOptions(t, c)
	s := mustOpen(t, dir, o)
	want := map[rollup.Level]vitalSums{rollup.Narrow: {}, rollup.Wide: {}}
	feed := vitalSums{}
	check := func(when string) {
		t.Helper()
		for level, sums := range want {
			if got, want := storedVitals(t, s, level, store.Query{}), sums.rows(); !slices.Equal(got, want) {
				t.Fatalf("%s, level %d: got\n%q\nwant\n%q", when, level, got, want)
			}
		}
		if got, want := storedVitals(t, s, rollup.Wide, store.Query{Page: "/feed"}), feed.rows(); !slices.Equal(got, want) {
			t.Fatalf("%s, of a page: got\n%q\nwant\n%q", when, got, want)
		}
	}
	for hour := range 30 {
		for i := range 5 {
			if hour%3 > 0 { // else there are no traces
				mustAppend(t, s, fieldRecords(t, r, 100*hour+i, 1)...)
			}
			page := []string{"/feed", "/only/vitals"}[r.IntN(2)]
			labels := trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[r.IntN(2)], "release", []string{"r1", "r2"}[r.IntN(2)])
			var list []rollup.Vital
			for _, k := range rollup.VitalKinds() {
				v := rollup.Vital{Name: k.Name, Labels: labels}
				v.Add(r.Int64N(2*k.Poor), 1+r.Int64N(100))
				list = append(list, v)
			}
			s.CountVitals(page, list)
			for level := range want {
				want[level].add(page, level, list)
			}
			if page == "/feed" {
				feed.add(page, rollup.Wide, list)
			}
			c.Add(10 * time.Minute)
			mustRoll(t, s)
			check("at " + c.Now().String())
			if got := storedVitals(t, s, rollup.Wide, store.Query{Since: c.Now().Add(-25 * time.Minute)}); len(got) == 0 {
				t.Fatalf("at %s: nothing in the last minutes", c.Now())
			}
		}
		c.Add(10 * time.Minute)
		if hour == 13 {
			mustClose(t, s)
			s = mustOpen(t, dir, o)
			check("after a restart")
		}
	}
	to := filepath.Join(t.TempDir(), "copy")
	var backup bytes.Buffer
	if _, err := s.Backup(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	if _, err := local.Restore(t.Context(), &backup, to, o, func(int64, int64, string) {}); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, to, o)
	check("in a copy")
	mustClose(t, s)
}

// Damage of what is stored in an hour that lasts costs what was counted before, and nothing else.
func TestVitalsDamaged(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	o := testOptions(t, c)
	v := rollup.Vital{Name: "lcp"}
	v.Add(1_000_000, 7)
	s := mustOpen(t, dir, o)
	s.CountVitals("/feed", []rollup.Vital{v})
	mustClose(t, s)
	editBadger(t, filepath.Join(dir, "20261121T12"), func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		it.Seek([]byte{record.KindVitals})
		if !it.ValidForPrefix([]byte{record.KindVitals}) {
			t.Fatal("nothing is stored")
		}
		key := it.Item().KeyCopy(nil)
		value, err := it.Item().ValueCopy(nil)
		if err != nil {
			return err
		}
		value[len(value)-1]++
		return txn.Set(key, value)
	})
	s = mustOpen(t, dir, o)
	if got := storedVitals(t, s, rollup.Narrow, store.Query{}); len(got) > 0 {
		t.Errorf("damaged vitals are answered: %q", got)
	}
	s.CountVitals("/feed", []rollup.Vital{v})
	mustRoll(t, s)
	want := vitalSums{}
	want.add("/feed", rollup.Narrow, []rollup.Vital{v})
	if got := storedVitals(t, s, rollup.Narrow, store.Query{}); !slices.Equal(got, want.rows()) {
		t.Errorf("got %q, want %q", got, want.rows())
	}
	mustClose(t, s)
}
