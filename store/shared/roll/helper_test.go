package roll

import (
	"log/slog"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
)

func newTestRoller(t *testing.T, on objects.Store) *Roller {
	t.Helper()
	b, err := layout.Create(t.Context(), on, layout.Options{Shards: 1, GiveUp: 8 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return New(b, "0123456789ab", Options{TakeOver: 30 * time.Second, Rows: 8000,
		Logger: slog.New(slog.DiscardHandler)})
}

// testPayload returns a trace of a page.
func testPayload(t *testing.T, page string) []byte {
	t.Helper()
	x := &trie.Trace{Trie: *trie.New()}
	node := x.Insert(trie.Frame{Name: "f", Resource: "https://x.example/app.js", Line: 1}, trie.Frame{Name: "g",
		Resource: "https://x.example/app.js", Line: 2})
	x.Context.Page, x.Context.ViewID, x.Context.Interval, x.Context.Release = page, "0123456789abcdef", 10_000, "r1"
	for at := range int64(5) {
		x.Samples = append(x.Samples, trie.Sample{Time: at * 20_000, Node: node})
	}
	payload, err := encode.EncodeTrace(x)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// putSegment puts a segment of another instance.
func putSegment(t *testing.T, b *layout.Bucket, seq uint64, of *layout.Batch) {
	t.Helper()
	key := layout.Segment{Hour: layout.HourOf(b.Now()), Instance: "ba9876543210", Seq: seq}.Key()
	body, err := layout.EncodeSegment(b.Codec, key, of, b.Shards)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.PutObject(t.Context(), key, body); err != nil {
		t.Fatal(err)
	}
}
