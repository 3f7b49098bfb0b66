package shared

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// A failed restore leaves a directory as it was, and removes directories that it created. Objects
// and earlier files are kept.
func TestReturnToBefore(t *testing.T) {
	open := func(dir string, change func(place objects.Store)) {
		t.Helper()
		b, err := NoteBefore(dir)
		if err != nil {
			t.Fatal(err)
		}
		place, err := OpenPlace(t.Context(), dir, PlaceOptions{Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		change(place)
		if err := place.(interface{ Close() error }).Close(); err != nil {
			t.Fatal(err)
		}
		if err := b.Return(); err != nil {
			t.Fatal(err)
		}
	}
	put := func(key string) func(objects.Store) {
		return func(place objects.Store) {
			if _, err := place.Put(t.Context(), key, bytes.Repeat([]byte("x"), 100), objects.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	root := t.TempDir()
	entries := func(dir string) (out []string) {
		list, _ := os.ReadDir(dir) // none if it does not exist
		for _, e := range list {
			out = append(out, e.Name())
		}
		return out
	}
	const segment = "seg/20261120T10/abc-00000001"
	open(filepath.Join(root, "a", "b"), func(place objects.Store) {
		put(segment)(place) // stored as a commit
		if err := place.Delete(t.Context(), segment); err != nil {
			t.Fatal(err)
		}
	})
	if got := entries(root); len(got) > 0 {
		t.Errorf("a new directory leaves %q", got)
	}
	there := filepath.Join(root, "there")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	open(there, func(objects.Store) {})
	if got := entries(there); len(got) > 0 || len(entries(root)) != 1 {
		t.Errorf("an empty directory has %q", got)
	}
	open(there, put("FORMAT"))
	if got := entries(there); len(got) < 2 {
		t.Errorf("a directory with an object has %q", got)
	}
	before := entries(there)
	open(there, func(objects.Store) {})
	if got := entries(there); len(got) != len(before) {
		t.Errorf("a directory that had %q has %q", before, got)
	}
	other := filepath.Join(root, "other")
	b, err := NoteBefore(other)
	if err != nil {
		t.Fatal(err)
	}
	place, err := OpenPlace(t.Context(), other, PlaceOptions{Program: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Return(); err != nil {
		t.Fatal(err)
	}
	if got := entries(other); len(got) == 0 {
		t.Error("a directory that another process uses was emptied")
	}
	if err := place.(interface{ Close() error }).Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := NoteBefore("s3://bucket/prefix"); err != nil || b.Return() != nil {
		t.Errorf("a bucket: got %v", err)
	}
}
