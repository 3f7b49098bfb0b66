package head

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
)

// patient is a context that ends when it was looked at so many times.
type patient struct {
	context.Context
	left int
}

func (p *patient) Err() error {
	if p.left--; p.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// written is a partition with traces, each in a commit of its own.
type written struct {
	t     *testing.T
	shelf *part.Shelf
	codec *record.Codec
	w     *part.Writer
	now   time.Time
}

func newWritten(t *testing.T) *written {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	shelf, _, err := part.Open(t.TempDir(), part.Options{Width: time.Hour, MemTableSize: 8 << 20, MaxOpen: 8, Log: log,
		Space: disk.NewSpace(t.TempDir(), disk.SpaceOptions{MinFree: -1, Log: log}), Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shelf.CloseWriters(context.Background(), true); err != nil {
			t.Error(err)
		}
		shelf.CloseReaders()
	})
	codec, err := record.NewCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(codec.Close)
	x := &written{t: t, shelf: shelf, codec: codec, now: time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)}
	if x.w, _, err = shelf.Writer(x.now); err != nil {
		t.Fatal(err)
	}
	return x
}

// commit commits so many page views of a page at once.
func (x *written) commit(page string, from, views int, payload []byte) {
	x.t.Helper()
	err := x.w.Commit(func(b *part.Batch) (bool, error) {
		b.Count = record.Commit{Traces: uint32(views), Entries: uint32(views), Received: x.now.UnixMicro()}
		for n := range views {
			id := store.ID{Chunk: 1}
			copy(id.View[:], fmt.Sprintf("view %11d", from+n))
			key := record.AppendTraceKey(nil, page, id)
			if err := b.Set(key, record.PackValue(nil, key, record.Value{Received: x.now, Compressed: payload})); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

// What waits is counted in stretches, also where one ends within a page, and all of it once.
func TestUnrolledInStretches(t *testing.T) {
	x := newWritten(t)
	want := 0
	for page, views := range map[string]int{"/a": 1, "/b": countKeys, "/c": 2*countKeys + 1, "/d": countKeys - 1} {
		for n := 0; n < views; n += 1000 {
			x.commit(page, n, min(1000, views-n), nil)
		}
		want += views
	}
	upTo := uint64(0)
	if err := x.shelf.Read(t.Context(), x.w.Partition(), func(txn *part.Txn) error {
		upTo = txn.Version()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	x.commit("/c", 1<<20, 500, nil) // which was counted when it was committed
	h := New(Options{Shelf: x.shelf, Codec: x.codec})
	for _, longest := range []time.Duration{0, time.Hour} {
		if got, err := h.unrolled(t.Context(), x.w.Partition(), upTo, longest); err != nil || got != want {
			t.Errorf("in stretches of %v: got %d, %v, want %d", longest, got, err, want)
		}
	}
}

// A question that is given up leaves what it has summed up to the next one, or a page of which
// more comes than one question has time for is never answered.
func TestGivenUp(t *testing.T) {
	const commits = 40
	x := newWritten(t)
	payload := x.codec.Plain().Compress(nil, encoded(t))
	for n := range commits {
		x.commit("/a", n, 1, payload)
	}
	h := New(Options{Shelf: x.shelf, Codec: x.codec, Log: slog.New(slog.DiscardHandler)})
	h.advanceBy = 2
	for asked := 1; ; asked++ {
		got, err := h.Page(&patient{t.Context(), 12}, x.w.Partition(), "/a", Question{})
		if err == nil {
			if got.Traces != commits || asked < 3 {
				t.Errorf("got %d traces after %d questions, want %d after some", got.Traces, asked, commits)
			}
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if asked > commits {
			t.Fatalf("no answer after %d questions", asked)
		}
	}
}

// encoded returns a trace of page /a.
func encoded(t *testing.T) []byte {
	t.Helper()
	tr := &trie.Trace{Trie: *trie.New()}
	tr.Context = trie.Context{Page: "/a", Interval: 10_000}
	tr.Samples = []trie.Sample{{Time: 0, Node: tr.Insert(trie.Frame{Name: "a"})}, {Time: 10_000}}
	payload, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}
