package store

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"
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
	key := AppendTraceKey(nil, "/feed", traceID(1))
	at := time.UnixMicro(1795000000123456).UTC()
	for _, v := range []Value{
		{Received: at, Compressed: codec.Compress(nil, []byte("payload"))},
		{Received: at, Others: []string{"/a", "/b"}, Compressed: codec.Compress(nil, nil)},
		{Received: at, Compressed: codec.Compress(nil, make([]byte, fuzzMaxPayload))},
		{Received: at, Compressed: codec.Compress(nil, make([]byte, 100*fuzzMaxPayload))}, // a bomb
		{Received: time.UnixMicro(-1).UTC(), Compressed: []byte("not zstd")},
	} {
		f.Add(key, PackValue(nil, key, v))
	}
	f.Add([]byte{}, []byte{})
	f.Add(key, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, key, b []byte) {
		if len(b) >= valueHeader { // a fuzzer does not guess checksums
			sum := valueSum(key, b)
			b[1], b[2], b[3], b[4] = byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum)
		}
		v, err := UnpackValue(key, b)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
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
		p, err := codec.Decompress([]byte("x"), v.Compressed)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("error %v does not wrap ErrDamaged", err)
		}
		if len(p) > fuzzMaxPayload+1 {
			t.Errorf("payload of %d bytes, the bound is %d", len(p), fuzzMaxPayload)
		}
	})
}

// FuzzKeys checks that whatever is taken for a key is made of what it says.
func FuzzKeys(f *testing.F) {
	f.Add(AppendTraceKey(nil, "/feed", traceID(1)))
	f.Add(AppendTraceKey(nil, "/", ID{}))
	f.Add(appendCatalogKey(nil, "/feed", Tag{}))
	f.Add(appendCatalogKey(nil, "/feed", Tag{"release", "1.2"}))
	f.Add(appendCommitKey(nil, 1<<40))
	f.Add([]byte("t\x00"))
	f.Add([]byte("c/\x00\x00x"))
	f.Fuzz(func(t *testing.T, key []byte) {
		if page, id, err := parseTraceKey(key); err == nil {
			if again := AppendTraceKey(nil, string(page), id); !bytes.Equal(again, key) {
				t.Errorf("trace key %x: page %q and id %s make %x", key, page, id, again)
			}
			if why := checkPage(string(page)); why != "" {
				t.Errorf("trace key %x: %s", key, why)
			}
		}
		if page, tag, err := parseCatalogKey(key); err == nil {
			if again := appendCatalogKey(nil, page, tag); !bytes.Equal(again, key) {
				t.Errorf("catalogue key %x: page %q and tag %q make %x", key, page, tag, again)
			}
		}
		if n, err := parseCommitKey(key); err == nil {
			if again := appendCommitKey(nil, n); !bytes.Equal(again, key) {
				t.Errorf("commit key %x: number %d makes %x", key, n, again)
			}
		}
	})
}

// TestKeyOrder checks the order that scans promise.
func TestKeyOrder(t *testing.T) {
	key := func(page string, view byte, chunk uint32) []byte {
		return AppendTraceKey(nil, page, ID{[16]byte{view}, chunk})
	}
	keys := [][]byte{
		key("/", 9, 9), key("/a", 1, 2), key("/a", 1, 256), key("/a", 2, 1),
		key("/a\x01", 0, 0), key("/a/b", 0, 0), key("/b", 0, 0),
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Error("keys are not in the order of page, view and chunk")
	}
	if bytes.HasPrefix(key("/a/b", 0, 0), appendPagePrefix(nil, "/a")) {
		t.Error("/a/b is in /a")
	}
}
