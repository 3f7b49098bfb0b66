package layout

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie"
)

// randomRow returns a row of /feed: mostly a trace whose context has the id of the row.
func randomRow(t testing.TB, r *rand.Rand) Row {
	x := &trie.Trace{Trie: *trie.New()}
	id := store.ID{Chunk: uint32(r.IntN(3))}
	for i := range id.View {
		id.View[i] = byte(r.IntN(256))
	}
	x.Context = trie.Context{Page: "/feed", ViewID: string(id.View[:]), Chunk: id.Chunk, Interval: 10_000,
		Release: fmt.Sprint(r.IntN(2)),
		Spans:   []trie.Span{{Kind: trie.SpanFeature, Name: "search", Start: 5, Length: int64(r.IntN(100))}}}
	for i := range r.IntN(20) {
		var stack []trie.Frame
		for range 1 + r.IntN(4) {
			stack = append(stack, trie.Frame{Name: fmt.Sprint("f", r.IntN(5)),
				Resource: "https://x.example/app.js", Line: 1})
		}
		x.Samples = append(x.Samples, trie.Sample{Time: int64(i) * 10_000, Node: x.Insert(stack...),
			Marker: trie.Marker(r.IntN(3))})
	}
	out := Row{Page: "/feed", ID: id, Received: 1_795_000_000_000_000 + r.Int64N(3_600_000_000)}
	switch r.IntN(8) {
	case 0:
		out.Payload = []byte("not a trace")
		return out
	case 1: // written by a later version
		x.Unknown = []byte{0xf8, 0x3f, 1}
	case 2:
		x.Context.ViewID = ""
	case 3:
		x.Context.Chunk = 9
	case 4:
		out.Others = []string{"/a", "/b"}
	}
	var err error
	if out.Payload, err = encode.EncodeTrace(x); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPacked checks that a packed block returns its rows unchanged for any payloads, and that
// packing them again gives the same block.
func TestPacked(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []Row
		for range r.IntN(30) {
			rows = append(rows, randomRow(t, r))
		}
		slices.SortFunc(rows, func(a, b Row) int { return CompareRows(&a, &b) })
		data, err := encodePacked(rows)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeTraces(data, "/feed", len(rows))
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, got, rows)
		again, err := encodePacked(got)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("packing the rows again returns a different block: %v", err)
		}
	}
}

func sameRows(t *testing.T, got, want []Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := &got[i], &want[i]
		payload, err := g.Document()
		if err != nil || !bytes.Equal(payload, w.Payload) {
			t.Errorf("row %d: the payload differs, %v", i, err)
		}
		if g.ID != w.ID || g.Page != w.Page || g.Received != w.Received || !slices.Equal(g.Others, w.Others) {
			t.Errorf("row %d: got %v %v %v, want %v %v %v", i, g.ID, g.Received, g.Others, w.ID, w.Received, w.Others)
		}
	}
}

// TestPackedRun checks that packing keeps all rows and keys of a run, whichever way it is read, and
// makes it smaller.
func TestPackedRun(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rows []Row
	for i := range 3000 {
		x := randomRow(t, r)
		x.Page = []string{"/a", "/feed"}[i%2]
		rows = append(rows, x)
	}
	slices.SortFunc(rows, func(a, b Row) int { return CompareRows(&a, &b) })
	b := &Bucket{Codec: testCodec(t)}
	write := func(w *RunWriter, rows []Row) (*Object, int) {
		for i := range rows {
			if err := w.Add(&rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		body, err := w.Finish("run")
		if err != nil {
			t.Fatal(err)
		}
		index, err := b.Codec.ParseIndex("run", body, int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		return &Object{key: "run", size: int64(len(body)), index: index, tail: body}, len(body)
	}
	read := func(o *Object) (out []Row) {
		if err := Merge(t.Context(), []*Cursor{o.Rows(1)}, func(x *Row) error {
			out = append(out, *x)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	plain, size := write(NewRunWriter(b.Codec), rows)
	packed, smaller := write(NewPackedWriter(b.Codec), read(plain))
	sameRows(t, read(packed), rows)
	if n, keys, err := packed.CountRows(t.Context()); n != len(rows) || keys != len(rows) || err != nil {
		t.Errorf("%d rows with %d keys, %v", n, keys, err)
	}
	back, again := write(NewRunWriter(b.Codec), read(packed))
	sameRows(t, read(back), rows)
	if smaller > size*8/10 || again != size {
		t.Errorf("got %d bytes, %d when packed, %d when unpacked again", size, smaller, again)
	}
	x, err := b.KeysOf("run", packed.tail, rows)
	if err != nil {
		t.Fatal(err)
	}
	x.Object = packed
	for i := 0; i < len(rows); i += 97 {
		got, err := x.ReadViews(t.Context(), rows[i].Page, [][16]byte{rows[i].ID.View})
		if err != nil || len(got) != 1 {
			t.Fatalf("%d rows of a page view, %v", len(got), err)
		}
		sameRows(t, got, rows[i:i+1])
	}
}

// TestDamagedPacked checks that changed bytes are reported as damage and never change the number of
// rows.
func TestDamagedPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var rows []Row
	for range 12 {
		rows = append(rows, randomRow(t, r))
	}
	data, err := encodePacked(rows)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(data); n++ {
		// A set is also valid without its last fields, which are optional. Checksums detect that
		// case.
		if got, err := decodeTraces(data[:n], "/feed", len(rows)); err == nil && len(got) != len(rows) {
			t.Errorf("cut at %d it has %d rows", n, len(got))
		} else if err != nil && !errors.Is(err, block.ErrDamaged) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for range 2000 {
		bad := bytes.Clone(data)
		bad[1+r.IntN(len(bad)-1)] ^= 1 << r.IntN(8)
		got, err := decodeTraces(bad, "/feed", len(rows))
		if err != nil && !errors.Is(err, block.ErrDamaged) {
			t.Fatalf("%v does not wrap ErrDamaged", err)
		}
		for i := range got {
			if _, err := got[i].Document(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
