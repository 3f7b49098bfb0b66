package roll

import (
	"maps"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
)

// The first chunk of a page view determines its release, in whatever order the chunks arrive. The
// roller adds and subtracts the view's functions under the same release.
func TestChunksOutOfOrder(t *testing.T) {
	n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
	b := n.Bucket
	for i, chunk := range []uint32{2, 0, 3, 1} {
		x := &trie.Trace{Trie: *trie.New()}
		x.Context = trie.Context{Page: "/a", ViewID: "0123456789abcdef", Chunk: chunk, Interval: 10_000, Release: "new"}
		if chunk == 0 {
			x.Context.Release = "old"
		}
		f := x.Insert(trie.Frame{Name: "f", Resource: "https://x.example/app.js", Line: 1})
		for at := range int64(5) {
			x.Samples = append(x.Samples, trie.Sample{Time: at * 10_000, Node: f})
		}
		payload, err := encode.EncodeTrace(x)
		if err != nil {
			t.Fatal(err)
		}
		row := layout.Row{Page: "/a", Received: b.Now().UnixMicro(), Payload: payload}
		copy(row.ID.View[:], x.Context.ViewID)
		row.ID.Chunk = chunk
		putSegment(t, b, uint64(i+1), &layout.Batch{Rows: []layout.Row{row}})
		n.Round(t.Context(), Work{})
	}
	m, _, err := b.Manifest(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var runs, rollups []*layout.Object
	for name, h := range m.Hours {
		for _, f := range h.Runs {
			runs = append(runs, openObject(t, b, layout.RunKey(0, name, f.ID)))
		}
		for _, f := range h.Rollups {
			rollups = append(rollups, openObject(t, b, layout.HourKey(0, name, f.ID)))
		}
	}
	got, err := b.PageOf(t.Context(), rollups, "/a")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := b.FromTraces(t.Context(), runs, func(_ string, want *layout.Page) error {
		if g, w := functionsOf(t, got), functionsOf(t, want); !maps.Equal(g, w) {
			t.Errorf("got the functions %v, want %v as in the traces", g, w)
		}
		return nil
	})
	if err != nil || rows != 4 {
		t.Errorf("got %d traces and error %v, want 4", rows, err)
	}
}

func openObject(t *testing.T, b *layout.Bucket, key string) *layout.Object {
	t.Helper()
	o, err := b.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// functionsOf returns the page views with a function, and their self time in µs, by release.
func functionsOf(t *testing.T, p *layout.Page) map[string][2]int64 {
	t.Helper()
	rec, err := p.Record()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]int64{}
	for _, of := range rec.Functions {
		for _, f := range of.Of {
			out[of.Release] = [2]int64{f.Self.Count, f.Self.Sum}
		}
	}
	return out
}
