package local_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

func TestAppendConcurrently(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	const workers, each = 64, 20
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				n := w*each + i
				if res, err := s.Append(t.Context(), []store.Record{testRecord(n)}); err != nil || res.Stored != 1 {
					t.Errorf("append %d: %+v, %v", n, res, err)
				}
			}
		})
	}
	wg.Wait()
	wantAll(t, s, store.Query{}, 0, workers*each)
	if got := s.Counters(); got.Stored != workers*each || got.Commits >= workers*each/2 || got.QueuedTraces != 0 || got.QueuedBytes != 0 {
		t.Errorf("counters %+v: want %d stored in fewer than half as many commits, and an empty queue", got, workers*each)
	}
}

func TestAppendLarge(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	// More than one commit takes, by number and by size.
	if res := mustAppend(t, s, testRecords(0, 1500)...); res.Stored != 1500 {
		t.Fatalf("got %+v, want 1500 stored", res)
	}
	if got := s.Counters().Commits; got < 1500/256 {
		t.Errorf("got %d commits, want at least %d", got, 1500/256)
	}
	wantAll(t, s, store.Query{}, 0, 1500)
}

// TestAppendWidest fills transactions with what adds most to them beside payload.
func TestAppendWidest(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	var tags []store.Tag
	for i := range store.MaxTags {
		tags = append(tags, store.Tag{Key: strings.Repeat("k", store.MaxTagKey-1) + string(rune('A'+i)), Value: strings.Repeat("v", store.MaxTagValue)})
	}
	var recs []store.Record
	for n := range 300 {
		r := testRecord(n, strings.Repeat("/", 1+n%store.MaxPage))
		if n%2 == 0 {
			r.Tags, r.Payload = tags, nil
		} else {
			r.Pages, r.Tags, r.Payload = nil, nil, nil
			for p := range store.MaxPages {
				r.Pages = append(r.Pages, string(rune('0'+p))+string(rune(n)))
			}
		}
		recs = append(recs, r)
	}
	if res := mustAppend(t, s, recs...); res.Stored != len(recs) {
		t.Fatalf("got %+v, want %d stored", res, len(recs))
	}
	if st, err := s.Scan(t.Context(), store.Query{}, func(store.Record) error { return nil }); err != nil || st.Traces != 300 || !st.Complete() {
		t.Errorf("got %+v, %v, want all 300", st, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
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
		edit func(*store.Record)
	}{
		{"no page", func(r *store.Record) { r.Pages = nil }},
		{"empty page", func(r *store.Record) { r.Pages = []string{""} }},
		{"page with NUL", func(r *store.Record) { r.Pages = []string{"/a\x00b"} }},
		{"long page", func(r *store.Record) { r.Pages = []string{strings.Repeat("a", store.MaxPage+1)} }},
		{"many pages", func(r *store.Record) { r.Pages = slices.Repeat([]string{"/a"}, store.MaxPages+1) }},
		{"tag without key", func(r *store.Record) { r.Tags = []store.Tag{{Key: "", Value: "v"}} }},
		{"tag with NUL", func(r *store.Record) { r.Tags = []store.Tag{{Key: "k", Value: "\x00"}} }},
		{"large payload", func(r *store.Record) { r.Payload = make([]byte, 3<<20+1) }},
		{"large when compressed", func(r *store.Record) { r.Payload = noise }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := testRecord(2)
			tt.edit(&bad)
			_, err := s.Append(t.Context(), []store.Record{good, bad})
			re, ok := errors.AsType[*store.RecordError](err)
			if !ok || re.Index != 1 || re.ID != bad.ID {
				t.Errorf("got %v, want a RecordError about record 1", err)
			}
		})
	}
	if seen, _ := scanIDs(t, s, store.Query{}); len(seen) != 0 {
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
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	o := testOptions(t, c)
	s := mustOpen(t, dir, o)
	want := func(what string, got, want store.AppendResult) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	want("within a group", mustAppend(t, s, testRecord(1), testRecord(2), testRecord(1)), store.AppendResult{Stored: 2, Duplicates: 1})
	want("across commits", mustAppend(t, s, testRecord(1)), store.AppendResult{Stored: 0, Duplicates: 1})
	mustClose(t, s)
	s = mustOpen(t, dir, o)
	want("across a restart", mustAppend(t, s, testRecord(2), testRecord(3)), store.AppendResult{Stored: 1, Duplicates: 1})
	c.Add(time.Hour)
	want("across the edge", mustAppend(t, s, testRecord(1), testRecord(4)), store.AppendResult{Stored: 1, Duplicates: 1})
	mustClose(t, s)
	s = mustOpen(t, dir, o)
	want("across edge and restart", mustAppend(t, s, testRecord(3)), store.AppendResult{Stored: 0, Duplicates: 1})
	wantAll(t, s, store.Query{}, 1, 5)
	c.Add(time.Hour)
	mustAppend(t, s, testRecord(5))
	want("two partitions on, past the window", mustAppend(t, s, testRecord(1)), store.AppendResult{Stored: 1, Duplicates: 0})
	if got := s.Counters(); got.Stored != 2 || got.Duplicates != 1 {
		t.Errorf("counters %+v: want 2 stored and 1 duplicate since the last start", got)
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
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
	_, err := s.Append(t.Context(), []store.Record{testRecord(10)})
	if !errors.Is(err, store.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	_, err = s.Append(t.Context(), testRecords(0, 11))
	if err == nil || errors.Is(err, store.ErrBusy) {
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
	t.Parallel()
	o := testOptions(t, nil)
	o.QueueBytes = 1000
	s := mustOpen(t, t.TempDir(), o)
	r := testRecord(1)
	r.Payload = make([]byte, 1001)
	if _, err := s.Append(t.Context(), []store.Record{r}); err == nil {
		t.Error("append of more bytes than the queue may hold: got no error")
	}
	r.Payload = make([]byte, 900)
	mustAppend(t, s, r)
}

func TestNoSpace(t *testing.T) {
	t.Parallel()
	o := testOptions(t, nil)
	o.MinFree = 1 << 60
	s := mustOpen(t, t.TempDir(), o)
	if _, err := s.Append(t.Context(), []store.Record{testRecord(1)}); !errors.Is(err, store.ErrNoSpace) {
		t.Errorf("got %v, want ErrNoSpace", err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("the store has stopped: %v", err)
	}
	if seen, _ := scanIDs(t, s, store.Query{}); len(seen) != 0 {
		t.Errorf("%d traces stored", len(seen))
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	mustAppend(t, s, testRecord(1))
	mustClose(t, s)
	mustClose(t, s)
	if _, err := s.Append(t.Context(), []store.Record{testRecord(2)}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append: got %v, want ErrClosed", err)
	}
	if _, err := s.Scan(t.Context(), store.Query{}, nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("scan: got %v, want ErrClosed", err)
	}
	if err := s.Maintain(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("maintain: got %v, want ErrClosed", err)
	}
}

func TestAppendCanceled(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := testOptions(t, c)
	hold := make(chan struct{})
	o.Now = func() time.Time { <-hold; return c.Now() }
	s := mustOpen(t, t.TempDir(), o)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Append(ctx, []store.Record{testRecord(1)}); !errors.Is(err, context.DeadlineExceeded) {
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
