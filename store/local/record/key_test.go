package record

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
)

// FuzzKeys checks that whatever is taken for a key is made of what it says.
func FuzzKeys(f *testing.F) {
	f.Add(AppendTraceKey(nil, "/feed", store.ID{View: [16]byte{0x9e, 0x37}, Chunk: 1}))
	f.Add(AppendTraceKey(nil, "/", store.ID{}))
	f.Add(AppendCatalogKey(nil, "/feed", store.Tag{}))
	f.Add(AppendCatalogKey(nil, "/feed", store.Tag{Key: "release", Value: "1.2"}))
	f.Add(AppendCommitKey(nil, 1<<40))
	f.Add(append(RollupKey{"/feed", 7, 2}.Append(nil), 0, 1))
	f.Add(AppendOutcomeKey(nil, "/feed", "unsampled"))
	f.Add([]byte("t\x00"))
	f.Add([]byte("c/\x00\x00x"))
	f.Fuzz(func(t *testing.T, key []byte) {
		if page, id, err := ParseTraceKey(key); err == nil {
			if again := AppendTraceKey(nil, string(page), id); !bytes.Equal(again, key) {
				t.Errorf("trace key %x: page %q and id %s make %x", key, page, id, again)
			}
			if why := store.CheckPage(string(page)); why != "" {
				t.Errorf("trace key %x: %s", key, why)
			}
		}
		if page, tag, err := ParseCatalogKey(key); err == nil {
			if again := AppendCatalogKey(nil, page, tag); !bytes.Equal(again, key) {
				t.Errorf("catalogue key %x: page %q and tag %q make %x", key, page, tag, again)
			}
		}
		if k, part, err := ParseRollupKey(key); err == nil {
			if again := binary.BigEndian.AppendUint16(k.Append(nil), part); !bytes.Equal(again, key) {
				t.Errorf("rollup key %x: %+v makes %x", key, k, again)
			}
		}
		if page, rest, err := PageOfKey(key); err == nil {
			if again := append(AppendPageKey(nil, key[0], page), rest...); !bytes.Equal(again, key) {
				t.Errorf("key %x: page %q makes %x", key, page, again)
			}
			if after := AfterPage(key[0], page); bytes.Compare(key, after) >= 0 {
				t.Errorf("key %x of page %q is not less than %x", key, page, after)
			}
		}
		if n, err := ParseCommitKey(key); err == nil {
			if again := AppendCommitKey(nil, n); !bytes.Equal(again, key) {
				t.Errorf("commit key %x: number %d makes %x", key, n, again)
			}
		}
	})
}

// TestKeyOrder checks the order that scans promise.
func TestKeyOrder(t *testing.T) {
	key := func(page string, view byte, chunk uint32) []byte {
		return AppendTraceKey(nil, page, store.ID{View: [16]byte{view}, Chunk: chunk})
	}
	keys := [][]byte{
		key("/", 9, 9), key("/a", 1, 2), key("/a", 1, 256), key("/a", 2, 1),
		key("/a\x01", 0, 0), key("/a/b", 0, 0), key("/b", 0, 0),
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Error("keys are not in the order of page, view and chunk")
	}
	if bytes.HasPrefix(key("/a/b", 0, 0), AppendPagePrefix(nil, "/a")) {
		t.Error("/a/b is in /a")
	}
}
