package layout

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
)

func testCodec(t testing.TB) *block.Codec {
	t.Helper()
	c, err := block.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// testTrace returns a trace of two pages.
func testTrace(i int) store.Record {
	return store.Record{ID: store.ID{View: [16]byte{byte(i)}, Chunk: uint32(i)}, Pages: []string{"/feed", "/item/:id"},
		Tags: []store.Tag{{Key: "release", Value: "r1"}}, Payload: []byte{byte(i), 7, 7}}
}

// TestConsumed adds segments in random order, and compares the ranges with a plain set.
func TestConsumed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		c, set := &Consumed{}, map[uint64]bool{}
		for range 200 {
			if seq := uint64(1 + rnd.IntN(120)); !c.has(seq) {
				c.add(seq)
				set[seq] = true
			}
			m := newManifest()
			m.Instances["b"] = c
			if err := m.check(); err != nil {
				t.Fatal(err)
			}
		}
		for seq := range uint64(130) {
			if c.has(seq) != set[seq] {
				t.Fatalf("segment %d is in %v: got %v", seq, c.Ranges, set[seq])
			}
		}
	}
}

func TestSegmentKeys(t *testing.T) {
	for _, s := range []Segment{{"20261121T08", "0123456789ab", 1}, {"20261121T23", "x", 123_456_789}} {
		if got, ok := ParseSegment(s.Key()); !ok || got != s {
			t.Errorf("%s: got %v, %v", s.Key(), got, ok)
		}
	}
	for _, k := range []string{"", "seg/", "seg/20261121T08/x-0", "seg/20261121T08/x-00000000",
		"seg/20261121T8/x-00000001", "seg/20261121T08/x-1",
		"seg/20261121T08/x-0000000a", "raw/20261121T08/x-00000001", "seg/20261121T08/x-y-00000001"} {
		if s, ok := ParseSegment(k); ok && s.Key() != k {
			t.Errorf("%q is read as %v", k, s)
		}
	}
}

// TestDamagedRows decodes rows, keys, counts and catalogues after any of their bytes was changed.
// The decoder must not panic or allocate more than the input could hold.
func TestDamagedRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	var data []byte
	var rows []Row
	for i := range 20 {
		rec := testTrace(i)
		rows = append(rows, RowsOf(&rec, int64(i))...)
	}
	for i := range rows {
		data = appendRow(data, &rows[i], true)
	}
	d := newDecoder(data)
	for i := range rows {
		if got := d.row(rows[i].Page, true); fmt.Sprint(got) != fmt.Sprint(rows[i]) || d.Err() != nil {
			t.Fatalf("got %v, %v, want %v", got, d.Err(), rows[i])
		}
	}
	for range 20_000 {
		changed := slices.Clone(data)
		for range 1 + rnd.IntN(3) {
			changed[rnd.IntN(len(changed))] = byte(rnd.IntN(256))
		}
		changed = changed[:rnd.IntN(len(changed)+1)]
		for _, read := range []func() error{
			func() error { _, err := decodeRows(changed, rnd.IntN(1<<30)); return err },
			func() error { _, err := decodeTraces(changed, "/a", rnd.IntN(1<<30)); return err },
			func() error { _, err := decodeKeys(changed, rnd.IntN(1<<30)); return err },
			func() error { _, err := decodeCounts(changed); return err },
			func() error { _, err := decodeCatalog(changed); return err },
		} {
			if err := read(); err != nil && !errors.Is(err, block.ErrDamaged) {
				t.Fatal(err)
			}
		}
	}
}

// decodeTraces returns the rows in a block of traces of a page.
func decodeTraces(data []byte, page string, n int) ([]Row, error) {
	r, err := readRows(data, page)
	if err != nil {
		return nil, err
	}
	out := make([]Row, 0, min(n, len(data)))
	for !r.end() && r.Err() == nil {
		out = append(out, r.next())
	}
	return out, r.Err()
}
