package record

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

const fuzzMaxPayload = 1 << 16

// FuzzUnpackValue checks that whatever is taken for a value is packed again to the
// same bytes, under the same key only, and that a payload stays within its bound.
func FuzzUnpackValue(f *testing.F) {
	codec, err := NewCodec(fuzzMaxPayload)
	if err != nil {
		f.Fatal(err)
	}
	defer codec.Close()
	key := AppendTraceKey(nil, "/feed", store.ID{View: [16]byte{0x9e, 0x37}, Chunk: 1})
	at := time.UnixMicro(1795000000123456).UTC()
	for _, v := range []Value{
		{Received: at, Compressed: codec.Plain().Compress(nil, []byte("payload"))},
		{Received: at, Others: []string{"/a", "/b"}, Compressed: codec.Plain().Compress(nil, nil)},
		{Received: at, Compressed: codec.Plain().Compress(nil, make([]byte, fuzzMaxPayload))},
		{Received: at, Compressed: codec.Plain().Compress(nil, make([]byte, 100*fuzzMaxPayload))}, // a bomb
		{Received: time.UnixMicro(-1).UTC(), Compressed: []byte("not zstd")},
	} {
		f.Add(key, PackValue(nil, key, v))
	}
	f.Add([]byte{}, []byte{})
	f.Add(key, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, key, b []byte) {
		if len(b) >= ValueHeader { // a fuzzer does not guess checksums
			sum := valueSum(key, b)
			b[1], b[2], b[3], b[4] = byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum)
		}
		v, err := UnpackValue(key, b)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("error %v does not wrap ErrDamaged", err)
			}
			return
		}
		again := PackValue([]byte("prefix"), key, v)
		w, err := UnpackValue(key, again[len("prefix"):])
		if err != nil || !w.Received.Equal(v.Received) || !slices.Equal(w.Others, v.Others) || !bytes.Equal(w.Compressed, v.Compressed) {
			t.Errorf("%x unpacks to %+v, which packs to %x", b, v, again)
		}
		if len(key) > 0 {
			other := bytes.Clone(key)
			other[len(b)%len(key)] ^= 1
			if _, err := UnpackValue(other, b); err == nil {
				t.Error("a value unpacks under another key")
			}
		}
		p, err := codec.Decompress([]byte("x"), v.Compressed, missing)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("error %v does not wrap ErrDamaged", err)
		}
		if len(p) > fuzzMaxPayload+1 {
			t.Errorf("payload of %d bytes, the bound is %d", len(p), fuzzMaxPayload)
		}
	})
}
