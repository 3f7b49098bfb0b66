package symbols

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// randomTable returns a table as one may be.
func randomTable(r *rand.Rand) *Table {
	t := &Table{DebugID: strings.Repeat("a", r.IntN(3))}
	for i := range t.Script {
		t.Script[i], t.Map[i] = byte(r.Uint32()), byte(r.Uint32())
	}
	texts := []string{"", "a", "b", "renderRow", "Table.render", "get Table.size", "</script>", "ünïcödé", "Board/useEffect()"}
	for range r.IntN(4) {
		t.Sources = append(t.Sources, Source{texts[r.IntN(len(texts))], texts[r.IntN(3)], r.IntN(2) == 0})
	}
	line, column := uint32(0), uint32(0)
	for range r.IntN(50) {
		if r.IntN(3) == 0 {
			line, column = line+uint32(1+r.IntN(1000)), 0
		}
		column += uint32(1 + r.IntN(1<<r.IntN(20)))
		t.Functions = append(t.Functions, Function{Line: line, Column: column, Minified: texts[r.IntN(len(texts))], Name: texts[r.IntN(len(texts))],
			Source: int32(r.IntN(len(t.Sources)+1)) - 1, SourceLine: r.Uint32() >> r.IntN(32), SourceColumn: r.Uint32() >> r.IntN(32),
			Key: r.Uint64(), Text: r.Uint32(), Way: Way(r.IntN(int(EndWays)))})
	}
	return t
}

func encoded(t testing.TB, table *Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, table); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bare returns a table without what makes Find fast.
func bare(t *Table) Table {
	t.places = nil
	return *t
}

func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		want := randomTable(r)
		data := encoded(t, want)
		got, err := Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Functions {
			f := &want.Functions[i]
			if found := got.Find(f.Line, f.Column); found == nil || *found != *f || got.Find(f.Line, f.Column+1<<30) != nil {
				t.Fatalf("found %+v, not %+v", found, f)
			}
		}
		if a, b := bare(got), bare(want); len(b.Functions) > 0 && !reflect.DeepEqual(a, b) {
			t.Fatalf("got %+v\nnot %+v", a, b)
		}
		if !bytes.Equal(encoded(t, got), data) {
			t.Fatal("equal tables are not equal bytes")
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := encoded(t, randomTable(rand.New(rand.NewPCG(3, 4))))
	for what, data := range map[string][]byte{
		"nothing": nil, "HTML": []byte("<!doctype html><title>404"), "the magic alone": []byte(magic), "another version": append([]byte(magic), 9),
		"cut off": good[:len(good)-5], "more": append(bytes.Clone(good), 1), "no zstd": append([]byte(magic), version, 1, 2, 3),
	} {
		if _, err := Decode(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range good {
		data := bytes.Clone(good)
		data[i] ^= 1 << (i % 8)
		// A bit of the header of a frame means nothing.
		if got, err := Decode(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) && (err != nil || !bytes.Equal(encoded(t, got), good)) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

// FuzzBody reads bodies of tables: what is read is a table that is written as it was.
func FuzzBody(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		f.Add(appendTable(nil, randomTable(r)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := tableReader{in: string(body)}
		table := d.table()
		if d.err != nil {
			return
		}
		again := tableReader{in: string(appendTable(nil, table))}
		if got := again.table(); again.err != nil || !reflect.DeepEqual(got, table) {
			t.Fatalf("%v: %+v is not %+v", again.err, got, table)
		}
	})
}
