package tables

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// InvalidError is returned for an invalid table or upload, which is not stored.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// MissingError is returned for an upload with scripts whose tables are missing or unreadable.
type MissingError struct{ Missing []string } // hashes, sorted

func (e *MissingError) Error() string {
	return fmt.Sprintf("the tables of %d scripts are missing; send them first", len(e.Missing))
}

// FullError is returned if the tables of one build alone exceed the limit of all tables.
type FullError struct{ Most int64 } // bytes

func (e *FullError) Error() string {
	return fmt.Sprintf("tables without an upload take over %d bytes, which is the limit of all symbols", e.Most)
}

// Put stores the table of a script, and reports whether it did: it keeps an existing table that is
// readable and names and compares as many functions. It returns an [InvalidError] for an invalid
// table or the table of another script. If all tables exceed their limit, it deletes the oldest
// uploads.
func (s *Store) Put(sha256 string, body []byte) (stored bool, err error) {
	if err := CheckHash(sha256); err != nil {
		return false, &InvalidError{err}
	}
	s.writing.Lock() // also because one table at a time may use memory
	defer s.writing.Unlock()
	t, err := decode(sha256, body)
	if err != nil {
		return false, &InvalidError{err}
	}
	counts := countsOf(t)
	if old, err := s.Counts(sha256); err == nil && old.covers(counts) {
		return false, nil
	}
	n := int64(len(body))
	if err := s.makeRoom(n); err != nil {
		return false, fmt.Errorf("store table: %w", err)
	}
	if err := s.files.Write(tableName(sha256), body); err != nil {
		return false, fmt.Errorf("store table: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setTable(&entry{hash: sha256, bytes: n, written: s.options.Now(), counts: &counts})
	s.decoded.Drop(sha256)
	return true, nil
}

// covers reports whether a table with these counts need not be replaced by one with others.
func (c Counts) covers(o Counts) bool {
	return c.Named > o.Named || c.Named == o.Named && c.Compared >= o.Compared
}

// AddUpload stores the upload of a build, and returns its ID. It replaces an existing upload with
// the same content, but a different time. It returns a [MissingError] if tables of its scripts are
// missing, and an [InvalidError] if the upload exceeds a limit.
func (s *Store) AddUpload(u symbols.Upload) (id string, created bool, err error) {
	if err := check(&u); err != nil {
		return "", false, &InvalidError{err}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	before, err := s.expect(u)
	if err != nil {
		return "", false, err
	}
	u.Time = s.options.Now().UTC().Truncate(time.Millisecond)
	if len(before) > 0 && !u.Time.After(before[0].Time) { // the clock was set back, or did not advance
		u.Time = before[0].Time.Add(time.Millisecond)
	}
	u.ID = u.Time.Format("20060102T150405.000Z") + "-" + strings.ToLower(rand.Text()[:8])
	body, err := encode(u)
	if err != nil {
		return "", false, err
	}
	if err := s.options.Room(int64(len(body))); err != nil {
		return "", false, fmt.Errorf("store upload: %w", err)
	}
	if err := s.files.Write(uploadName(u.ID), body); err != nil {
		return "", false, fmt.Errorf("store upload: %w", err)
	}
	intern(&u)
	s.mu.Lock()
	s.addUpload(u, int64(len(body)))
	s.mu.Unlock()
	old := slices.IndexFunc(before, func(x symbols.Upload) bool { return sameBuild(x, u) })
	if old >= 0 {
		err = s.removeUpload(old + 1)
	}
	for err == nil && s.over(maxListed) {
		err = s.removeUpload(len(s.Uploads()) - 1)
	}
	if err != nil {
		return "", false, fmt.Errorf("replace upload: %w", err)
	}
	return u.ID, old < 0, nil
}

// expect returns the existing uploads, if all tables of u exist.
func (s *Store) expect(u symbols.Upload) (before []symbols.Upload, err error) {
	if before, err = s.expectKnown(u); err == nil || !s.files.Shared() {
		return before, err
	}
	if err := s.refresh(); err != nil { // they may have been sent to another store
		return nil, err
	}
	return s.expectKnown(u)
}

func (s *Store) expectKnown(u symbols.Upload) ([]symbols.Upload, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []string
	for hash := range hashesOf(u) {
		if e := s.tables[hash]; e == nil || e.damage != nil {
			missing = append(missing, hash)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, &MissingError{missing}
	}
	return s.uploads, nil
}

// encode returns the content of an upload's file.
func encode(u symbols.Upload) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(u); err != nil {
		return nil, fmt.Errorf("store upload: %w", err)
	}
	if b.Len() > maxFile {
		return nil, &InvalidError{fmt.Errorf("it has %d bytes, the most is %d", b.Len(), maxFile)}
	}
	return b.Bytes(), nil
}

// over reports whether there are several uploads and their files exceed most bytes.
func (s *Store) over(most int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed > most && len(s.uploads) > 1
}

// removeUpload deletes the upload at an index, but not its tables.
func (s *Store) removeUpload(at int) error {
	u := s.Uploads()[at]
	if err := s.files.Remove(uploadName(u.ID)); err != nil {
		return fmt.Errorf("delete upload: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropUpload(at)
	return nil
}

// removeTable deletes a table.
func (s *Store) removeTable(e *entry) error {
	if err := s.files.Remove(tableName(e.hash)); err != nil {
		return fmt.Errorf("delete table: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropTable(e)
	s.decoded.Drop(e.hash)
	return nil
}
