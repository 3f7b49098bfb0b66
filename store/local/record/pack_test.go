package record

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
)

// memory is a table of values.
type memory map[string][]byte

func (m memory) get(key []byte, f func([]byte) error) (bool, error) {
	v, ok := m[string(key)]
	if !ok {
		return false, nil
	}
	return true, f(v)
}

func (m memory) put(pairs []Pair) {
	for _, p := range pairs {
		if p.Value == nil {
			delete(m, string(p.Key))
		} else {
			m[string(p.Key)] = p.Value
		}
	}
}

// TestPacker stores values in parts. With a part missing or damaged there is no value, and it
// is said so.
func TestPacker(t *testing.T) {
	p, err := NewPacker()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 2))
	key := []byte("key")
	for _, size := range []int{0, 1, 1000, packedPart, 3*packedPart + 7} {
		value := make([]byte, size)
		for i := range value {
			value[i] = byte(r.Uint32())
		}
		pairs, err := p.Pack(key, value)
		if err != nil {
			t.Fatal(err)
		}
		m := memory{}
		for i, pair := range pairs { // the first part comes last: until then there is nothing
			if got, err := p.Unpack(key, m.get); got != nil || err != nil {
				t.Errorf("%d bytes, %d of %d parts: got %d bytes, %v, want nothing", size, i, len(pairs), len(got), err)
			}
			m.put([]Pair{pair})
		}
		if got, err := p.Unpack(key, m.get); err != nil || !bytes.Equal(got, value) {
			t.Errorf("%d bytes came back as %d, %v", size, len(got), err)
		}
		for i := range pairs[:len(pairs)-1] {
			less := memory{}
			less.put(pairs[:i])
			less.put(pairs[i+1:])
			if _, err := p.Unpack(key, less.get); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%d bytes without a part: got %v, want that it is damaged", size, err)
			}
		}
		at := r.IntN(len(pairs[0].Value))
		pairs[0].Value[at] ^= 4
		if _, err := p.Unpack(key, m.get); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%d bytes, byte %d flipped: got %v, want that it is damaged", size, at, err)
		}
		m.put(Removal(key, len(pairs)))
		if len(m) != 0 {
			t.Errorf("%d parts are left", len(m))
		}
	}
}
