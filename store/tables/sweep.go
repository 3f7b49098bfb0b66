package tables

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// unnamedFor is how long a table is kept that no upload names: that comes after its tables.
const unnamedFor = 24 * time.Hour

// Sweep deletes uploads that are too old, or with whose tables all take too much, and the tables
// that no upload names any more.
func (s *Store) Sweep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	kept := slices.Clone(s.uploads)
	for len(kept) > 0 && s.options.Retention > 0 && now.Sub(kept[len(kept)-1].Time) > s.options.Retention {
		kept = kept[:len(kept)-1]
	}
	for len(kept) > 1 && s.bytesOf(kept) > s.options.MaxSize {
		kept = kept[:len(kept)-1]
	}
	for _, u := range s.uploads[len(kept):] {
		if err := os.Remove(s.uploadPath(u.ID)); err != nil {
			return fmt.Errorf("delete upload: %w", err)
		}
		s.generation++
	}
	s.uploads = kept
	return s.sweepTables(now)
}

// bytesOf returns the bytes of the tables that uploads name.
func (s *Store) bytesOf(uploads []symbols.Upload) (n int64) {
	for hash := range hashesOf(uploads) {
		n += s.sizes[hash]
	}
	return n
}

func hashesOf(uploads []symbols.Upload) map[string]bool {
	out := map[string]bool{}
	for _, u := range uploads {
		for _, x := range u.Scripts {
			out[x.SHA256] = true
		}
	}
	return out
}

// sweepTables deletes the tables that no upload names.
func (s *Store) sweepTables(now time.Time) error {
	named := hashesOf(s.uploads)
	for hash := range s.sizes {
		if named[hash] {
			continue
		}
		fi, err := os.Stat(s.path(hash))
		if err == nil && now.Sub(fi.ModTime()) < unnamedFor {
			continue
		}
		if err == nil {
			err = os.Remove(s.path(hash))
		}
		if err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("delete table: %w", err)
		}
		delete(s.sizes, hash)
		s.decoded.drop(hash)
		s.generation++
	}
	return nil
}
