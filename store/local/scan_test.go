package local_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := newClock(noon.Add(123456789 * time.Nanosecond))
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	recs := []store.Record{
		{ID: traceID(1), Pages: []string{"/b", "/a", "/b"}, Payload: []byte("two pages")},
		{ID: traceID(2), Pages: []string{"/a/b"}, Payload: nil},
		{ID: traceID(3), Pages: []string{"/ü?\x01"}, Payload: bytes.Repeat([]byte{0}, 1<<20)},
	}
	if got := mustAppend(t, s, recs...); got != (store.AppendResult{Stored: 3}) {
		t.Fatalf("append: got %+v, want 3 stored", got)
	}
	check := func(s scanner, q store.Query, want ...int) {
		t.Helper()
		var got []store.Record
		_, err := s.Scan(t.Context(), q, func(r store.Record) error {
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
			if g.ID != w.ID || !bytes.Equal(g.Payload, w.Payload) || !slices.Equal(g.Pages, sorted(w.Pages)) {
				t.Errorf("scan %+v: record %d differs", q, n)
			}
			if want := noon.Add(123456 * time.Microsecond); !g.Received.Equal(want) {
				t.Errorf("received %v, want %v", g.Received, want)
			}
		}
	}
	all := func(s scanner) {
		t.Helper()
		check(s, store.Query{Page: "/a"}, 1)
		check(s, store.Query{Page: "/b"}, 1)
		check(s, store.Query{Page: "/a/b"}, 2)
		check(s, store.Query{Page: "/"})
		check(s, store.Query{}, 1, 2, 3)
		at := noon.Add(123456 * time.Microsecond)
		check(s, store.Query{Page: "/a", Since: at}, 1)
		check(s, store.Query{Page: "/a", Until: at})
		check(s, store.Query{Page: "/a", Since: at, Until: at.Add(time.Microsecond)}, 1)
		check(s, store.Query{Since: at.Add(time.Microsecond)})
	}
	all(s)
	mustClose(t, s)
	r, err := local.OpenReader(dir, testOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all(r)
}

func TestScanOrder(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	view := [16]byte{7}
	for _, chunk := range []uint32{300, 1, 2} {
		mustAppend(t, s, store.Record{ID: store.ID{View: view, Chunk: chunk}, Pages: []string{"/z"}})
	}
	c.Add(time.Hour)
	mustAppend(t, s, store.Record{ID: store.ID{View: view}, Pages: []string{"/a"}})
	var got []uint32
	if _, err := s.Scan(t.Context(), store.Query{}, func(r store.Record) error { got = append(got, r.ID.Chunk); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []uint32{1, 2, 300, 0}; !slices.Equal(got, want) {
		t.Errorf("chunks in order %v, want %v", got, want)
	}
}

func TestScanStops(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	mustAppend(t, s, testRecords(0, 100)...)
	stop := errors.New("stop")
	n := 0
	_, err := s.Scan(t.Context(), store.Query{}, func(store.Record) error {
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
	_, err = s.Scan(ctx, store.Query{}, func(store.Record) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 10 {
		t.Errorf("got %v after %d, want canceled after 10", err, n)
	}
}

// sorted returns the distinct pages in order.
func sorted(pages []string) []string {
	pages = slices.Clone(pages)
	slices.Sort(pages)
	return slices.Compact(pages)
}
