package store_test

import (
	"encoding/json"
	"os"
	"path/filepath"
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
		err = json.Unmarshal(text, &contents)
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
		err = os.WriteFile(clean, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
