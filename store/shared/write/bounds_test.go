package write

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// The queue accepts exactly QueueTraces traces and QueueBytes bytes.
func TestQueueIsFull(t *testing.T) {
	_, b := newTestWriter(t)
	for _, tt := range []struct {
		what  string
		sizes []int64 // of traces that arrive one after the other
		last  error
	}{
		{"the maximum number of traces", []int64{1, 1, 1}, nil},
		{"one trace too many", []int64{1, 1, 1, 1}, store.ErrBusy},
		{"the maximum number of bytes", []int64{60, 40}, nil},
		{"one byte too many", []int64{60, 41}, store.ErrBusy},
	} {
		w, err := New(b, "0123456789ab", Options{Flush: time.Hour, FlushBytes: 1 << 20, Puts: 1, GiveUp: time.Second,
			QueueTraces: 3, QueueBytes: 100, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for i, size := range tt.sizes {
			rec := store.Record{ID: store.ID{View: [16]byte{byte(i + 1)}}, Pages: []string{"/a"}, Payload: []byte("x")}
			_, _, err := w.enqueue([]store.Record{rec}, size)
			want := error(nil)
			if i == len(tt.sizes)-1 {
				want = tt.last
			}
			if !errors.Is(err, want) {
				t.Errorf("%s, trace %d: got %v, want %v", tt.what, i+1, err, want)
			}
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// The spool accepts exactly its maximum size. A segment that is put twice counts once.
func TestSpoolIsFull(t *testing.T) {
	dir := t.TempDir()
	s, err := openSpool(disk.OS, dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	key := func(seq uint64) string {
		return layout.Segment{Hour: "20261125T10", Instance: "0123456789ab", Seq: seq}.Key()
	}
	put := func(seq uint64, size int, want error, segments int, bytes int64) {
		t.Helper()
		if err := s.put(key(seq), make([]byte, size)); !errors.Is(err, want) {
			t.Errorf("segment %d of %d bytes: got %v, want %v", seq, size, err, want)
		}
		if n, b := s.size(); n != segments || b != bytes {
			t.Errorf("segment %d of %d bytes: the spool has %d segments of %d bytes, want %d of %d",
				seq, size, n, b, segments, bytes)
		}
	}
	put(1, 4, nil, 1, 4)
	put(1, 4, nil, 1, 4)
	put(2, 7, errSpoolFull, 1, 4)
	put(2, 6, nil, 2, 10)
	put(3, 1, errSpoolFull, 2, 10)
	if err := s.remove(s.list()[0]); err != nil {
		t.Fatal(err)
	}
	put(3, 4, nil, 2, 10)
	if s, err = openSpool(disk.OS, dir, 10); err != nil {
		t.Fatal(err)
	}
	if n, b := s.size(); n != 2 || b != 10 {
		t.Errorf("reopened, the spool has %d segments of %d bytes, want 2 of 10", n, b)
	}
}
