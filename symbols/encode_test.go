package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// randomTable returns a random valid table.
func randomTable(r *rand.Rand) *Table {
	t := &Table{DebugID: strings.Repeat("a", r.IntN(3))}
	for i := range t.Script {
		t.Script[i], t.Map[i] = byte(r.Uint32()), byte(r.Uint32())
	}
	texts := []string{"", "a", "b", "renderRow", "Table.render", "get Table.size", "</script>", "ünïcödé",
		"Board/useEffect()"}
	for range r.IntN(4) {
		t.Sources = append(t.Sources, Source{texts[r.IntN(len(texts))], texts[r.IntN(3)], r.IntN(2) == 0})
	}
	line, column := uint32(0), uint32(0)
	for range r.IntN(50) {
		if r.IntN(3) == 0 {
			line, column = line+uint32(1+r.IntN(1000)), 0
		}
		column += uint32(1 + r.IntN(1<<r.IntN(20)))
		t.Functions = append(t.Functions, Function{Line: line, Column: column, Minified: texts[r.IntN(len(texts))],
			Name:   texts[r.IntN(len(texts))],
			Source: int32(r.IntN(len(t.Sources)+1)) - 1, SourceLine: r.Uint32() >> r.IntN(32),
			SourceColumn: r.Uint32() >> r.IntN(32),
			Key:          r.Uint64(), Ordinal: r.Uint32() >> r.IntN(32), Text: r.Uint32(), Own: r.Uint32(),
			Way: Way(r.IntN(int(EndWays)))})
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

// bare returns a table without the index for Find.
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
			if found := got.Find(f.Line, f.Column); found == nil || *found != *f ||
				got.Find(f.Line, f.Column+1<<30) != nil {
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
		"nothing": nil, "HTML": []byte("<!doctype html><title>404"), "only the magic": []byte(magic),
		"another version": append([]byte(magic), 9),
		"truncated":       good[:len(good)-5], "trailing byte": append(bytes.Clone(good), 1),
		"no zstd": append([]byte(magic), version, 1, 2, 3),
	} {
		if _, err := Decode(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range good {
		data := bytes.Clone(good)
		data[i] ^= 1 << (i % 8)
		// One bit of the header of a frame is unused.
		if got, err := Decode(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) &&
			(err != nil || !bytes.Equal(encoded(t, got), good)) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

// packed returns body as an encoded table.
func packed(t testing.TB, body []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	return z.EncodeAll(body, append([]byte(magic), version))
}

// Small input that announces large lengths uses little memory.
func TestDecodeBounds(t *testing.T) {
	head := append(make([]byte, 64), 0) // no debug ID
	uints := func(of ...uint64) (b []byte) {
		for _, v := range of {
			b = binary.AppendUvarint(b, v)
		}
		return b
	}
	none := make([]byte, maxBody-1000)
	for want, body := range map[string][]byte{
		"decompress":                make([]byte, maxBody+1),
		"limit of 100000":           slices.Concat(head, uints(100_001), none),
		"limit of 1000000":          slices.Concat(head, uints(0, 1_000_001), none),
		"length 7 ":                 slices.Concat(head, uints(0, 3, 7), none),
		"length exceeds the input":  slices.Concat(head, uints(0, 1000)),
		"limit of 8192":             slices.Concat(head, uints(1, 8193), none),
		"a text is not valid UTF-8": slices.Concat(head, uints(1, 3), []byte("a\xffb"), none),
		"truncated number":          slices.Concat(head, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
		"neither ignored nor not":   slices.Concat(head, uints(1, 0, 0, 2)),
	} {
		data := packed(t, body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(bytes.NewReader(data))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 2*maxBody {
			t.Errorf("%s: %d bytes were allocated for %d", want, n, len(data))
		}
	}
}

// Texts that cannot be encoded unchanged are truncated, replaced or rejected.
func TestEncodeFits(t *testing.T) {
	long := strings.Repeat("a", maxName-1) + "é"
	table := &Table{Sources: []Source{{Name: "a\xffb"}}, Functions: []Function{{Line: 1, Column: 1, Name: long,
		Minified: "a", Source: 0}}}
	got, err := Decode(bytes.NewReader(encoded(t, table)))
	if err != nil || got.Functions[0].Name != long[:maxName-1] || got.Sources[0].Name != "a\uFFFDb" {
		t.Errorf("%v: %+v", err, got)
	}
	for want, change := range map[string]func(*Table){
		"it has no place": func(t *Table) { t.Functions[0].Line, t.Functions[0].Column = 0, 0 },
		"function 1: it does not begin after the one before": func(t *Table) {
			t.Functions = append(t.Functions, t.Functions[0])
		},
		"its source is not in the list": func(t *Table) { t.Functions[0].Source = 1 },
		"way 99 is not known":           func(t *Table) { t.Functions[0].Way = 99 },
		"the most is 1000000": func(t *Table) {
			t.Functions = make([]Function, maxFunctions+1)
		},
		"the most is 100000": func(t *Table) {
			t.Sources = make([]Source, maxSources+1)
		},
	} {
		bad := *table
		bad.Functions = slices.Clone(table.Functions)
		change(&bad)
		if err := Encode(io.Discard, &bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// FuzzTable decodes any bytes as a table.
func FuzzTable(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 5 {
		f.Add(packed(f, appendTable(nil, randomTable(r))))
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Decode(bytes.NewReader(data))
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
		if err == nil && table.Validate() != nil {
			t.Fatal(table.Validate())
		}
	})
}

// FuzzBody decodes bodies of tables: accepted ones are valid and encode to the same bytes.
func FuzzBody(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		f.Add(appendTable(nil, randomTable(r)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := newTableReader(body)
		table := d.table()
		if d.Err() != nil {
			return
		}
		again := newTableReader(appendTable(nil, table))
		if got := again.table(); again.Err() != nil || !reflect.DeepEqual(got, table) {
			t.Fatalf("%v: %+v is not %+v", again.Err(), got, table)
		}
	})
}
