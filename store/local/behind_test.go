package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// editBadger changes a partition that was closed cleanly, behind the store's back, and leaves
// it closed cleanly.
func editBadger(t testing.TB, part string, f func(*badger.Txn) error) {
	t.Helper()
	var contents map[string]any
	clean := filepath.Join(part, "CLEAN")
	text, err := os.ReadFile(clean)
	if err == nil {
		err = json.Unmarshal(text[max(bytes.IndexByte(text, '{'), 0):], &contents) // after the checksum
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := badger.Open(badger.DefaultOptions(part).WithMemTableSize(smallMem).WithLogger(nil).
		WithCompression(0).WithValueLogFileSize(64 << 20).WithCompactL0OnClose(true))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(f); err != nil {
		t.Fatal(err)
	}
	mustClose(t, db)
	tables, err := filepath.Glob(filepath.Join(part, "*.sst"))
	if err == nil {
		contents["tables"] = len(tables)
		text, err = json.Marshal(contents)
	}
	if err == nil {
		sum := crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
		err = os.WriteFile(clean, fmt.Appendf(nil, "crc32c %08x %s\n", sum, text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// valuesOf returns the keys of some kinds in a partition that was closed cleanly.
func valuesOf(t testing.TB, part string, kinds ...byte) (keys [][]byte) {
	t.Helper()
	editBadger(t, part, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if slices.Contains(kinds, it.Item().Key()[0]) {
				keys = append(keys, it.Item().KeyCopy(nil))
			}
		}
		return nil
	})
	return keys
}

// flipValue flips a bit of the value under key in a partition that was closed cleanly.
func flipValue(t testing.TB, part string, key []byte, r *rand.Rand) {
	t.Helper()
	editBadger(t, part, func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		v, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		v[r.IntN(len(v))] ^= 1 << r.IntN(8)
		return txn.Set(key, v)
	})
}
