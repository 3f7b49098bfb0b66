package tables

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
)

// sitesFolder contains a folder for each site, with its tables and uploads.
const sitesFolder = "sites"

// minMemory is the minimum cache size for decoded tables of a site, in bytes.
const minMemory = 4 << 20

// Sites holds the symbols of several sites, each in its own store, and symbols that all sites
// share. Data sent to one store is not visible in another, not even whether a script is known. It
// is safe for concurrent use by multiple goroutines.
type Sites struct {
	files    Files
	options  Options
	readOnly bool
	shared   *Store

	mu sync.Mutex
	of map[string]*Store
}

// OpenSites opens the shared symbols and those of each site that has any. most is the maximum
// number of sites: together they get as much space as the shared store, in equal parts.
func OpenSites(f Files, o Options, most int) (*Sites, error) {
	o = o.withDefaults()
	shared, err := Open(f, o)
	if err != nil {
		return nil, err
	}
	of := o
	of.MaxSize, of.MaxMemory = o.MaxSize/int64(max(most, 1)), max(o.MaxMemory/max(most, 1), minMemory)
	s := &Sites{files: f, options: of, shared: shared, of: map[string]*Store{}}
	return s, s.discover()
}

// OpenSitesReader opens the symbols of all sites read-only, see [OpenReader].
func OpenSitesReader(f Files) (*Sites, error) {
	shared, err := OpenReader(f)
	if err != nil {
		return nil, err
	}
	s := &Sites{files: f, readOnly: true, shared: shared, of: map[string]*Store{}}
	return s, s.discover()
}

// discover opens the stores of sites that have files.
func (s *Sites) discover() error {
	files, err := s.files.List(sitesFolder + "/")
	if err != nil {
		return fmt.Errorf("list the symbols of sites: %w", err)
	}
	for _, f := range files {
		name, _, ok := strings.Cut(strings.TrimPrefix(f.Name, sitesFolder+"/"), "/")
		if !ok || checkSite(name) != nil {
			continue
		}
		if _, err := s.Site(name); err != nil {
			return err
		}
	}
	return nil
}

// Shared returns the store of symbols that all sites share.
func (s *Sites) Shared() *Store { return s.shared }

// Site returns the store of a site, which may be empty. name must be valid for package site.
func (s *Sites) Site(name string) (*Store, error) {
	if err := checkSite(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.of[name]; x != nil {
		return x, nil
	}
	x, err := open(below{s.files, sitesFolder + "/" + name + "/"}, s.options, s.readOnly)
	if err != nil {
		return nil, fmt.Errorf("site %s: %w", name, err)
	}
	s.of[name] = x
	return x, nil
}

// All returns the open stores by site; the shared one has the key "".
func (s *Sites) All() map[string]*Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.of)
	all[""] = s.shared
	return all
}

// Refresh reads the changes of other nodes, see [Store.Refresh].
func (s *Sites) Refresh() error {
	if !s.files.Shared() {
		return nil
	}
	err := s.discover()
	for _, x := range s.All() {
		err = errors.Join(err, x.Refresh())
	}
	return err
}

// Sweep deletes expired uploads and unused tables, see [Store.Sweep].
func (s *Sites) Sweep() (err error) {
	for _, x := range s.All() {
		err = errors.Join(err, x.Sweep())
	}
	return err
}

// Stats returns the sum over all stores.
func (s *Sites) Stats() (sum Stats) {
	for _, x := range s.All() {
		one := x.Stats()
		sum.Uploads, sum.Tables, sum.Bytes, sum.Damaged = sum.Uploads+one.Uploads, sum.Tables+one.Tables,
			sum.Bytes+one.Bytes, sum.Damaged+one.Damaged
	}
	return sum
}

// checkSite returns an error unless name may be the folder of a site.
func checkSite(name string) error {
	if name == "" || len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return fmt.Errorf("%.60q is not the name of a site", name)
	}
	return nil
}

// below is a Files for a folder of another.
type below struct {
	Files
	folder string // ends in a slash
}

func (b below) List(folder string) ([]File, error) {
	files, err := b.Files.List(b.folder + folder)
	for i := range files {
		files[i].Name = strings.TrimPrefix(files[i].Name, b.folder)
	}
	return files, err
}

func (b below) Read(name string, most int64) ([]byte, error) {
	return b.Files.Read(b.folder+name, most)
}
func (b below) Write(name string, body []byte) error { return b.Files.Write(b.folder+name, body) }
func (b below) Remove(name string) error             { return b.Files.Remove(b.folder + name) }
func (b below) Path(name string) string              { return b.Files.Path(b.folder + name) }
