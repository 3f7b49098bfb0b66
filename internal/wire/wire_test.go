package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

var errDamaged = errors.New("damaged")

// Written values are read back, and no bytes remain.
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

// The first error sticks, and later reads return zeros.
func TestFailures(t *testing.T) {
	for want, read := range map[string]func(*Reader){
		"truncated number":                func(r *Reader) { r.Bytes(2); r.Uint() },
		"number 5 exceeds the limit of 4": func(r *Reader) { r.AtMost(4) },
		"length exceeds the input":        func(r *Reader) { r.Length(1) },
		"length 5 exceeds the limit of 4": func(r *Reader) {
			*r = NewReader(append([]byte{5}, make([]byte, 9)...), errDamaged)
			r.LengthAtMost(4, 1)
		},
		"truncated input":       func(r *Reader) { r.Bytes(4) },
		"2 bytes after the end": func(r *Reader) { r.Byte() },
		"an error of the caller: 7, not again": func(r *Reader) {
			r.Fail("an error of the caller: %d, not again", 7)
			r.Fail("more")
		},
	} {
		r := NewReader([]byte{5, 1, 0x80}, errDamaged)
		read(&r)
		err := r.End()
		if !errors.Is(err, errDamaged) || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if r.Uint() != 0 || r.Int() != 0 || r.Byte() != 0 || r.Uint32(binary.LittleEndian) != 0 || r.Text(10) != "" ||
			r.Length(1) != 0 || r.Left() != 0 || r.Err() != err {
			t.Errorf("%s: something is read afterwards", want)
		}
	}
}

// For any input, no byte is read twice or out of bounds.
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
