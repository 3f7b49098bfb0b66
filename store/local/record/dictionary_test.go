package record

import (
	"bytes"
	"errors"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
)

func FuzzParseDictionary(f *testing.F) {
	d := NewDictionary("/feed", sitePayload(1))
	f.Add(d.ID, d.appendValue(nil))
	f.Add(d.ID, d.content)
	f.Add(d.ID, NewDictionary("/feed", make([]byte, 100*dictionarySize)).appendValue(nil)) // a bomb
	f.Fuzz(func(t *testing.T, id uint32, b []byte) {
		d, err := parseDictionary(id, b)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("got %v, want it to be damaged", err)
			}
			return
		}
		if d.ID != id || dictionaryID(d.content) != id {
			t.Errorf("dictionary %d is said to be %d", d.ID, id)
		}
		if len(d.content) > max(len(b), 2*dictionarySize) {
			t.Errorf("%d bytes became %d", len(b), len(d.content))
		}
	})
}

// TestStoredDictionary reads a dictionary from its stored form, and no other.
func TestStoredDictionary(t *testing.T) {
	d := NewDictionary("/feed", sitePayload(1))
	key := AppendDictionaryKey(nil, d.ID, 1)
	if id, ok := ParseDictionaryKey(key); !ok || id != d.ID {
		t.Errorf("key of dictionary %d is taken for that of %d, %v", d.ID, id, ok)
	}
	stored := d.Stored(key)
	got, err := UnpackDictionary(d.ID, key, stored)
	if err != nil || got.ID != d.ID || got.Page != d.Page || !bytes.Equal(got.content, d.content) {
		t.Errorf("got %+v, %v", got, err)
	}
	for i := range stored {
		bad := bytes.Clone(stored)
		bad[i] ^= 0x10
		if _, err := UnpackDictionary(d.ID, key, bad); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("byte %d flipped: got %v, want that it is damaged", i, err)
		}
	}
	if _, err := UnpackDictionary(d.ID, AppendDictionaryKey(nil, d.ID, 0), stored); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("under another key: got %v, want that it is damaged", err)
	}
}
