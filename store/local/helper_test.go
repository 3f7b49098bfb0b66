package local_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// smallMem keeps tests light; it is the least Badger takes.
const smallMem = 8 << 20

// clock is a clock that stands still until it is set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock(t time.Time) *clock { return &clock{t: t} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

func (c *clock) Add(d time.Duration) { c.Set(c.Now().Add(d)) }

// noon is when most tests begin.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

func testOptions(t testing.TB, c *clock) local.Options {
	o := local.Options{Program: "storetest", MemTableSize: smallMem, RollEvery: -1} // payloads of most tests are no traces
	if c != nil {
		o.Now = c.Now
	}
	if testing.Verbose() {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	return o
}

func mustOpen(t testing.TB, dir string, o local.Options) *local.Store {
	t.Helper()
	s, err := local.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustRead(t testing.TB, dir string, o local.Options) *local.Reader {
	t.Helper()
	r, err := local.OpenReader(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustClose(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// traceID returns the id number n of a test.
func traceID(n int) (id store.ID) {
	binary.BigEndian.PutUint64(id.View[:], uint64(n)*0x9E3779B97F4A7C15) // spread over the key space
	id.Chunk = uint32(n)
	return id
}

// payloadOf returns the payload that belongs to id, so that a wrong one is seen.
func payloadOf(id store.ID) []byte {
	r := rand.New(rand.NewPCG(uint64(id.Chunk), binary.BigEndian.Uint64(id.View[:])))
	b := make([]byte, 200+r.IntN(1800))
	for i := range b {
		b[i] = byte(r.Uint32() & 0x3f) // compresses somewhat, as real ones do
	}
	return b
}

func testRecord(n int, pages ...string) store.Record {
	id := traceID(n)
	if len(pages) == 0 {
		pages = []string{"/feed"}
	}
	return store.Record{ID: id, Pages: pages, Tags: []store.Tag{{Key: "release", Value: "1.2"}, {Key: "feature", Value: "search"}}, Payload: payloadOf(id)}
}

func testRecords(from, to int, pages ...string) (recs []store.Record) {
	for n := from; n < to; n++ {
		recs = append(recs, testRecord(n, pages...))
	}
	return recs
}

func mustAppend(t testing.TB, s *local.Store, recs ...store.Record) store.AppendResult {
	t.Helper()
	res, err := s.Append(t.Context(), recs)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// scanner is a Store or a Reader.
type scanner interface {
	Scan(context.Context, store.Query, func(store.Record) error) (store.ScanStats, error)
}

// scanIDs returns how often each id was found, and checks each payload.
func scanIDs(t testing.TB, s scanner, q store.Query) (map[store.ID]int, store.ScanStats) {
	t.Helper()
	seen := make(map[store.ID]int)
	st, err := s.Scan(context.Background(), q, func(r store.Record) error {
		seen[r.ID]++
		if !bytes.Equal(r.Payload, payloadOf(r.ID)) {
			return fmt.Errorf("trace %s came back changed", r.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen, st
}

// wantAll checks that exactly the ids from..to are there, once each, and that the
// scan calls itself complete.
func wantAll(t testing.TB, s scanner, q store.Query, from, to int) {
	t.Helper()
	seen, st := scanIDs(t, s, q)
	for n := from; n < to; n++ {
		if got := seen[traceID(n)]; got != 1 {
			t.Errorf("trace %d found %d times, want once", n, got)
		}
	}
	if len(seen) != to-from {
		t.Errorf("got %d traces, want %d", len(seen), to-from)
	}
	if !st.Complete() {
		t.Errorf("scan is incomplete: %+v", st)
	}
}
