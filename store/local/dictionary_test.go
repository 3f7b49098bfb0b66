package local_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// siteRecord returns a record as one page sends many: the same names in another order.
func siteRecord(n int) store.Record {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var b bytes.Buffer
	for range 20 {
		f := r.IntN(400)
		fmt.Fprintf(&b, "component%dRender@https://static.example.com/bundle-%x.js:%d:%d;", f, f*f, f*7, f%90)
		b.WriteByte(byte(r.Uint32()))
	}
	return store.Record{ID: traceID(n), Pages: []string{"/feed"}, Payload: b.Bytes()}
}

// pageRecord returns a record of a page. Pages have something in common if the first
// five bytes of their paths are the same.
func pageRecord(page string, n int) store.Record {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var b []byte
	for range 40 {
		name := sha256.Sum256(fmt.Append(nil, page[:5], r.IntN(1000)))
		b = append(append(b, name[:]...), byte(r.Uint32()))
	}
	return store.Record{ID: traceID(n), Pages: []string{page}, Payload: b}
}

// afterTraces is after how many traces of a page a dictionary is tried.
const afterTraces = 128

func appendSite(t testing.TB, s *local.Store, from, to int) {
	t.Helper()
	for ; from < to; from += 200 {
		var recs []store.Record
		for n := from; n < min(from+200, to); n++ {
			recs = append(recs, siteRecord(n))
		}
		mustAppend(t, s, recs...)
	}
}

// scanSite checks that the traces from..to are there, and returns their stored size.
func scanSite(t testing.TB, s scanner, q store.Query, from, to int) uint64 {
	t.Helper()
	seen := make(map[store.ID][]byte)
	st, err := s.Scan(t.Context(), q, func(r store.Record) error {
		seen[r.ID] = bytes.Clone(r.Payload)
		return nil
	})
	if err != nil || !st.Complete() || len(seen) != to-from {
		t.Errorf("scan: got %d traces, want %d; %+v, %v", len(seen), to-from, st, err)
	}
	for n := from; n < to; n++ {
		if want := siteRecord(n); !bytes.Equal(seen[want.ID], want.Payload) {
			t.Fatalf("trace %d came back changed", n)
		}
	}
	return st.Bytes
}

func TestDictionary(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	appendSite(t, s, 0, afterTraces-28)
	without := scanSite(t, s, store.Query{}, 0, afterTraces-28) / (afterTraces - 28)
	if got := ids(storedDictionaries(t, s, 0)); len(got) != 0 {
		t.Fatalf("a small partition has dictionaries %v", got)
	}
	c.Add(time.Minute)
	appendSite(t, s, afterTraces-28, 400)
	before := scanSite(t, s, store.Query{}, 0, 400)
	appendSite(t, s, 400, 500)
	if with := (scanSite(t, s, store.Query{}, 0, 500) - before) / 100; with > without*2/3 {
		t.Errorf("%d bytes with a dictionary, %d without: want a third less", with, without)
	}
	if len(storedDictionaries(t, s, 0)) == 0 {
		t.Fatal("the partition has no dictionary")
	}

	// The next partition goes on with it.
	c.Add(time.Hour)
	s.ForgetDictionaries() // reading must find it in the partition
	appendSite(t, s, 500, 510)
	if next := ids(storedDictionaries(t, s, 1)); len(next) != 1 {
		t.Errorf("the next partition has dictionaries %v, want one", next)
	}
	scanSite(t, s, store.Query{}, 0, 510)

	// So does a restart, but for what is compressed before the partition is open.
	mustClose(t, s)
	s = mustOpen(t, dir, testOptions(t, c))
	kept := ids(storedDictionaries(t, s, 1))
	appendSite(t, s, 510, 530)
	before = scanSite(t, s, store.Query{}, 0, 530)
	appendSite(t, s, 530, 550)
	if with := (scanSite(t, s, store.Query{}, 0, 550) - before) / 20; with > without*2/3 {
		t.Errorf("%d bytes after a restart, %d without a dictionary: want a third less", with, without)
	}
	if now := ids(storedDictionaries(t, s, 1)); !slices.Equal(now, kept) {
		t.Errorf("dictionaries %v became %v by a restart", kept, now)
	}

	// A small partition after a small one has none.
	for part := 2; part < 5; part++ {
		c.Add(time.Hour)
		mustAppend(t, s, siteRecord(550+part))
		if got := ids(storedDictionaries(t, s, part)); part == 4 && len(got) != 0 {
			t.Errorf("a small partition after a small one has dictionaries %v", got)
		}
	}
}

// TestDictionariesAhead checks that a partition that is made ahead of its time has what is in
// use, so that its first commits need not store it.
func TestDictionariesAhead(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	appendSite(t, s, 0, 400)
	c.Set(noon.Add(30*time.Minute - time.Second))
	appendSite(t, s, 400, 410)
	if err := s.Maintain(t.Context()); err != nil { // waits until it is made
		t.Fatal(err)
	}
	want := s.DictionaryFor("/feed").ID
	c.Add(time.Second)
	rec := pageRecord("/other", 410)
	mustAppend(t, s, rec)
	if got := ids(storedDictionaries(t, s, 1)); !slices.Contains(got, want) {
		t.Errorf("the partition has dictionaries %v before a trace of the page came, want %d among them", got, want)
	}
	appendSite(t, s, 500, 520)
	s.ForgetDictionaries()
	scanSite(t, s, store.Query{Page: "/feed", Since: c.Now()}, 500, 520)
}

// TestRestartInNewPartition checks that dictionaries come from the partition before
// when the one that is written to has none yet.
func TestRestartInNewPartition(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	appendSite(t, s, 0, 400)
	want := ids(storedDictionaries(t, s, 0))[:1] // the newest
	mustClose(t, s)
	c.Add(time.Hour)
	s = mustOpen(t, dir, testOptions(t, c))
	appendSite(t, s, 400, 420)
	appendSite(t, s, 420, 440)
	if got := ids(storedDictionaries(t, s, 1)); !slices.Equal(got, want) {
		t.Errorf("got dictionaries %v, want %v of the partition before", got, want)
	}
	scanSite(t, s, store.Query{}, 0, 440)
}

// TestPageDictionaries stores two pages with many traces and many with few.
func TestPageDictionaries(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, newClock(noon)))
	want := make(map[store.ID]int)
	for range 10 {
		var recs []store.Record
		for n := range 120 {
			page := []string{"/feed", "/settings", fmt.Sprintf("/item/%d", n)}[n%3]
			rec := pageRecord(page, len(want))
			want[rec.ID] = len(want)
			recs = append(recs, rec)
		}
		mustAppend(t, s, recs...)
	}
	pages := make(map[string]int)
	for _, d := range storedDictionaries(t, s, 0) {
		pages[d.Page]++
	}
	if len(pages) != 3 || pages["/feed"] == 0 || pages["/settings"] == 0 || pages[""] == 0 {
		t.Errorf("there are dictionaries for %v, want /feed, /settings and one for the others", pages)
	}
	s.ForgetDictionaries()
	n := 0
	st, err := s.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
		if want := pageRecord(rec.Pages[0], want[rec.ID]); !bytes.Equal(rec.Payload, want.Payload) {
			t.Errorf("trace %s came back changed", rec.ID)
		}
		n++
		return nil
	})
	if err != nil || n != len(want) || !st.Complete() {
		t.Errorf("got %d traces of %d, %+v, %v", n, len(want), st, err)
	}
}

// TestEarlierDictionary checks that dictionaries as they were stored at first, the
// content as it is, can be read and used.
func TestEarlierDictionary(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, siteRecord(0))
	mustClose(t, s)
	var content []byte
	for n := range 80 {
		content = append(content, siteRecord(1000+n).Payload...)
	}
	content = content[:112<<10]
	d := record.NewDictionary("", content)
	editBadger(t, filepath.Join(dir, "20261121T12"), func(txn *badger.Txn) error {
		for n := range byte(record.DictionaryCopies) {
			key := record.AppendDictionaryKey(nil, d.ID, n)
			if err := txn.Set(key, record.SumInto(append(make([]byte, 4), content...), 0, key)); err != nil {
				return err
			}
		}
		return nil
	})
	for n := 1; n < 60; n += 20 {
		s = mustOpen(t, dir, testOptions(t, c))
		scanSite(t, s, store.Query{}, 0, n)
		appendSite(t, s, n, n+1) // which opens the partition
		if got := s.DictionaryFor("/feed"); got == nil || got.ID != d.ID {
			t.Errorf("after a start the dictionary is not %d", d.ID)
		}
		appendSite(t, s, n+1, n+20)
		scanSite(t, s, store.Query{}, 0, n+20)
		mustClose(t, s)
	}
}

// TestDamagedDictionary flips a byte in one copy of a page's dictionary, then in both.
func TestDamagedDictionary(t *testing.T) {
	t.Parallel()
	const n = 600 // of each page
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	for from := range n / 10 {
		var recs []store.Record
		for i := range 10 {
			recs = append(recs, pageRecord("/feed", from*10+i), pageRecord("/other", n+from*10+i))
		}
		mustAppend(t, s, recs...)
	}
	d := s.DictionaryFor("/feed")
	if d == nil || d.Page != "/feed" {
		t.Fatal("/feed has no dictionary")
	}
	mustClose(t, s)
	path := glob(t, dir+"/20261121T12", "*.sst")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	form := d.Stored(nil)[4:] // behind its checksum
	first := bytes.Index(b, form)
	second := first + 1 + bytes.Index(b[first+1:], form)
	if first < 0 || second <= first {
		t.Fatal("no two copies in the table")
	}
	scanAll := func() store.ScanStats {
		r, err := local.OpenReader(dir, testOptions(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		st, err := r.Scan(t.Context(), store.Query{}, func(store.Record) error { return nil })
		if err != nil || st.Traces+st.Damaged != 2*n {
			t.Fatalf("got %+v, %v; want %d traces", st, err, 2*n)
		}
		return st
	}
	flip(t, path, first+len(form)/2)
	if st := scanAll(); !st.Complete() {
		t.Errorf("with one copy: got %+v", st)
	}
	flip(t, path, second+len(form)/2)
	st := scanAll()
	if st.Damaged < 50 || st.Damaged > n-afterTraces {
		t.Errorf("without the dictionary: got %+v, want only the later traces of /feed to be damaged", st)
	}
	for _, bad := range st.BadValues {
		if page, _, err := record.ParseTraceKey(bad.Key); err != nil || string(page) != "/feed" || !errors.Is(bad.Err, store.ErrDamaged) {
			t.Errorf("got bad value %+v, want one of /feed", bad)
		}
	}
}

// storedDictionaries returns the dictionaries of a partition, newest first.
func storedDictionaries(t testing.TB, s *local.Store, n int) (stored []*record.Dictionary) {
	t.Helper()
	p := s.Parts().All()[n].Partition
	err := s.Parts().Read(t.Context(), p, func(txn *part.Txn) error {
		for _, id := range txn.DictionaryIDs() {
			d, err := txn.Dictionary(id)
			if err != nil {
				return err
			}
			stored = append(stored, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func ids(stored []*record.Dictionary) (list []uint32) {
	for _, d := range stored {
		list = append(list, d.ID)
	}
	return list
}
