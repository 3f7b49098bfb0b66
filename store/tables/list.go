package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// file is a file of an upload that can not be read. What it names is not known.
type file struct {
	path    string
	written time.Time
}

// list looks at what is there. Uploads come first: the tables of those that are found are there
// already, whatever a daemon does meanwhile.
func (s *Store) list() error {
	var seen time.Time
	if st, err := os.Stat(filepath.Join(s.dir, uploadsFolder)); err == nil {
		seen = st.ModTime() // before it is read, so that what comes meanwhile is seen later
	}
	uploads, unreadable, err := s.listUploads()
	if err != nil {
		return err
	}
	tables, err := s.listTables()
	if err != nil {
		return err
	}
	x := newState()
	x.unreadable = unreadable
	for _, e := range tables {
		x.setTable(e)
	}
	for _, u := range uploads {
		x.addOldest(u.Upload, u.bytes)
	}
	s.state, s.seen = x, seen
	s.decoded.clear()
	return nil
}

// listTables returns an entry for each table, sorted by hash.
func (s *Store) listTables() (out []*entry, err error) {
	err = filepath.WalkDir(filepath.Join(s.dir, tablesFolder), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || e.IsDir():
			return err
		case CheckHash(e.Name()) != nil || path != s.path(e.Name()):
			return s.leftover(path)
		}
		if fi, err := e.Info(); err == nil {
			out = append(out, &entry{hash: e.Name(), bytes: fi.Size(), written: fi.ModTime()})
		}
		return nil
	})
	return out, err
}

// leftover removes what a crash left of a file that was being written.
func (s *Store) leftover(path string) error {
	if s.readOnly || !strings.HasSuffix(path, ".tmp") {
		return nil
	}
	return os.Remove(path)
}

// listedUpload is an upload of which the file has so many bytes.
type listedUpload struct {
	symbols.Upload
	bytes int64
}

// listUploads returns the uploads, the newest first, and the files that can not be read.
func (s *Store) listUploads() (out []listedUpload, unreadable []file, err error) {
	dir := filepath.Join(s.dir, uploadsFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range slices.Backward(entries) { // names begin with the time
		path := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(e.Name(), extension) {
			if err := s.leftover(path); err != nil {
				return nil, nil, err
			}
			continue
		}
		fi, err := e.Info()
		if err != nil {
			continue // it was deleted meanwhile
		}
		u, err := readUpload(path)
		if err != nil {
			unreadable = append(unreadable, file{path, fi.ModTime()})
			s.options.Damaged(fmt.Errorf("what was uploaded of a build can not be read: %w", err))
			continue
		}
		u.ID = strings.TrimSuffix(e.Name(), extension)
		out = append(out, listedUpload{u, fi.Size()})
	}
	return out, unreadable, nil
}

// readUpload reads a file of an upload.
func readUpload(path string) (u symbols.Upload, err error) {
	f, err := os.Open(path)
	if err != nil {
		return u, err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return u, err
	}
	if fi.Size() > maxFile {
		return u, fmt.Errorf("%s: %d bytes, the most is %d", path, fi.Size(), maxFile)
	}
	if err := json.NewDecoder(f).Decode(&u); err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	if err := check(&u); err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}
