package tables

import (
	"cmp"
	"slices"
	"time"
)

// unnamedFor is how long a table without an upload is kept: clients send an upload after its
// tables.
const unnamedFor = 24 * time.Hour

// Sweep deletes uploads that are too old, or whose tables exceed the limit of all tables, and
// tables that no upload refers to. While an upload is unreadable, its tables are unknown: then
// tables are deleted only if all exceed their limit.
func (s *Store) Sweep() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.files.Shared() {
		if err := s.refresh(); err != nil {
			return err
		}
	}
	now := s.options.Now()
	if s.options.Retention > 0 {
		if err := s.expire(now.Add(-s.options.Retention)); err != nil {
			return err
		}
	}
	if err := s.evict(s.options.MaxSize); err != nil {
		return err
	}
	if len(s.damagedUploads()) > 0 {
		return nil
	}
	for _, e := range s.unnamed(now.Add(-unnamedFor)) {
		if err := s.removeTable(e); err != nil {
			return err
		}
	}
	return nil
}

// expire deletes uploads older than before.
func (s *Store) expire(before time.Time) error {
	for {
		uploads := s.Uploads()
		oldest := len(uploads) - 1
		if oldest < 0 || !uploads[oldest].Time.Before(before) {
			break
		}
		if err := s.removeUpload(oldest); err != nil {
			return err
		}
	}
	for _, f := range s.damagedUploads() {
		if !f.written.Before(before) {
			continue
		}
		if err := s.files.Remove(f.name); err != nil {
			return err
		}
		s.mu.Lock()
		s.unreadable = slices.DeleteFunc(s.unreadable, func(x file) bool { return x == f })
		s.mu.Unlock()
	}
	return nil
}

// damagedUploads returns the unreadable files of uploads.
func (s *Store) damagedUploads() []file {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unreadable)
}

// makeRoom makes room for a table of n bytes, both within the limit of all tables and on the disk,
// or returns an error.
func (s *Store) makeRoom(n int64) error {
	if err := s.options.Room(n); err != nil {
		return err
	}
	if err := s.evict(s.options.MaxSize - n); err != nil {
		return err
	}
	if s.size()+n > s.options.MaxSize {
		return &FullError{s.options.MaxSize}
	}
	return nil
}

// size returns the size of all tables in bytes.
func (s *Store) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// evict deletes tables until at most most bytes are left: first tables without an upload that are
// too old to get one, then the oldest uploads with their tables. It keeps tables that may still get
// an upload.
func (s *Store) evict(most int64) error {
	if s.size() <= most {
		return nil
	}
	for _, e := range s.unnamed(s.options.Now().Add(-unnamedFor)) {
		if s.size() <= most {
			return nil
		}
		if err := s.removeTable(e); err != nil {
			return err
		}
	}
	for uploads := s.Uploads(); s.size() > most && len(uploads) > 0; uploads = s.Uploads() {
		oldest := len(uploads) - 1
		if err := s.removeUpload(oldest); err != nil {
			return err
		}
		for hash := range hashesOf(uploads[oldest]) {
			if e := s.unused(hash); e != nil {
				if err := s.removeTable(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unused returns the table of a script if no upload names it.
func (s *Store) unused(hash string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.tables[hash]; e != nil && e.uploads == 0 {
		return e
	}
	return nil
}

// unnamed returns the tables without an upload that were written up to a time, oldest first.
func (s *Store) unnamed(until time.Time) (out []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.tables {
		if e.uploads == 0 && !e.written.After(until) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int {
		return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.hash, b.hash))
	})
	return out
}
