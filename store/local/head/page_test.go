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

// A question that is given up leaves what it has summed up to the next one, or a page of which
// more comes than one question has time for is never answered.
func TestGivenUp(t *testing.T) {
	const commits = 40
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
	now := time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)
	w, _, err := shelf.Writer(now)
	if err != nil {
		t.Fatal(err)
	}
	for n := range commits {
		id := store.ID{Chunk: 1}
		copy(id.View[:], fmt.Sprintf("view %11d", n))
		key := record.AppendTraceKey(nil, "/a", id)
		value := record.PackValue(nil, key, record.Value{Received: now, Compressed: codec.Plain().Compress(nil, encoded(t))})
		err := w.Commit(func(b *part.Batch) (bool, error) {
			b.Count = record.Commit{Traces: 1, Entries: 1, Received: now.UnixMicro()}
			return true, b.Set(key, value)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	h := New(Options{Shelf: shelf, Codec: codec, Log: log})
	h.advanceBy = 2
	for asked := 1; ; asked++ {
		got, err := h.Page(&patient{t.Context(), 12}, w.Partition(), "/a", Question{})
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
