package layout

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
)

// Decoding random bytes never panics, never returns more items than the bytes can hold, and agrees
// with encoding the result again. These targets take a minute to build, because all dependencies of
// the stores are instrumented with them.

func FuzzRows(f *testing.F) {
	for i := range 4 {
		rec := testTrace(i)
		var data []byte
		for _, r := range RowsOf(&rec, 1e15) {
			data = appendRow(appendText(data, r.Page), &r, true)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := decodeRows(data, 1<<30)
		if len(rows) > len(data) {
			t.Fatalf("%d rows in %d bytes", len(rows), len(data))
		}
		if err != nil {
			return
		}
		var again []byte
		for i := range rows {
			again = appendRow(appendText(again, rows[i].Page), &rows[i], true)
		}
		second, err := decodeRows(again, len(rows))
		if err != nil || len(second) != len(rows) {
			t.Fatalf("%d rows of %d, %v", len(second), len(rows), err)
		}
		for i := range rows {
			if CompareRows(&rows[i], &second[i]) != 0 || !bytes.Equal(rows[i].Payload, second[i].Payload) {
				t.Fatalf("row %d differs", i)
			}
		}
	})
}

func FuzzCounts(f *testing.F) {
	f.Add([]byte("\x02/a\x01\x05other\x07"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if counts, _ := decodeCounts(data); len(counts) > len(data) {
			t.Fatalf("%d counts in %d bytes", len(counts), len(data))
		}
	})
}

func FuzzKeys(f *testing.F) {
	f.Add(append(make([]byte, 16), 3))
	if data, err := encodePacked([]Row{randomRow(f, rand.New(rand.NewPCG(1, 1))),
		randomRow(f, rand.New(rand.NewPCG(1, 2)))}); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if keys, _ := decodeKeys(data, 1<<30); len(keys) > len(data) {
			t.Fatalf("%d keys in %d bytes", len(keys), len(data))
		}
		if rows, _ := decodeTraces(data, "/a", 1<<30); len(rows) > len(data) {
			t.Fatalf("%d traces in %d bytes", len(rows), len(data))
		}
	})
}

func FuzzCatalog(f *testing.F) {
	f.Add(encodeCatalog(Catalog{store.Tag{}: {3, 10, 20}, store.Tag{Key: "release", Value: "r1"}: {1, 10, 10}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeCatalog(data)
		if err != nil {
			return
		}
		again, err := decodeCatalog(encodeCatalog(c))
		if err != nil || !maps.Equal(c, again) {
			t.Fatalf("got %v, %v, want %v", again, err, c)
		}
	})
}

func FuzzManifest(f *testing.F) {
	codec, err := block.NewCodec()
	if err != nil {
		f.Fatal(err)
	}
	defer codec.Close()
	f.Add([]byte(`{"version":1,"instances":{"0a":{"ranges":[[1,3]]}},"hours":{"20261123T10":{"runs":[{"id":"x",` +
		`"rows":1,"size":2}],"traces":1}}}`))
	f.Add([]byte(`{"days":{"20261123":{"sources":["20261123T10"]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		w := block.NewWriter(codec)
		if err := w.Add(kindManifest, "", 1, text); err != nil {
			t.Fatal(err)
		}
		m, err := decodeManifest(codec, 0, w.Finish(ManifestKey(0)))
		if err != nil {
			return
		}
		body, err := m.Clone().Encode(codec, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeManifest(codec, 0, body); err != nil {
			t.Fatalf("the encoding of the result cannot be read: %v", err)
		}
	})
}

func FuzzSegmentKey(f *testing.F) {
	f.Add(Segment{"20261123T10", "0a1b2c3d4e5f", 7}.Key())
	f.Fuzz(func(t *testing.T, key string) {
		if s, ok := ParseSegment(key); ok && s.Key() != key {
			t.Fatalf("%q is read as %q", key, s.Key())
		}
	})
}
