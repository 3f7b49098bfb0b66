package block_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/block"
)

func newCodec(t testing.TB) *block.Codec {
	t.Helper()
	c, err := block.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

type content struct {
	kind byte
	page string
	data []byte
}

// fileName is the name in random files.
const fileName = "raw/000/20261121T08/x.run"

func randomFile(t testing.TB, c *block.Codec, rnd *rand.Rand) ([]content, []byte) {
	var list []content
	for range rnd.IntN(40) {
		data := make([]byte, rnd.IntN(3000))
		for i := range data {
			data[i] = byte(rnd.IntN(4))
		}
		list = append(list, content{byte(rnd.IntN(3)), strings.Repeat("/page", rnd.IntN(3)) + fmt.Sprint(rnd.IntN(10)),
			data})
	}
	w := block.NewWriter(c)
	for i, x := range list { // in random order
		if err := w.Add(x.kind, x.page, i, x.data); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortStableFunc(list, func(a, b content) int {
		return bytes.Compare(append([]byte{a.kind}, a.page...), append([]byte{b.kind}, b.page...))
	})
	return list, w.Finish(fileName)
}

// readAll returns the content of all blocks of a file, in the order of the index.
func readAll(c *block.Codec, file []byte) ([]content, error) {
	x, err := c.ParseIndex(fileName, file, int64(len(file)))
	if err != nil {
		return nil, err
	}
	var out []content
	for e := range x.All() {
		data, err := x.Data(e, file[e.Offset:][:e.Length])
		if err != nil {
			return nil, err
		}
		out = append(out, content{e.Kind, e.Page, data})
	}
	return out, nil
}

func TestFiles(t *testing.T) {
	c := newCodec(t)
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		want, file := randomFile(t, c, rnd)
		got, err := readAll(c, file)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: the blocks differ", seed)
		}
		x, err := c.ParseIndex(fileName, file, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for kind := range byte(4) {
			n := 0
			for _, w := range want {
				if w.kind != kind {
					continue
				}
				n++
				found := x.Find(kind, w.page)
				if !slices.ContainsFunc(found, func(e block.Entry) bool {
					data, err := x.Data(e, file[e.Offset:][:e.Length])
					return err == nil && bytes.Equal(data, w.data) && e.Page == w.page && e.Kind == kind
				}) {
					t.Fatalf("seed %d: a block of %d %q is not found", seed, kind, w.page)
				}
			}
			if got := x.Kind(kind); len(got) != n {
				t.Fatalf("seed %d: %d blocks of kind %d, want %d", seed, len(got), kind, n)
			}
			if got := x.Find(kind, "/none"); len(got) != 0 {
				t.Fatalf("seed %d: found %v", seed, got)
			}
		}
	}
}

// A file that is stored under the name of another file is rejected.
func TestOtherName(t *testing.T) {
	c := newCodec(t)
	_, file := randomFile(t, c, rand.New(rand.NewPCG(5, 0)))
	for _, name := range []string{"", fileName + "x", fileName[1:], "raw/001/20261121T08/x.run"} {
		if _, err := c.ParseIndex(name, file, int64(len(file))); !errors.Is(err, block.ErrDamaged) {
			t.Errorf("as %q: got %v, want ErrDamaged", name, err)
		}
	}
}

// The end of a file is enough to determine how much must be read.
func TestTail(t *testing.T) {
	c := newCodec(t)
	_, file := randomFile(t, c, rand.New(rand.NewPCG(7, 0)))
	size := int64(len(file))
	_, err := c.ParseIndex(fileName, file[len(file)-20:], size)
	short, ok := errors.AsType[*block.ShortError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if _, err := c.ParseIndex(fileName, file[size-short.Need:], size); err != nil {
		t.Error(err)
	}
	if _, err := c.ParseIndex(fileName, file[size-short.Need+1:], size); err == nil {
		t.Error("a part of the index is accepted")
	}
}

// If any byte changes, or the file is truncated anywhere, reading returns either correct data or an
// error.
func TestDamage(t *testing.T) {
	c := newCodec(t)
	want, file := randomFile(t, c, rand.New(rand.NewPCG(3, 0)))
	for i := range file {
		changed := bytes.Clone(file)
		changed[i] ^= 1 << (i % 8)
		if _, err := readAll(c, changed); !errors.Is(err, block.ErrDamaged) {
			if _, short := errors.AsType[*block.ShortError](err); !short {
				t.Fatalf("byte %d of %d: got %v", i, len(file), err)
			}
		}
		if got, err := readAll(c, file[:i]); err == nil && len(got) == len(want) {
			t.Fatalf("a file truncated to %d of %d bytes is accepted", i, len(file))
		}
	}
}

func TestTooLarge(t *testing.T) {
	w := block.NewWriter(newCodec(t))
	if err := w.Add(2, "/c", 1, make([]byte, block.MaxBlock+1)); err == nil {
		t.Error("a block that is too large is accepted")
	}
}

// FuzzIndex parses random bytes. Parsing never panics, and all entries are within the file.
func FuzzIndex(f *testing.F) {
	c := newCodec(f)
	for seed := range uint64(5) {
		_, file := randomFile(f, c, rand.New(rand.NewPCG(seed, 1)))
		f.Add(file)
	}
	f.Add([]byte("FTB1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := c.ParseIndex(fileName, file, int64(len(file)))
		if err != nil {
			return
		}
		for e := range x.All() {
			if e.Offset < 0 || e.Offset+e.Length > int64(len(file)) {
				t.Fatalf("%+v is outside of %d bytes", e, len(file))
			}
			if data, err := x.Data(e, file[e.Offset:][:e.Length]); err == nil && len(data) != e.Size {
				t.Fatalf("%+v has %d bytes", e, len(data))
			}
		}
	})
}
