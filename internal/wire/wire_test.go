package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

var errDamaged = errors.New("damaged")

// What was written is read, and nothing is left.
func TestReader(t *testing.T) {
	b := binary.AppendUvarint(nil, 300)
	b = binary.AppendVarint(b, math.MinInt64)
	b = append(binary.AppendUvarint(b, 3), "abc"...)
	b = binary.LittleEndian.AppendUint32(append(b, 7), 1<<31)
	b = binary.BigEndian.AppendUint64(b, 1<<63)
	r := NewReader(b, errDamaged)
	if n := r.AtMost(300); n != 300 {
		t.Errorf("got %d", n)
	}
	if n := r.Int(); n != math.MinInt64 {
		t.Errorf("got %d", n)
	}
	if s := r.Text(3); s != "abc" {
		t.Errorf("got %q", s)
	}
	if n := r.Byte(); n != 7 {
		t.Errorf("got %d", n)
	}
	if n := r.Uint32(binary.LittleEndian); n != 1<<31 {
		t.Errorf("got %d", n)
	}
	if n := r.Uint64(binary.BigEndian); n != 1<<63 {
		t.Errorf("got %d", n)
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
}

// The first failure stays, and what follows is nothing.
func TestFailures(t *testing.T) {
	for want, read := range map[string]func(*Reader){
		"a number is cut off":            func(r *Reader) { r.Bytes(2); r.Uint() },
		"a number is 5, the most is 4":   func(r *Reader) { r.AtMost(4) },
		"a length is more than there is": func(r *Reader) { r.Length(1) },
		"a length is 5, the most is 4": func(r *Reader) {
			*r = NewReader(append([]byte{5}, make([]byte, 9)...), errDamaged)
			r.LengthAtMost(4, 1)
		},
		"it is cut off":                         func(r *Reader) { r.Bytes(4) },
		"2 bytes are left over":                 func(r *Reader) { r.Byte() },
		"what somebody else says: 7, not again": func(r *Reader) { r.Fail("what somebody else says: %d, not again", 7); r.Fail("more") },
	} {
		r := NewReader([]byte{5, 1, 0x80}, errDamaged)
		read(&r)
		err := r.End()
		if !errors.Is(err, errDamaged) || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if r.Uint() != 0 || r.Int() != 0 || r.Byte() != 0 || r.Uint32(binary.LittleEndian) != 0 || r.Text(10) != "" || r.Length(1) != 0 || r.Left() != 0 || r.Err() != err {
			t.Errorf("%s: something is read afterwards", want)
		}
	}
}

// Whatever comes, nothing is read twice or from elsewhere.
func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 0x80, 1}, []byte{0, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, b, calls []byte) {
		r := NewReader(b, errDamaged)
		for _, c := range calls {
			before := r.Left()
			switch c % 6 {
			case 0:
				r.Uint()
			case 1:
				r.Int()
			case 2:
				if n := r.Length(3); 3*n > r.Left() {
					t.Fatalf("a length of %d with %d bytes left", n, r.Left())
				}
			case 3:
				r.Text(5)
			case 4:
				r.Uint32(binary.LittleEndian)
			case 5:
				r.AtMost(9)
			}
			if r.Left() > before || r.Err() == nil && r.Left() == before {
				t.Fatalf("%d bytes are left of %d: %v", r.Left(), before, r.Err())
			}
		}
	})
}
