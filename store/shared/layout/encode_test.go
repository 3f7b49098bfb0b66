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
	return store.Record{ID: store.ID{View: [16]byte{byte(i)}, Chunk: uint32(i)}, Pages: []string{"/feed", "/item/:id"}, Tags: []store.Tag{{Key: "release", Value: "r1"}}, Payload: []byte{byte(i), 7, 7}}
}

// TestConsumed adds segments in any order, and compares what is known of them with a plain set.
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
				t.Fatalf("%d is in %v: %v", seq, c.Ranges, set[seq])
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
	for _, k := range []string{"", "seg/", "seg/20261121T08/x-0", "seg/20261121T08/x-00000000", "seg/20261121T8/x-00000001", "seg/20261121T08/x-1",
		"seg/20261121T08/x-0000000a", "raw/20261121T08/x-00000001", "seg/20261121T08/x-y-00000001"} {
		if s, ok := ParseSegment(k); ok && s.Key() != k {
			t.Errorf("%q is read as %v", k, s)
		}
	}
}

// TestDamagedRows reads rows, keys, counts and catalogues of which any byte has changed: without a panic, and
// without memory beyond what is there.
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

// TestManifest reads manifests that can not be.
func TestManifest(t *testing.T) {
	c := testCodec(t)
	m := newManifest()
	m.Instances["b"] = &Consumed{Ranges: [][2]uint64{{1, 3}, {5, 5}}}
	m.Hour("20261121T08").Runs = []File{{ID: "x", Rows: 3, Size: 100}}
	body, err := m.Encode(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeManifest(c, 0, body)
	if err != nil || fmt.Sprint(got.Hours["20261121T08"]) != fmt.Sprint(m.Hours["20261121T08"]) || !got.Instances["b"].has(5) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := decodeManifest(c, 1, body); !errors.Is(err, block.ErrDamaged) {
		t.Errorf("as the manifest of another shard: got %v, want that it is damaged", err)
	}
	for what, change := range map[string]func(*Manifest){
		"an hour":  func(m *Manifest) { m.Hour("20261121T8") },
		"a day":    func(m *Manifest) { m.Days["2026-11-21"] = &Day{} },
		"ranges":   func(m *Manifest) { m.Instances["b"].Ranges = [][2]uint64{{1, 3}, {4, 5}} },
		"backward": func(m *Manifest) { m.Instances["b"].Ranges = [][2]uint64{{3, 1}} },
		"no boot":  func(m *Manifest) { m.Instances["c"] = nil },
		"later":    func(m *Manifest) { m.Version = 2 },
	} {
		x := m.Clone()
		change(x)
		body, err := x.Encode(c, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decodeManifest(c, 0, body)
		if _, newer := errors.AsType[*VersionError](err); !newer && !errors.Is(err, block.ErrDamaged) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if _, err := decodeManifest(c, 0, body[:len(body)-1]); !errors.Is(err, block.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// decodeTraces returns the rows of a block of a page.
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
