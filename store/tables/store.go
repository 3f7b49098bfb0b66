package tables

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store/disk"
	"github.com/fieldtrie/fieldtrie/symbols"
)

// Options say what is kept. A zero field means the default beside it.
type Options struct {
	Retention time.Duration // 400 days since an upload; negative keeps uploads for ever
	MaxSize   int64         // 2 GiB: bytes of all tables
	MaxMemory int           // 64 MiB: bytes of the tables that are kept decoded
	Now       func() time.Time
}

func (o Options) withDefaults() Options {
	o.Retention = cmp.Or(o.Retention, 400*24*time.Hour)
	o.MaxSize = cmp.Or(o.MaxSize, 2<<30)
	o.MaxMemory = cmp.Or(o.MaxMemory, 64<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Store is a folder of tables and uploads. It is safe for concurrent use, and implements the
// Library of package symbolize.
type Store struct {
	dir      string
	options  Options
	readOnly bool

	mu         sync.Mutex
	sizes      map[string]int64 // bytes of tables, by hash
	uploads    []symbols.Upload // the newest first; never changed, but replaced
	generation int
	decoded    cache
	looked     time.Time // at the folder, by a reader
	seen       time.Time // when the folder of uploads last changed then
}

// The names of folders and of what is no file of the store.
const (
	tablesFolder  = "tables"
	uploadsFolder = "uploads"
	extension     = ".json"
)

// Folder returns the folder of tables in a data directory.
func Folder(data string) string { return filepath.Join(data, "symbols") }

// Open opens a folder, which it makes if it is not there. What a crash left is removed.
func Open(dir string, o Options) (*Store, error) {
	s := newStore(dir, o)
	for _, folder := range []string{dir, filepath.Join(dir, tablesFolder), filepath.Join(dir, uploadsFolder)} {
		if err := makeFolder(folder); err != nil {
			return nil, fmt.Errorf("open symbols: %w", err)
		}
	}
	if err := s.list(); err != nil {
		return nil, fmt.Errorf("open symbols: %w", err)
	}
	return s, nil
}

// makeFolder makes a folder that only the owner may read, durably.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

// OpenReader opens a folder to read it alone, beside a daemon or without one. One that is not
// there is empty.
func OpenReader(dir string) (*Store, error) {
	s := newStore(dir, Options{})
	s.readOnly = true
	if err := s.list(); err != nil {
		return nil, fmt.Errorf("open symbols: %w", err)
	}
	return s, nil
}

func newStore(dir string, o Options) *Store {
	o = o.withDefaults()
	return &Store{dir: dir, options: o, decoded: newCache(o.MaxMemory)}
}

// Generation is another text whenever Uploads or Table may answer something else.
func (s *Store) Generation() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return fmt.Sprint(s.generation)
}

// lookEvery is how often a reader looks whether the daemon has changed something.
const lookEvery = time.Second

// look has a reader see what a daemon has changed since.
func (s *Store) look() {
	now := s.options.Now()
	if !s.readOnly || now.Sub(s.looked) < lookEvery {
		return
	}
	s.looked = now
	if st, err := os.Stat(filepath.Join(s.dir, uploadsFolder)); err == nil && !st.ModTime().Equal(s.seen) {
		_ = s.list() // what was there before will do until it can be read again
		s.generation++
	}
}

// Uploads returns all uploads, the newest first. Nobody may change them.
func (s *Store) Uploads() []symbols.Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uploads
}

// Has reports whether there is the table of a script.
func (s *Store) Has(sha256 string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.sizes[sha256]
	return ok
}

// Table returns the table of a script.
func (s *Store) Table(sha256 string) (*symbols.Table, error) {
	if err := CheckHash(sha256); err != nil {
		return nil, err
	}
	s.mu.Lock()
	t := s.decoded.get(sha256)
	s.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := s.read(sha256)
	if err != nil {
		return nil, fmt.Errorf("symbols of script %s: %w", sha256, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decoded.put(sha256, t)
	return t, nil
}

// read reads the table of a script.
func (s *Store) read(sha256 string) (*symbols.Table, error) {
	b, err := os.ReadFile(s.path(sha256))
	if err != nil {
		return nil, err
	}
	t, err := decode(sha256, b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; upload the build again", s.path(sha256), err)
	}
	return t, nil
}

// decode reads a table that has to be that of a script.
func decode(sha256 string, b []byte) (*symbols.Table, error) {
	t, err := symbols.Decode(bytes.NewReader(b))
	if err == nil && fmt.Sprintf("%x", t.Script) != sha256 {
		err = fmt.Errorf("%w: it is that of script %x", symbols.ErrMalformed, t.Script)
	}
	return t, err
}

func (s *Store) path(sha256 string) string {
	return filepath.Join(s.dir, tablesFolder, sha256[:2], sha256)
}

// Stats say what is kept.
type Stats struct {
	Uploads, Tables int
	Bytes           int64 // of tables
}

// Stats returns what is kept.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Uploads: len(s.uploads), Tables: len(s.sizes)}
	for _, n := range s.sizes {
		out.Bytes += n
	}
	return out
}

// CheckHash refuses what is no SHA-256 in lower-case hexadecimal.
func CheckHash(text string) error {
	if len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return fmt.Errorf("%.70q is not a SHA-256 of 64 lower-case hexadecimal digits", text)
	}
	return nil
}

// list looks at what is there.
func (s *Store) list() error {
	sizes, err := s.listTables()
	if err != nil {
		return err
	}
	if st, err := os.Stat(filepath.Join(s.dir, uploadsFolder)); err == nil {
		s.seen = st.ModTime() // before it is read, so that what comes meanwhile is seen later
	}
	uploads, err := s.listUploads()
	if err != nil {
		return err
	}
	s.sizes, s.uploads = sizes, uploads
	s.decoded.clear()
	return nil
}

func (s *Store) listTables() (map[string]int64, error) {
	sizes := map[string]int64{}
	err := filepath.WalkDir(filepath.Join(s.dir, tablesFolder), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || e.IsDir():
			return err
		case CheckHash(e.Name()) != nil:
			return s.leftover(path)
		}
		if fi, err := e.Info(); err == nil {
			sizes[e.Name()] = fi.Size()
		}
		return nil
	})
	return sizes, err
}

// leftover removes what a crash left of a file that was being written.
func (s *Store) leftover(path string) error {
	if s.readOnly || !strings.HasSuffix(path, ".tmp") {
		return nil
	}
	return os.Remove(path)
}

func (s *Store) listUploads() ([]symbols.Upload, error) {
	dir := filepath.Join(s.dir, uploadsFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []symbols.Upload
	for _, e := range slices.Backward(entries) { // names begin with the time
		path := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(e.Name(), extension) {
			if err := s.leftover(path); err != nil {
				return nil, err
			}
			continue
		}
		u, err := readUpload(path)
		if err != nil {
			continue // the disk has changed it; its tables are there as long as others name them
		}
		u.ID = strings.TrimSuffix(e.Name(), extension)
		out = append(out, u)
	}
	return out, nil
}
