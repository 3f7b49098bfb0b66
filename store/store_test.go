package store

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4/options"
)

func TestRoundTrip(t *testing.T) {
	c := newClock(noon.Add(123456789 * time.Nanosecond))
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	recs := []Record{
		{ID: traceID(1), Pages: []string{"/b", "/a", "/b"}, Payload: []byte("two pages")},
		{ID: traceID(2), Pages: []string{"/a/b"}, Payload: nil},
		{ID: traceID(3), Pages: []string{"/ü?\x01"}, Payload: bytes.Repeat([]byte{0}, 1<<20)},
	}
	if got := mustAppend(t, s, recs...); got != (AppendResult{Stored: 3}) {
		t.Fatalf("append: got %+v, want 3 stored", got)
	}
	check := func(s scanner, q Query, want ...int) {
		t.Helper()
		var got []Record
		_, err := s.Scan(t.Context(), q, func(r Record) error {
			r.Payload, r.Pages = bytes.Clone(r.Payload), slices.Clone(r.Pages)
			got = append(got, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("scan %+v: got %d records, want %d", q, len(got), len(want))
		}
		for i, n := range want {
			g, w := got[i], recs[n-1]
			if g.ID != w.ID || !bytes.Equal(g.Payload, w.Payload) || !slices.Equal(g.Pages, sortedSet(w.Pages)) {
				t.Errorf("scan %+v: record %d differs", q, n)
			}
			if want := noon.Add(123456 * time.Microsecond); !g.Received.Equal(want) {
				t.Errorf("received %v, want %v", g.Received, want)
			}
		}
	}
	all := func(s scanner) {
		t.Helper()
		check(s, Query{Page: "/a"}, 1)
		check(s, Query{Page: "/b"}, 1)
		check(s, Query{Page: "/a/b"}, 2)
		check(s, Query{Page: "/"})
		check(s, Query{}, 1, 2, 3)
		at := noon.Add(123456 * time.Microsecond)
		check(s, Query{Page: "/a", Since: at}, 1)
		check(s, Query{Page: "/a", Until: at})
		check(s, Query{Page: "/a", Since: at, Until: at.Add(time.Microsecond)}, 1)
		check(s, Query{Since: at.Add(time.Microsecond)})
	}
	all(s)
	mustClose(t, s)
	r, err := OpenReader(dir, testOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all(r)
}

func TestScanOrder(t *testing.T) {
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	view := [16]byte{7}
	for _, chunk := range []uint32{300, 1, 2} {
		mustAppend(t, s, Record{ID: ID{view, chunk}, Pages: []string{"/z"}})
	}
	c.Add(time.Hour)
	mustAppend(t, s, Record{ID: ID{view, 0}, Pages: []string{"/a"}})
	var got []uint32
	if _, err := s.Scan(t.Context(), Query{}, func(r Record) error { got = append(got, r.ID.Chunk); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []uint32{1, 2, 300, 0}; !slices.Equal(got, want) {
		t.Errorf("chunks in order %v, want %v", got, want)
	}
}

func TestScanStops(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	mustAppend(t, s, testRecords(0, 100)...)
	stop := errors.New("stop")
	n := 0
	_, err := s.Scan(t.Context(), Query{}, func(Record) error {
		if n++; n == 10 {
			return stop
		}
		return nil
	})
	if err != stop || n != 10 {
		t.Errorf("got %v after %d, want the callback's error after 10", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	_, err = s.Scan(ctx, Query{}, func(Record) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 10 {
		t.Errorf("got %v after %d, want canceled after 10", err, n)
	}
}

func TestAppendConcurrently(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	const workers, each = 64, 20
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				n := w*each + i
				if res, err := s.Append(t.Context(), []Record{testRecord(n)}); err != nil || res.Stored != 1 {
					t.Errorf("append %d: %+v, %v", n, res, err)
				}
			}
		})
	}
	wg.Wait()
	wantAll(t, s, Query{}, 0, workers*each)
	if got := s.Counters(); got.Stored != workers*each || got.Commits >= workers*each/2 || got.QueuedTraces != 0 || got.QueuedBytes != 0 {
		t.Errorf("counters %+v: want %d stored in fewer than half as many commits, and an empty queue", got, workers*each)
	}
}

func TestAppendLarge(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	// More than one commit takes, by number and by size.
	if res := mustAppend(t, s, testRecords(0, 1500)...); res.Stored != 1500 {
		t.Fatalf("got %+v, want 1500 stored", res)
	}
	if got := s.Counters().Commits; got < 1500/256 {
		t.Errorf("got %d commits, want at least %d", got, 1500/256)
	}
	wantAll(t, s, Query{}, 0, 1500)
}

// TestAppendWidest fills transactions with what adds most to them beside payload.
func TestAppendWidest(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	var tags []Tag
	for i := range MaxTags {
		tags = append(tags, Tag{strings.Repeat("k", MaxTagKey-1) + string(rune('A'+i)), strings.Repeat("v", MaxTagValue)})
	}
	var recs []Record
	for n := range 300 {
		r := testRecord(n, strings.Repeat("/", 1+n%MaxPage))
		if n%2 == 0 {
			r.Tags, r.Payload = tags, nil
		} else {
			r.Pages, r.Tags, r.Payload = nil, nil, nil
			for p := range MaxPages {
				r.Pages = append(r.Pages, string(rune('0'+p))+string(rune(n)))
			}
		}
		recs = append(recs, r)
	}
	if res := mustAppend(t, s, recs...); res.Stored != len(recs) {
		t.Fatalf("got %+v, want %d stored", res, len(recs))
	}
	if st, err := s.Scan(t.Context(), Query{}, func(Record) error { return nil }); err != nil || st.Traces != 300 || !st.Complete() {
		t.Errorf("got %+v, %v, want all 300", st, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	o := testOptions(t, nil)
	o.MaxPayload = 3 << 20
	s := mustOpen(t, t.TempDir(), o)
	noise := make([]byte, 2<<20) // does not compress, and would get into the value log
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	good := testRecord(1)
	for _, tt := range []struct {
		name string
		edit func(*Record)
	}{
		{"no page", func(r *Record) { r.Pages = nil }},
		{"empty page", func(r *Record) { r.Pages = []string{""} }},
		{"page with NUL", func(r *Record) { r.Pages = []string{"/a\x00b"} }},
		{"long page", func(r *Record) { r.Pages = []string{strings.Repeat("a", MaxPage+1)} }},
		{"many pages", func(r *Record) { r.Pages = slices.Repeat([]string{"/a"}, MaxPages+1) }},
		{"tag without key", func(r *Record) { r.Tags = []Tag{{"", "v"}} }},
		{"tag with NUL", func(r *Record) { r.Tags = []Tag{{"k", "\x00"}} }},
		{"large payload", func(r *Record) { r.Payload = make([]byte, 3<<20+1) }},
		{"large when compressed", func(r *Record) { r.Payload = noise }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := testRecord(2)
			tt.edit(&bad)
			_, err := s.Append(t.Context(), []Record{good, bad})
			re, ok := errors.AsType[*RecordError](err)
			if !ok || re.Index != 1 || re.ID != bad.ID {
				t.Errorf("got %v, want a RecordError about record 1", err)
			}
		})
	}
	if seen, _ := scanIDs(t, s, Query{}); len(seen) != 0 {
		t.Errorf("%d records stored beside refused ones", len(seen))
	}
	if c := s.Counters(); c.QueuedTraces != 0 || c.QueuedBytes != 0 {
		t.Errorf("refused records still hold places in the queue: %+v", c)
	}
	// Only commits make a partition: refusing must not.
	if parts, _ := s.Status(); len(parts.Partitions) != 0 {
		t.Errorf("got partitions %+v, want none", parts.Partitions)
	}
}

func TestDuplicates(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	o := testOptions(t, c)
	s := mustOpen(t, dir, o)
	want := func(what string, got, want AppendResult) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	want("within a group", mustAppend(t, s, testRecord(1), testRecord(2), testRecord(1)), AppendResult{2, 1})
	want("across commits", mustAppend(t, s, testRecord(1)), AppendResult{0, 1})
	mustClose(t, s)
	s = mustOpen(t, dir, o)
	want("across a restart", mustAppend(t, s, testRecord(2), testRecord(3)), AppendResult{1, 1})
	c.Add(time.Hour)
	want("across the edge", mustAppend(t, s, testRecord(1), testRecord(4)), AppendResult{1, 1})
	mustClose(t, s)
	s = mustOpen(t, dir, o)
	want("across edge and restart", mustAppend(t, s, testRecord(3)), AppendResult{0, 1})
	wantAll(t, s, Query{}, 1, 5)
	c.Add(time.Hour)
	mustAppend(t, s, testRecord(5))
	want("two partitions on, past the window", mustAppend(t, s, testRecord(1)), AppendResult{1, 0})
	if got := s.Counters(); got.Stored != 2 || got.Duplicates != 1 {
		t.Errorf("counters %+v: want 2 stored and 1 duplicate since the last start", got)
	}
}

func TestBusy(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.QueueTraces = 10
	hold, entered := make(chan struct{}), make(chan struct{}, 1)
	o.Now = func() time.Time { // the committer asks for the time at the start of a commit
		select {
		case entered <- struct{}{}:
		default:
		}
		<-hold
		return c.Now()
	}
	s := mustOpen(t, t.TempDir(), o)
	var wg sync.WaitGroup
	wg.Go(func() { mustAppend(t, s, testRecords(0, 6)...) })
	<-entered
	wg.Go(func() { mustAppend(t, s, testRecords(6, 10)...) })
	for s.Counters().QueuedTraces < 10 {
		time.Sleep(time.Millisecond)
	}
	_, err := s.Append(t.Context(), []Record{testRecord(10)})
	if !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	_, err = s.Append(t.Context(), testRecords(0, 11))
	if err == nil || errors.Is(err, ErrBusy) {
		t.Errorf("got %v for more than the queue holds, want another error than ErrBusy", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Maintain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("maintain behind a commit: got %v, want the context's end", err)
	}
	close(hold)
	wg.Wait()
	mustAppend(t, s, testRecord(10)) // there is room again
	if got := s.Counters(); got.Refused != 1 || got.Stored != 11 {
		t.Errorf("counters %+v: want 1 refused, 11 stored", got)
	}
}

func TestBusyByBytes(t *testing.T) {
	o := testOptions(t, nil)
	o.QueueBytes = 1000
	s := mustOpen(t, t.TempDir(), o)
	r := testRecord(1)
	r.Payload = make([]byte, 1001)
	if _, err := s.Append(t.Context(), []Record{r}); err == nil {
		t.Error("append of more bytes than the queue may hold: got no error")
	}
	r.Payload = make([]byte, 900)
	mustAppend(t, s, r)
}

func TestNoSpace(t *testing.T) {
	o := testOptions(t, nil)
	o.MinFree = 1 << 60
	s := mustOpen(t, t.TempDir(), o)
	if _, err := s.Append(t.Context(), []Record{testRecord(1)}); !errors.Is(err, ErrNoSpace) {
		t.Errorf("got %v, want ErrNoSpace", err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("the store has stopped: %v", err)
	}
	if seen, _ := scanIDs(t, s, Query{}); len(seen) != 0 {
		t.Errorf("%d traces stored", len(seen))
	}
}

func TestCommitError(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(t, nil)
	s := mustOpen(t, dir, o)
	mustAppend(t, s, testRecords(0, 10)...)
	s.writer.db.Close() // Badger refuses commits from here on
	_, err := s.Append(t.Context(), []Record{testRecord(10)})
	if err == nil {
		t.Fatal("append to a closed database: got no error")
	}
	if _, err := s.Append(t.Context(), []Record{testRecord(0)}); err == nil || !strings.Contains(err.Error(), "store has stopped") {
		t.Errorf("append after an error: got %v, want that the store has stopped", err)
	}
	if err := s.Err(); err == nil {
		t.Error("Err is nil")
	}
	s.Close()
	if _, err := os.Stat(filepath.Join(dir, s.shelf.parts[0].name, cleanFile)); err == nil {
		t.Error("the partition was marked clean after an error")
	}
	s = mustOpen(t, dir, o)
	wantAll(t, s, Query{}, 0, 10)
	mustAppend(t, s, testRecord(10))
	wantAll(t, s, Query{}, 0, 11)
}

// TestQueuedAtFailure checks that what waits in the queue when a commit fails is not
// acknowledged, though Badger might take it.
func TestQueuedAtFailure(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	mustAppend(t, s, testRecord(0))
	queued, err := s.prepare(testRecords(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	s.fail(errors.New("disk on fire"))
	if err := s.enqueue(queued); err != nil {
		t.Fatal(err)
	}
	if res, err := await(t.Context(), queued); err == nil || err.Error() != "store has stopped: disk on fire" || res != (AppendResult{}) {
		t.Errorf("got %+v, %v, want nothing but that the store has stopped", res, err)
	}
	if seen, _ := scanIDs(t, s, Query{}); len(seen) != 1 {
		t.Errorf("got %d traces, want only that from before", len(seen))
	}
}

// TestBadgerOptions checks what no test can show by killing a process, and that
// nothing gets into the value log.
func TestBadgerOptions(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	r := testRecord(1)
	r.Payload = make([]byte, 600<<10)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range r.Payload {
		r.Payload[i] = byte(rnd.Uint32())
	}
	mustAppend(t, s, r)
	if o := s.writer.db.Opts(); !o.SyncWrites || o.MemTableSize != 64<<20 || o.Compression != options.None || o.DetectConflicts {
		t.Errorf("badger is open with %+v", o)
	}
	path := s.shelf.parts[0].path
	mustClose(t, s)
	fi, err := os.Stat(glob(t, path, "*.vlog"))
	if err != nil || fi.Size() > 1000 {
		t.Errorf("value log of %d bytes, %v, want an empty one", fi.Size(), err)
	}
}

func TestClosed(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	mustAppend(t, s, testRecord(1))
	mustClose(t, s)
	mustClose(t, s)
	if _, err := s.Append(t.Context(), []Record{testRecord(2)}); !errors.Is(err, ErrClosed) {
		t.Errorf("append: got %v, want ErrClosed", err)
	}
	if _, err := s.Scan(t.Context(), Query{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("scan: got %v, want ErrClosed", err)
	}
	if err := s.Maintain(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("maintain: got %v, want ErrClosed", err)
	}
}

func TestAppendCanceled(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	hold := make(chan struct{})
	o.Now = func() time.Time { <-hold; return c.Now() }
	s := mustOpen(t, t.TempDir(), o)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Append(ctx, []Record{testRecord(1)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	if got := s.Counters().QueuedTraces; got != 1 {
		t.Errorf("%d traces queued, want 1: it is still to be committed", got)
	}
	close(hold)
	if got := mustAppend(t, s, testRecord(1)); got.Duplicates != 1 {
		t.Errorf("repeat: got %+v, want a duplicate", got)
	}
}

func TestCatalog(t *testing.T) {
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	a := Tag{"feature", "a"}
	mustAppend(t, s, Record{ID: traceID(1), Pages: []string{"/x", "/y"}, Tags: []Tag{a, a}})
	c.Add(time.Minute)
	mustAppend(t, s, Record{ID: traceID(2), Pages: []string{"/x"}}, Record{ID: traceID(2), Pages: []string{"/x"}})
	c.Add(time.Hour)
	mustAppend(t, s, Record{ID: traceID(3), Pages: []string{"/x"}, Tags: []Tag{a}})
	later := noon.Add(time.Hour + time.Minute)
	check := func(since, until time.Time, want ...CatalogEntry) {
		t.Helper()
		got, st, err := s.Catalog(t.Context(), since, until)
		if err != nil || !st.Complete() {
			t.Fatalf("catalog: %+v, %v", st, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("catalog %v..%v:\n got %+v\nwant %+v", since, until, got, want)
		}
	}
	check(time.Time{}, time.Time{},
		CatalogEntry{"/x", Tag{}, 3, noon, later},
		CatalogEntry{"/x", a, 2, noon, later},
		CatalogEntry{"/y", Tag{}, 1, noon, noon},
		CatalogEntry{"/y", a, 1, noon, noon})
	check(noon.Add(2*time.Minute), time.Time{},
		CatalogEntry{"/x", Tag{}, 1, later, later},
		CatalogEntry{"/x", a, 1, later, later})
	check(noon.Add(time.Second), noon.Add(time.Hour),
		CatalogEntry{"/x", Tag{}, 2, noon, noon.Add(time.Minute)})
	check(time.Time{}, noon)
}
