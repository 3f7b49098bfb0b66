package part

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// Damage that keeps Badger from opening a partition, or ends the process if it tries.
var damages = map[string]func(t *testing.T, part string){
	"manifest flipped": func(t *testing.T, part string) { flip(t, filepath.Join(part, "MANIFEST"), 20) },
	"manifest gone":    func(t *testing.T, part string) { remove(t, filepath.Join(part, "MANIFEST")) },
	"table gone":       func(t *testing.T, part string) { remove(t, glob(t, part, "*.sst")) },
	"table cut":        func(t *testing.T, part string) { cut(t, glob(t, part, "*.sst"), 1000) },
	"table of zeros": func(t *testing.T, part string) {
		table := glob(t, part, "*.sst")
		cut(t, table, 1000)
		cut(t, table, 10_000)
	},
	"table empty": func(t *testing.T, part string) { cut(t, glob(t, part, "*.sst"), 0) },
}

// What is damaged is said to be by who reads it, and set aside by who recovers it or would
// write to it. Nothing of it is deleted.
func TestDamage(t *testing.T) {
	t.Parallel()
	from, _ := filled(t, 50)
	for name, harm := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged := func() (dir, part string, files []os.DirEntry) {
				dir = copyDir(t, from)
				part = filepath.Join(dir, "20261121T12")
				harm(t, part)
				files, err := os.ReadDir(part)
				if err != nil {
					t.Fatal(err)
				}
				return dir, part, files
			}
			kept := func(part string, files []os.DirEntry) {
				t.Helper()
				for _, f := range files {
					if _, err := os.Stat(filepath.Join(part, f.Name())); err != nil {
						t.Error(err)
					}
				}
			}
			dir, part, files := damaged()
			s := open(t, dir)
			for range 2 {
				if _, err := readAll(t.Context(), s, s.All()[0].Partition); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("read: got %v, want that it is damaged", err)
				}
			}
			kept(part, files)

			dir, part, files = damaged()
			remove(t, filepath.Join(part, cleanFile))
			s = open(t, dir)
			if len(s.All()) != 0 || len(s.Asides()) != 1 || s.Asides()[0].Reason == "" {
				t.Errorf("recovered: got %+v and %+v, want it to be set aside", s.All(), s.Asides())
			}
			remove(t, filepath.Join(part+corruptSuffix, reasonFile))
			for _, f := range files {
				if f.Name() != cleanFile {
					kept(part+corruptSuffix, []os.DirEntry{f})
				}
			}

			dir, part, files = damaged()
			s = open(t, dir)
			if _, err := tryPut(s, noon, 50, 60); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("first commit: got %v, want that the partition is damaged", err)
			}
			put(t, s, noon, 50, 60)
			if all := s.All(); len(all) != 1 || len(s.Asides()) != 1 {
				t.Errorf("got %+v and %+v, want a new one and the other set aside", all, s.Asides())
			}
			kept(part+corruptSuffix, files)
		})
	}
}

// A damaged block kills who compacts it, so before a partition is written to again all blocks
// are verified. One with damage is left as it is, and the next one begun.
func TestDamagedBlock(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 400)
	table := glob(t, part, "*.sst")
	flip(t, table, 5000)
	s := open(t, dir)
	for range 2 {
		put(t, s, noon, 400, 410)
		all := s.All()
		if len(all) != 2 || !all[0].Sealed || all[0].Fault != nil || all[1].Name != "20261121T13" || !all[1].Writing {
			t.Errorf("got %+v, want the first sealed, and the next written to", all)
		}
		closeShelf(t, s)
		s = open(t, dir)
	}
	if n, err := readAll(t.Context(), s, s.All()[1].Partition); n != 10 || err != nil {
		t.Errorf("got %d entries, %v, want 10", n, err)
	}
}

// The name of what was set aside twice differs.
func TestSetAsideTwice(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 10)
	for _, want := range []string{"20261121T12.corrupt", "20261121T12.corrupt.2"} {
		remove(t, filepath.Join(part, "MANIFEST"))
		s := open(t, dir)
		if _, err := tryPut(s, noon, 10, 20); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("got %v, want that the partition is damaged", err)
		}
		put(t, s, noon, 10, 20)
		asides := s.Asides()
		if got := asides[len(asides)-1]; got.Name != want || !got.MayOverlap(noon, noon.Add(time.Minute), time.Hour) {
			t.Errorf("got %+v, want %s", got, want)
		}
		closeShelf(t, s)
	}
	s := open(t, dir)
	if got := s.Asides(); len(got) != 2 || got[0].Reason == "" || got[0].Traces != 10 {
		t.Errorf("after another start: got %+v, want both with their reason and contents", got)
	}
	s.Remove("20261121T12.corrupt", "20261121T12.corrupt.2")
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(part + "?*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
