package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// file is an unreadable file of an upload. The tables that it refers to are unknown.
type file struct {
	name    string
	written time.Time
}

// list returns the state of the files. It lists uploads first: the tables of a listed upload exist
// already, whatever other stores do meanwhile. Files in old are not read again.
func (s *Store) list(old *state) (x state, err error) {
	x = newState()
	uploads, err := s.listUploads(old, &x)
	if err != nil {
		return x, err
	}
	tables, err := s.listTables()
	if err != nil {
		return x, err
	}
	for _, e := range tables {
		if o := old.tables[e.hash]; o != nil && o.same(e) {
			e.counts, e.damage = o.counts, o.damage
		}
		x.setTable(e)
	}
	for _, u := range uploads {
		x.addOldest(u.Upload, u.bytes)
	}
	return x, nil
}

// same reports whether two entries of a script refer to the same file.
func (e *entry) same(o *entry) bool { return e.bytes == o.bytes && e.written.Equal(o.written) }

// become makes x the state of the store. The caller must hold mu.
func (s *Store) become(x state) {
	for _, hash := range s.decoded.Names() {
		if e, o := x.tables[hash], s.tables[hash]; e == nil || o == nil || !e.same(o) {
			s.decoded.Drop(hash)
		}
	}
	s.state = x
}

// listTables returns an entry for each table, sorted by hash.
func (s *Store) listTables() (out []*entry, err error) {
	files, err := s.files.List(tablesFolder + "/")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		hash := f.Name[strings.LastIndexByte(f.Name, '/')+1:]
		if CheckHash(hash) != nil || f.Name != tableName(hash) {
			continue
		}
		out = append(out, &entry{hash: hash, bytes: f.Size, written: f.Written})
	}
	return out, nil
}

// listedUpload is an upload with the size of its file.
type listedUpload struct {
	symbols.Upload
	bytes int64
}

// listUploads returns the uploads, newest first. Unreadable files are noted in x.
func (s *Store) listUploads(old, x *state) (out []listedUpload, err error) {
	files, err := s.files.List(uploadsFolder + "/")
	if err != nil {
		return nil, err
	}
	known := map[string]symbols.Upload{}
	for _, u := range old.uploads {
		known[u.ID] = u
	}
	for _, f := range slices.Backward(files) { // names begin with the time
		id, ok := strings.CutSuffix(strings.TrimPrefix(f.Name, uploadsFolder+"/"), extension)
		if !ok || strings.Contains(id, "/") {
			continue
		}
		if u, ok := known[id]; ok && old.lengths[id] == f.Size {
			out = append(out, listedUpload{u, f.Size})
			continue
		}
		u, err := s.readUpload(f.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			bad := file{f.Name, f.Written}
			x.unreadable = append(x.unreadable, bad)
			if !slices.Contains(old.unreadable, bad) {
				s.options.Damaged(fmt.Errorf("an upload of a build cannot be read: %w", err))
			}
			continue
		}
		u.ID = id
		out = append(out, listedUpload{u, f.Size})
	}
	return out, nil
}

func (s *Store) readUpload(name string) (u symbols.Upload, err error) {
	b, err := s.files.Read(name, maxFile)
	if err != nil {
		return u, err
	}
	if err := json.Unmarshal(b, &u); err != nil {
		return u, fmt.Errorf("%s: %w", s.files.Path(name), err)
	}
	if err := check(&u); err != nil {
		return u, fmt.Errorf("%s: %w", s.files.Path(name), err)
	}
	intern(&u)
	return u, nil
}
