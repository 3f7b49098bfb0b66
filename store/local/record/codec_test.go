package record

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
)

// sitePayload returns a payload as one page sends many: the same names in another order.
func sitePayload(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var b bytes.Buffer
	for range 20 {
		f := r.IntN(400)
		fmt.Fprintf(&b, "component%dRender@https://static.example.com/bundle-%x.js:%d:%d;", f, f*f, f*7, f%90)
		b.WriteByte(byte(r.Uint32()))
	}
	return b.Bytes()
}

// pagePayload returns a payload of a page. Pages have something in common if the first five
// bytes of their paths are the same.
func pagePayload(page string, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 0))
	var b []byte
	for range 40 {
		name := sha256.Sum256(fmt.Append(nil, page[:min(len(page), 5)], r.IntN(1000)))
		b = append(append(b, name[:]...), byte(r.Uint32()))
	}
	return b
}

// missing has no dictionaries.
func missing(id uint32) (*Dictionary, error) { return nil, MissingDictionary(id) }

func TestCodec(t *testing.T) {
	codec, err := NewCodec(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	var site []byte
	for n := range 1000 {
		site = append(site, sitePayload(n)...)
	}
	for name, d := range map[string]*Dictionary{"plain": codec.Plain(), "dictionary": NewDictionary("", site[len(site)-dictionarySize:])} {
		for _, size := range []int{0, 1, 7, 1000, 1024, 20_000, 128 << 10, 300_000, len(site)} {
			compressed := d.Compress([]byte("before"), site[:size])[len("before"):]
			got, err := codec.Decompress([]byte("x"), compressed, func(id uint32) (*Dictionary, error) {
				if id != d.ID {
					t.Errorf("%s: dictionary %d is looked for, want %d", name, id, d.ID)
				}
				return d, nil
			})
			if err != nil || string(got[:1]) != "x" || !bytes.Equal(got[1:], site[:size]) {
				t.Errorf("%s: %d bytes came back as %d, %v", name, size, len(got)-1, err)
			}
			if id := dictionaryOf(compressed); size > 0 && id != d.ID {
				t.Errorf("%s: %d bytes name dictionary %d, want %d", name, size, id, d.ID)
			}
		}
	}
	unknown := NewDictionary("", site[:1000]).Compress(nil, site[:500])
	if _, err := codec.Decompress(nil, unknown, missing); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("without its dictionary: got %v, want that it is damaged", err)
	}
}

// TestCodecIsBounded learns more dictionaries than are kept.
func TestCodecIsBounded(t *testing.T) {
	codec, err := NewCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	for n := range 3 * maxKnown {
		d := NewDictionary("", sitePayload(n))
		if got, err := codec.Learn(d); err != nil || got != d {
			t.Fatalf("learn dictionary %d: got %v, %v", n, got, err)
		}
		if again, err := codec.Learn(NewDictionary("", sitePayload(n))); err != nil || again != d {
			t.Errorf("learn dictionary %d again: got another one, %v", n, err)
		}
	}
	if len(codec.known) > maxKnown {
		t.Errorf("%d dictionaries are known, want at most %d", len(codec.known), maxKnown)
	}
}
