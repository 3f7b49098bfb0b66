package local_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie"
)

// summedStore is a store whose clock a test sets, with what was stored on a few pages.
type summedStore struct {
	*local.Store
	dir  string
	opts local.Options
	now  time.Time
	n    int
}

// openSummed opens a store at the beginning of a day.
func openSummed(t *testing.T, o local.Options) *summedStore {
	t.Helper()
	s := &summedStore{dir: t.TempDir(), opts: o, now: time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)}
	s.opts.MemTableSize, s.opts.RollEvery, s.opts.RollTraces = 8<<20, 1, 1
	s.opts.Now = func() time.Time { return s.now }
	s.open(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *summedStore) open(t *testing.T) {
	t.Helper()
	var err error
	if s.Store, err = local.Open(s.dir, s.opts); err != nil {
		t.Fatal(err)
	}
}

// add stores n page views of a page.
func (s *summedStore) add(t *testing.T, page string, n int) {
	t.Helper()
	for range n {
		tr := &trie.Trace{Trie: *trie.New()}
		s.n++
		tr.Context.Page, tr.Context.ViewID, tr.Context.Interval = page, fmt.Sprintf("%016d", s.n), 10_000
		tr.Samples = []trie.Sample{{Node: tr.Insert(trie.Frame{Name: "main"}, trie.Frame{Name: page})}, {Time: 10_000, Marker: trie.MarkerIdle}}
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Pages: []string{page}, Payload: payload}
		copy(rec.ID.View[:], tr.Context.ViewID)
		if _, err := s.Append(t.Context(), []store.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
}

// advance sets the clock, and does what is done from time to time. It returns the error of
// rolling up.
func (s *summedStore) advance(t *testing.T, by time.Duration) error {
	t.Helper()
	s.now = s.now.Add(by)
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Roll(t.Context())
}

// views returns how many page views of a page are in the sums of a day, and what is missing.
func (s *summedStore) views(t *testing.T, page string, day time.Time) (views int64, stats store.ScanStats) {
	t.Helper()
	q := store.Query{Page: page, Since: day, Until: day.AddDate(0, 0, 1)}
	stats, err := s.Select(t.Context(), q, store.Wanted{}, func(store.Record) error { views++; return nil }, func(r store.Rolled) error {
		_, n := r.Record.Views()
		views += n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return views, stats
}

// flip closes the store, changes a byte of the directory of the first page of a file of sums,
// and opens the store again.
func (s *summedStore) flip(t *testing.T, file string) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := 18 + binary.BigEndian.Uint32(data[14:]) + 4 // see doc.go of package sums
	data[header+1] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

func (s *summedStore) aside(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, "*.corrupt"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A month with a damaged page, of which the hours and traces are gone, takes the next day all
// the same. Nothing of the other pages is lost, and what is lost is told.
func TestDamagedMonthGoesOn(t *testing.T) {
	s := openSummed(t, local.Options{Retention: 12 * time.Hour, HourRetention: 12 * time.Hour})
	first := s.now
	for range 4 {
		s.add(t, "/a", 3)
		s.add(t, "/b", 2)
		for range 3 {
			if err := s.advance(t, 8*time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if s.now.Sub(first) == 72*time.Hour {
			s.flip(t, "202611.days.sums")
		}
	}
	s.add(t, "/b", 1)
	if err := s.advance(t, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	if names := s.aside(t); len(names) > 0 {
		t.Errorf("got %v set aside, want nothing", names)
	}
	for day := range 4 {
		start := first.AddDate(0, 0, day)
		for page, want := range map[string]int64{"/a": 3, "/b": 2} {
			lost := page == "/a" && day < 2
			got, stats := s.views(t, page, start)
			if lost && (got != 0 || len(stats.Gaps) != 1 || stats.Gaps[0].Expected != 3) {
				t.Errorf("%s, day %d: got %d page views, gaps %v; want a gap of 3", page, day, got, stats.Gaps)
			}
			if !lost && (got != want || len(stats.Gaps) > 0 || stats.Damaged > 0) {
				t.Errorf("%s, day %d: got %d page views, gaps %v, damage %v; want %d", page, day, got, stats.Gaps, stats.Damaged, want)
			}
		}
	}
}

// As long as there are the traces, damaged sums are set aside when they are found, and all is
// made again.
func TestDamagedHoursMadeAgain(t *testing.T) {
	s := openSummed(t, local.Options{})
	first := s.now
	for range 3 {
		s.add(t, "/a", 3)
		if err := s.advance(t, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	s.add(t, "/b", 1)
	s.flip(t, "20261103.hours.sums")
	if err := s.advance(t, time.Hour); err == nil {
		t.Error("got no error of rolling up, want one about damage")
	}
	if names := s.aside(t); len(names) != 1 {
		t.Errorf("got %v set aside, want one file", names)
	}
	if err := s.advance(t, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]int64{"/a": 9, "/b": 1} {
		if got, stats := s.views(t, page, first); got != want || len(stats.Gaps) > 0 || stats.Damaged > 0 || stats.Traces > 0 {
			t.Errorf("%s: got %d page views, %+v; want %d of sums alone", page, got, stats, want)
		}
	}
}
