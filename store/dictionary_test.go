package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// siteRecord returns a record as one site sends many: the same names in another order.
func siteRecord(n int) Record {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var b bytes.Buffer
	for range 20 {
		f := r.IntN(400)
		fmt.Fprintf(&b, "component%dRender@https://static.example.com/bundle-%x.js:%d:%d;", f, f*f, f*7, f%90)
		b.WriteByte(byte(r.Uint32()))
	}
	return Record{ID: traceID(n), Pages: []string{"/feed"}, Payload: b.Bytes()}
}

func appendSite(t testing.TB, s *Store, from, to int) {
	t.Helper()
	for ; from < to; from += 200 {
		var recs []Record
		for n := from; n < min(from+200, to); n++ {
			recs = append(recs, siteRecord(n))
		}
		mustAppend(t, s, recs...)
	}
}

// scanSite checks that the traces from..to are there, and returns their stored size.
func scanSite(t testing.TB, s scanner, q Query, from, to int) uint64 {
	t.Helper()
	seen := make(map[ID][]byte)
	st, err := s.Scan(t.Context(), q, func(r Record) error {
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

// large is how many traces make a large partition in these tests.
const large = 400

func openSmall(t testing.TB, dir string, c *clock) *Store {
	t.Helper()
	s := mustOpen(t, dir, testOptions(t, c))
	s.writer.large = large
	return s
}

func TestDictionary(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	s := openSmall(t, dir, c)
	appendSite(t, s, 0, large)
	without := scanSite(t, s, Query{}, 0, large)
	if ids := storedDictionaries(t, s, 0); len(ids) != 0 {
		t.Fatalf("a small partition has dictionaries %v", ids)
	}
	c.Add(time.Minute)
	appendSite(t, s, large, 2*large)
	with := scanSite(t, s, Query{}, 0, 2*large) - without
	if with > without*2/3 {
		t.Errorf("%d bytes with a dictionary, %d without: want a third less", with, without)
	}
	ids := storedDictionaries(t, s, 0)
	if len(ids) != 1 {
		t.Fatalf("the partition has dictionaries %v, want one", ids)
	}

	// The next partition has one from the start, made of later traces.
	c.Add(time.Hour)
	s.codec.mu.Lock()
	clear(s.codec.known) // reading must find it in the partition
	s.codec.mu.Unlock()
	appendSite(t, s, 2*large, 2*large+200)
	if next := storedDictionaries(t, s, 1); len(next) == 0 {
		t.Error("the next partition has no dictionary")
	}
	scanSite(t, s, Query{}, 0, 2*large+200)

	// A restart goes on with what there is.
	mustClose(t, s)
	s = openSmall(t, dir, c)
	before := storedDictionaries(t, s, 1)
	appendSite(t, s, 2*large+200, 2*large+300)
	if after := storedDictionaries(t, s, 1); len(after) != len(before) {
		t.Errorf("dictionaries %v became %v by a restart", before, after)
	}
	c.Add(time.Hour)
	mustAppend(t, s, siteRecord(2*large+300)) // a small one after a small one
	if ids := storedDictionaries(t, s, 2); len(ids) != 0 {
		t.Errorf("a small partition after a small one has dictionaries %v", ids)
	}
	scanSite(t, s, Query{}, 0, 2*large+301)
}

func storedDictionaries(t testing.TB, s *Store, part int) (ids []uint32) {
	t.Helper()
	db, release, err := s.shelf.lease(s.shelf.parts[part])
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := view(db, func(txn *badger.Txn) error { ids = dictionaryIDs(txn); return nil }); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestDamagedDictionary flips a byte in one copy of a dictionary, then in both.
func TestDamagedDictionary(t *testing.T) {
	const n = large + 1000
	dir := t.TempDir()
	s := openSmall(t, dir, newClock(noon))
	appendSite(t, s, 0, n)
	id := storedDictionaries(t, s, 0)[0]
	content := bytes.Clone(s.codec.current.Load().content)
	mustClose(t, s)
	path := glob(t, dir+"/20261121T12", "*.sst")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(b, content[:1000])
	second := first + 1 + bytes.Index(b[first+1:], content[:1000])
	if first < 0 || second <= first {
		t.Fatal("no two copies in the table")
	}
	flip(t, path, first+500)
	r, err := OpenReader(dir, testOptions(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	scanSite(t, r, Query{}, 0, n)
	mustClose(t, r)
	flip(t, path, second+500)
	if r, err = OpenReader(dir, testOptions(t, nil)); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	st, err := r.Scan(t.Context(), Query{}, func(Record) error { return nil })
	if err != nil || st.Traces+st.Damaged != n || st.Damaged < 100 || st.Traces < large {
		t.Errorf("without dictionary %d: got %+v, %v; want the first %d traces and the rest damaged", id, st, err, large)
	}
}
