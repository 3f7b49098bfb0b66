package tables

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/symbols"
)

// Options configures a store. A zero field selects the default given in its comment.
type Options struct {
	Retention time.Duration // 400 days since an upload; negative keeps uploads indefinitely
	MaxSize   int64         // 2 GiB: bytes of all tables
	MaxMemory int           // 64 MiB: bytes of the cached decoded tables
	Now       func() time.Time
	// Room is called before n bytes are written. To prevent that, it returns an error that wraps
	// [ErrNoSpace]. If nil, there is always room.
	Room func(n int64) error
	// Damaged is called once for each unreadable file, concurrently. It may be nil.
	Damaged func(error)
}

// ErrNoSpace is returned if too little space is left on the file system.
var ErrNoSpace = disk.ErrNoSpace

func (o Options) withDefaults() Options {
	o.Retention = cmp.Or(o.Retention, 400*24*time.Hour)
	o.MaxSize = cmp.Or(o.MaxSize, 2<<30)
	o.MaxMemory = cmp.Or(o.MaxMemory, 64<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Room == nil {
		o.Room = func(int64) error { return nil }
	}
	if o.Damaged == nil {
		o.Damaged = func(error) {}
	}
	return o
}

// Store holds the tables and uploads in [Files]. It is safe for concurrent use by multiple
// goroutines, and implements the Library of package naming.
type Store struct {
	files    Files
	options  Options
	readOnly bool

	// writing is held while files change, and is locked before mu. So queries never wait for the
	// disk.
	writing sync.Mutex

	mu      sync.Mutex // guards the fields below
	state              // of the files
	decoded *lru.Cache[*symbols.Table]
	looked  time.Time // last check of the files by a reader
}

// entry is the state of a table. A replaced table gets a new entry.
type entry struct {
	hash    string // of the script
	bytes   int64
	written time.Time
	uploads int     // number of uploads with this script
	counts  *Counts // nil until first read
	damage  error   // why it cannot be read
}

// Counts are numbers of functions in a table.
type Counts struct {
	Functions int
	Named     int // functions with an original name
	Compared  int // functions with a hash of their own text, which is needed to find edits
}

func countsOf(t *symbols.Table) Counts {
	out := Counts{Functions: len(t.Functions), Named: len(t.Functions) - t.Found()[symbols.Kept]}
	for i := range t.Functions {
		if t.Functions[i].Own != 0 {
			out.Compared++
		}
	}
	return out
}

// Names of folders, and the suffix of uploads.
const (
	tablesFolder  = "tables"
	uploadsFolder = "uploads"
	extension     = ".json"
)

// Open opens a store for reading and writing. It lists tables, but decodes none.
func Open(f Files, o Options) (*Store, error) { return open(f, o, false) }

// OpenReader opens a store read-only, with or without a running daemon.
func OpenReader(f Files) (*Store, error) { return open(f, Options{}, true) }

func open(f Files, o Options, readOnly bool) (*Store, error) {
	o = o.withDefaults()
	s := &Store{files: f, options: o, readOnly: readOnly, state: newState(), decoded: newCache(o.MaxMemory)}
	x, err := s.list(&s.state)
	if err != nil {
		return nil, fmt.Errorf("open symbols: %w", err)
	}
	s.state = x
	return s, nil
}

// Refresh reads the changes of other stores on the same files, if they are shared. Queries do not
// wait for it.
func (s *Store) Refresh() error {
	if !s.files.Shared() {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.refresh()
}

// refresh is like Refresh. The caller must hold writing.
func (s *Store) refresh() error {
	x, err := s.list(s.known())
	if err != nil {
		return fmt.Errorf("refresh symbols: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.become(x)
	return nil
}

// known returns a copy of the current state for lookups. It does not receive later counts and
// damage.
func (s *Store) known() *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.state
	x.tables = make(map[string]*entry, len(s.tables))
	for hash, e := range s.tables {
		copied := *e
		x.tables[hash] = &copied
	}
	x.lengths = maps.Clone(s.lengths)
	return &x
}

// Generation changes whenever the results of Uploads or Table may change. It is the same after a
// restart if nothing has changed.
func (s *Store) Generation() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return fmt.Sprintf("%016x", s.generation)
}

// Intervals at which a reader checks for changes.
const (
	lookEvery       = time.Second
	lookSharedEvery = 30 * time.Second
)

// look updates a reader with the changes of a daemon.
func (s *Store) look() {
	every := lookEvery
	if s.files.Shared() {
		every = lookSharedEvery
	}
	now := s.options.Now()
	if !s.readOnly || now.Sub(s.looked) < every {
		return
	}
	s.looked = now
	if x, err := s.list(&s.state); err == nil { // otherwise keep the previous state
		s.become(x)
	}
}

// Uploads returns all uploads, newest first. The caller must not change them.
func (s *Store) Uploads() []symbols.Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uploads
}

// Has reports whether the table of a script exists and is readable. Clients then need not send it.
func (s *Store) Has(sha256 string) bool {
	_, err := s.Counts(sha256)
	return err == nil
}

// Counts returns the numbers of functions in the table of a script. It reads each table once.
func (s *Store) Counts(sha256 string) (Counts, error) {
	e, err := s.entry(sha256)
	if err != nil {
		return Counts{}, err
	}
	if counts := s.countsIn(e); counts != nil {
		return *counts, nil
	}
	t, err := s.load(e)
	if err != nil {
		return Counts{}, err
	}
	return countsOf(t), nil
}

func (s *Store) countsIn(e *entry) *Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.counts
}

// Table returns the table of a script. The caller must not change it.
func (s *Store) Table(sha256 string) (*symbols.Table, error) {
	e, err := s.entry(sha256)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	t, ok := s.decoded.Get(sha256)
	s.mu.Unlock()
	if ok {
		return t, nil
	}
	if t, err = s.load(e); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables[sha256] == e { // otherwise it was replaced meanwhile
		s.decoded.Put(sha256, t, sizeOf(t))
	}
	return t, nil
}

// entry returns the entry of a table that exists and is not known to be damaged.
func (s *Store) entry(sha256 string) (*entry, error) {
	if err := CheckHash(sha256); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tables[sha256]
	if e == nil {
		return nil, fmt.Errorf("symbols of script %s: %w", sha256, fs.ErrNotExist)
	}
	return e, e.damage
}

// load reads a table from its file, and records its counts.
func (s *Store) load(e *entry) (*symbols.Table, error) {
	b, err := s.files.Read(tableName(e.hash), symbols.MaxTable)
	if err != nil {
		return nil, fmt.Errorf("symbols of script %s: %w", e.hash, err)
	}
	t, err := decode(e.hash, b)
	if err != nil {
		err = fmt.Errorf("symbols of script %s: %s: %w; upload the build again", e.hash,
			s.files.Path(tableName(e.hash)), err)
	}
	s.mu.Lock()
	told := e.damage != nil || s.tables[e.hash] != e
	if err != nil {
		e.damage = err
	} else {
		counts := countsOf(t)
		e.counts = &counts
	}
	s.mu.Unlock()
	if err != nil && !told {
		s.options.Damaged(err)
	}
	return t, err
}

// decode decodes a table and checks that it belongs to the script.
func decode(sha256 string, b []byte) (*symbols.Table, error) {
	t, err := symbols.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("%x", t.Script) != sha256 {
		return nil, fmt.Errorf("%w: it belongs to script %x", symbols.ErrMalformed, t.Script)
	}
	return t, nil
}

func tableName(sha256 string) string { return tablesFolder + "/" + sha256[:2] + "/" + sha256 }

func uploadName(id string) string { return uploadsFolder + "/" + id + extension }

// Stats are the sizes of a store.
type Stats struct {
	Uploads, Tables int
	Bytes           int64 // of tables
	Damaged         int   // files known to be unreadable
}

// Stats returns the sizes of s.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Uploads: len(s.uploads), Tables: len(s.tables), Bytes: s.bytes, Damaged: len(s.unreadable)}
	for _, e := range s.tables {
		if e.damage != nil {
			out.Damaged++
		}
	}
	return out
}

// CheckHash rejects a text that is not a SHA-256 in lower-case hexadecimal.
func CheckHash(text string) error {
	if len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return fmt.Errorf("%.70q is not a SHA-256 of 64 lower-case hexadecimal digits", text)
	}
	return nil
}
