package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// siteRecord returns a record as one page sends many: the same names in another order.
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

// pageRecord returns a record of a page. Pages have something in common if the first
// five bytes of their paths are the same.
func pageRecord(page string, n int) Record {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var b []byte
	for range 40 {
		name := sha256.Sum256(fmt.Append(nil, page[:5], r.IntN(1000)))
		b = append(append(b, name[:]...), byte(r.Uint32()))
	}
	return Record{ID: traceID(n), Pages: []string{page}, Payload: b}
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

func TestCodecRoundTrip(t *testing.T) {
	codec, err := NewCodec(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	var site []byte
	for n := range 1000 {
		site = append(site, siteRecord(n).Payload...)
	}
	for _, name := range []string{"plain", "dictionary"} {
		if name == "dictionary" {
			if err := codec.SetDictionary(site[len(site)-dictionarySize:]); err != nil {
				t.Fatal(err)
			}
		}
		for _, size := range []int{0, 1, 7, 1000, 1024, 20_000, 128 << 10, 300_000, len(site)} {
			compressed := codec.Compress([]byte("before"), site[:size])
			got, err := codec.Decompress([]byte("x"), compressed[len("before"):])
			if err != nil || string(got[:1]) != "x" || !bytes.Equal(got[1:], site[:size]) {
				t.Errorf("%s: %d bytes came back as %d, %v", name, size, len(got)-1, err)
			}
			if id := dictionaryOf(compressed[len("before"):]); size > 0 && (id != 0) != (name == "dictionary") {
				t.Errorf("%s: %d bytes name dictionary %d", name, size, id)
			}
		}
	}
}

func TestDictionary(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	appendSite(t, s, 0, dictionaryAfter-28)
	without := scanSite(t, s, Query{}, 0, dictionaryAfter-28) / (dictionaryAfter - 28)
	if ids := storedDictionaries(t, s, 0); len(ids) != 0 {
		t.Fatalf("a small partition has dictionaries %v", ids)
	}
	c.Add(time.Minute)
	appendSite(t, s, dictionaryAfter-28, 400)
	before := scanSite(t, s, Query{}, 0, 400)
	appendSite(t, s, 400, 500)
	if with := (scanSite(t, s, Query{}, 0, 500) - before) / 100; with > without*2/3 {
		t.Errorf("%d bytes with a dictionary, %d without: want a third less", with, without)
	}
	if ids := storedDictionaries(t, s, 0); len(ids) == 0 {
		t.Fatal("the partition has no dictionary")
	}

	// The next partition goes on with it.
	c.Add(time.Hour)
	forget(s.Reader) // reading must find it in the partition
	appendSite(t, s, 500, 510)
	if next := storedDictionaries(t, s, 1); len(next) != 1 {
		t.Errorf("the next partition has dictionaries %v, want one", next)
	}
	scanSite(t, s, Query{}, 0, 510)

	// So does a restart, but for what is compressed before the partition is open.
	mustClose(t, s)
	s = mustOpen(t, dir, testOptions(t, c))
	kept := storedDictionaries(t, s, 1)
	appendSite(t, s, 510, 530)
	before = scanSite(t, s, Query{}, 0, 530)
	appendSite(t, s, 530, 550)
	if with := (scanSite(t, s, Query{}, 0, 550) - before) / 20; with > without*2/3 {
		t.Errorf("%d bytes after a restart, %d without a dictionary: want a third less", with, without)
	}
	if now := storedDictionaries(t, s, 1); !slices.Equal(now, kept) {
		t.Errorf("dictionaries %v became %v by a restart", kept, now)
	}

	// A small partition after a small one has none.
	for part := 2; part < 5; part++ {
		c.Add(time.Hour)
		mustAppend(t, s, siteRecord(550+part))
		if ids := storedDictionaries(t, s, part); part == 4 && len(ids) != 0 {
			t.Errorf("a small partition after a small one has dictionaries %v", ids)
		}
	}
}

// TestRestartInNewPartition checks that dictionaries come from the partition before
// when the one that is written to has none yet.
func TestRestartInNewPartition(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	appendSite(t, s, 0, 400)
	want := storedDictionaries(t, s, 0)[:1] // the newest
	mustClose(t, s)
	c.Add(time.Hour)
	s = mustOpen(t, dir, testOptions(t, c))
	appendSite(t, s, 400, 420)
	appendSite(t, s, 420, 440)
	if got := storedDictionaries(t, s, 1); !slices.Equal(got, want) {
		t.Errorf("got dictionaries %v, want %v of the partition before", got, want)
	}
	scanSite(t, s, Query{}, 0, 440)
}

// forget makes r read dictionaries anew.
func forget(r *Reader) {
	r.codec.mu.Lock()
	defer r.codec.mu.Unlock()
	clear(r.codec.known)
}

func storedDictionaries(t testing.TB, s *Store, part int) (ids []uint32) {
	t.Helper()
	inPartition(t, s, part, func(db *badger.DB) error {
		return view(db, func(txn *badger.Txn) error { ids = dictionaryIDs(txn); return nil })
	})
	return ids
}

func inPartition(t testing.TB, s *Store, part int, do func(*badger.DB) error) {
	t.Helper()
	db, release, err := s.shelf.lease(s.shelf.parts[part])
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := do(db); err != nil {
		t.Fatal(err)
	}
}

// TestPageDictionaries stores two pages with many traces and many with few.
func TestPageDictionaries(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, newClock(noon)))
	want := make(map[ID]int)
	for range 10 {
		var recs []Record
		for n := range 120 {
			page := []string{"/feed", "/settings", fmt.Sprintf("/item/%d", n)}[n%3]
			rec := pageRecord(page, len(want))
			want[rec.ID] = len(want)
			recs = append(recs, rec)
		}
		mustAppend(t, s, recs...)
	}
	pages := make(map[string]int)
	inPartition(t, s, 0, func(db *badger.DB) error {
		for _, d := range s.writer.storedDictionaries(db) {
			pages[d.page]++
		}
		return nil
	})
	if len(pages) != 3 || pages["/feed"] == 0 || pages["/settings"] == 0 || pages[""] == 0 {
		t.Errorf("there are dictionaries for %v, want /feed, /settings and one for the others", pages)
	}
	forget(s.Reader)
	n := 0
	st, err := s.Scan(t.Context(), Query{}, func(rec Record) error {
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

// offer and dictionary are how BenchmarkUnpack makes a dictionary.
func (s *sampler) offer(payload []byte) {
	m := s.at("")
	m.samples = append(m.samples, payload)
}

func (s *sampler) dictionary() []byte { return distinct(s.at("").samples, dictionarySize) }

// TestSampler checks what bounds the memory and the space for dictionaries.
func TestSampler(t *testing.T) {
	var s sampler
	plain := newDictionary("", nil)
	offer := func(page string, n int, payload func(int) []byte) {
		for i := range n {
			d := s.current(page)
			if d == nil {
				d = plain
			}
			s.observe(page, payload(i), d)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	offer("/noise", 2*dictionaryAfter, func(int) []byte {
		b := make([]byte, 1000)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	})
	offer("/empty", 2*dictionaryAfter, func(int) []byte { return nil })
	if s.current("/noise") != nil || s.current("/empty") != nil {
		t.Error("there is a dictionary that saves nothing")
	}
	for p := range 2 * maxPageDictionaries {
		page := fmt.Sprintf("/%04d", p)
		offer(page, dictionaryAfter, func(i int) []byte { return pageRecord(page, i).Payload })
	}
	if s.inUse != maxPageDictionaries {
		t.Errorf("%d pages have dictionaries, want %d", s.inUse, maxPageDictionaries)
	}
	large := func(int) []byte { return make([]byte, 2*sampleSize) }
	for p := range maxSampledPages {
		offer(fmt.Sprintf("/many/%d", p), 1, large)
	}
	s.turn()
	if len(s.pages) > maxPageDictionaries+1 || s.size != 0 {
		t.Errorf("after a turn there are %d pages and %d bytes of samples", len(s.pages), s.size)
	}
	s.turn() // no traces since
	if len(s.pages) > 0 || s.inUse != 0 {
		t.Errorf("%d dictionaries are kept that nobody needs", s.inUse)
	}
	for p := range 2 * maxSampledPages {
		offer(fmt.Sprintf("/many/%d", p), dictionaryAfter-1, large)
	}
	if len(s.pages) > maxSampledPages+1 || s.size > maxSamples {
		t.Errorf("there are %d pages and %d bytes of samples", len(s.pages), s.size)
	}
}

// TestSamplerShared has the sampler used as Append uses it, by many at once.
func TestSamplerShared(t *testing.T) {
	codec, err := NewCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	s := &Store{Reader: &Reader{codec: codec}}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 3 * dictionaryAfter {
				r := pageRecord(fmt.Sprintf("/%04d", n%3), n*4+g)
				p := prepared{pages: r.Pages}
				s.compress(&p, r.Payload)
				if p.dictionary != codec.plain {
					if _, err := codec.learn(p.dictionary); err != nil {
						t.Error(err)
					}
				}
				if got, err := codec.Decompress(nil, p.compressed); err != nil || !bytes.Equal(got, r.Payload) {
					t.Errorf("trace %d came back changed: %v", n, err)
				}
				if n%100 == 0 {
					s.samples.turn()
				}
			}
		})
	}
	wg.Wait()
}

func TestDistinct(t *testing.T) {
	one, two := pageRecord("/ones", 1).Payload, pageRecord("/twos", 2).Payload
	alike := bytes.Clone(one)
	copy(alike[100:], "another view id ")
	got := distinct([][]byte{one, two, alike, nil, []byte("short"), alike}, dictionarySize)
	if want := append(bytes.Clone(two), alike...); !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want the second and the last sample, %d bytes", len(got), len(want))
	}
	if got := distinct([][]byte{one, two}, 50); !bytes.Equal(got, two[len(two)-50:]) {
		t.Errorf("got %d bytes, want the last 50", len(got))
	}
}

// TestEarlierDictionary checks that dictionaries as they were stored at first, the
// content as it is, can be read and used.
func TestEarlierDictionary(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, siteRecord(0))
	var content []byte
	for n := range 80 {
		content = append(content, siteRecord(1000+n).Payload...)
	}
	d := newDictionary("", content[:112<<10])
	inPartition(t, s, 0, func(db *badger.DB) error {
		return db.Update(func(txn *badger.Txn) error {
			for n := range byte(dictionaryCopies) {
				key := appendDictionaryKey(nil, d.id, n)
				if err := txn.Set(key, sumInto(append(make([]byte, 4), d.content...), 0, key)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	s.writer.dictionaries[d.id] = true
	s.samples.restore([]*dictionary{d})
	appendSite(t, s, 1, 50)
	mustClose(t, s)
	s = mustOpen(t, dir, testOptions(t, c))
	scanSite(t, s, Query{}, 0, 50)
	appendSite(t, s, 50, 60)
	if got := s.samples.current("/feed"); got == nil || got.id != d.id {
		t.Errorf("after a restart the dictionary is not %d", d.id)
	}
	scanSite(t, s, Query{}, 0, 60)
}

// TestDamagedDictionary flips a byte in one copy of a page's dictionary, then in both.
func TestDamagedDictionary(t *testing.T) {
	const n = 600 // of each page
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	for from := range n / 10 {
		var recs []Record
		for i := range 10 {
			recs = append(recs, pageRecord("/feed", from*10+i), pageRecord("/other", n+from*10+i))
		}
		mustAppend(t, s, recs...)
	}
	d := s.samples.current("/feed")
	if d == nil || d.page != "/feed" {
		t.Fatal("/feed has no dictionary")
	}
	mustClose(t, s)
	path := glob(t, dir+"/20261121T12", "*.sst")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	form := d.appendValue(nil)
	first := bytes.Index(b, form)
	second := first + 1 + bytes.Index(b[first+1:], form)
	if first < 0 || second <= first {
		t.Fatal("no two copies in the table")
	}
	scanAll := func() ScanStats {
		r, err := OpenReader(dir, testOptions(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		st, err := r.Scan(t.Context(), Query{}, func(Record) error { return nil })
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
	if st.Damaged < 50 || st.Damaged > n-dictionaryAfter {
		t.Errorf("without the dictionary: got %+v, want only the later traces of /feed to be damaged", st)
	}
	for _, bad := range st.BadValues {
		if page, _, err := parseTraceKey(bad.Key); err != nil || string(page) != "/feed" || !errors.Is(bad.Err, ErrDamaged) {
			t.Errorf("got bad value %+v, want one of /feed", bad)
		}
	}
}

func FuzzParseDictionary(f *testing.F) {
	d := newDictionary("/feed", siteRecord(1).Payload)
	f.Add(d.id, d.appendValue(nil))
	f.Add(d.id, d.content)
	f.Add(d.id, newDictionary("/feed", make([]byte, 100*dictionarySize)).appendValue(nil)) // a bomb
	f.Fuzz(func(t *testing.T, id uint32, b []byte) {
		d, err := parseDictionary(id, b)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want it to be damaged", err)
			}
			return
		}
		if d.id != id || dictionaryID(d.content) != id {
			t.Errorf("dictionary %d is said to be %d", d.id, id)
		}
		if len(d.content) > max(len(b), 2*dictionarySize) {
			t.Errorf("%d bytes became %d", len(b), len(d.content))
		}
	})
}
