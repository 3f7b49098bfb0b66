package rollups

import (
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

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
)

// Options say how a [Shelf] is loaded. The zero value is the default given with each field.
type Options struct {
	Cache *Cache // what was read: nothing is kept

	// ReadOnly leaves the directory as it is: what is damaged counts as faulty, and nothing is
	// removed. Others may have the directory open in the same way.
	ReadOnly bool
}

// Shelf is the files of sums of one data directory: it alone knows which there are. It is
// safe for concurrent use. There must be one Shelf for a directory at most.
type Shelf struct {
	dir   string
	cache *Cache
	enc   *zstd.Encoder
	step  func(done string) // of writing: for tests that end it there

	readOnly bool

	mu      sync.Mutex
	files   []*File // by name; a new slice after each change
	aside   []Aside // by name
	faulty  []Faulty
	writing map[string]bool // by name
}

// Faulty is a file that could not be opened, although nothing says that it is damaged, or
// that is damaged and could not be set aside.
type Faulty struct {
	Name  string
	Span  Span
	Start time.Time // of the time of the file
	Err   error
}

// Load opens the files of sums in dir. It removes what was being written when something
// ended it, and sets aside what is damaged. Files that can not be opened for another reason
// are left alone, see [Shelf.Retry].
func Load(dir string, o Options) (*Shelf, error) {
	enc, err := newCompressor()
	if err != nil {
		return nil, err
	}
	s := &Shelf{dir: dir, cache: o.Cache, enc: enc, writing: make(map[string]bool), step: func(string) {}, readOnly: o.ReadOnly}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list sums: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if part, ok := strings.CutSuffix(name, tmpSuffix); ok && isName(part) {
			if o.ReadOnly {
				continue
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return nil, fmt.Errorf("remove what was being written: %w", err)
			}
		} else if of, ok := ParseAsideName(name); ok {
			s.addAside(loadAside(dir, name, of))
		} else if isName(name) {
			s.load(name)
		}
	}
	return s, nil
}

func isName(name string) bool {
	_, _, ok := ParseName(name)
	return ok
}

// load opens a file. What is damaged and can not be set aside is faulty.
func (s *Shelf) load(name string) {
	f, err := Open(filepath.Join(s.dir, name), s.cache)
	if errors.Is(err, fs.ErrNotExist) {
		return // removed meanwhile
	}
	if errors.Is(err, store.ErrDamaged) && !s.readOnly {
		a, aerr := setAside(s.dir, name, err)
		if aerr == nil {
			s.addAside(a)
			return
		}
		err = errors.Join(err, aerr)
	}
	if err != nil {
		span, start, _ := ParseName(name)
		s.faulty = append(s.faulty, Faulty{name, span, start, err})
		return
	}
	s.files = withFile(s.files, f)
}

// addAside notes a file that was set aside. It is called with the lock held.
func (s *Shelf) addAside(a Aside) {
	s.aside = append(s.aside, a)
	slices.SortFunc(s.aside, func(a, b Aside) int { return cmp.Compare(a.Name, b.Name) })
}

// Files returns the files that there are, by name. The slice must not be changed.
func (s *Shelf) Files() []*File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files
}

// Aside returns the files that were set aside, by name.
func (s *Shelf) Aside() []Aside {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.aside)
}

// Faulty returns the files that could not be opened for other reasons than damage: there
// were no descriptors left, say, or the disk could not be read, or a newer program wrote
// them.
func (s *Shelf) Faulty() []Faulty {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faulty)
}

// Retry tries again to open the faulty files.
func (s *Shelf) Retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.faulty
	s.faulty = nil
	for _, f := range was {
		s.load(f.Name)
	}
}

// SetAside takes a file that turned out to be damaged out of use: it is renamed, and the
// reason is kept in a file beside it. If another file has taken its place already, nothing
// is done.
func (s *Shelf) SetAside(f *File, reason error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(f.name) != f {
		return nil
	}
	a, err := setAside(s.dir, f.name, reason)
	if err != nil {
		return err
	}
	a.Sums = f.index.sums
	s.files = without(s.files, f.name)
	s.addAside(a)
	return nil
}

// Remove deletes files by their names, also faulty ones and those that were set aside. Names
// of files that are not there are passed over. Who holds a file goes on reading it.
func (s *Shelf) Remove(names ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs error
	for _, name := range names {
		_, aside := ParseAsideName(name)
		if !aside && !isName(name) {
			errs = errors.Join(errs, fmt.Errorf("remove %q: no file of sums has such a name", name))
			continue
		}
		err := os.Remove(filepath.Join(s.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, fmt.Errorf("remove sums: %w", err))
			continue
		}
		if aside {
			os.Remove(filepath.Join(s.dir, name+reasonSuffix)) // nobody reads it without the file
		}
		s.files = without(s.files, name)
		s.aside = slices.DeleteFunc(s.aside, func(a Aside) bool { return a.Name == name })
		s.faulty = slices.DeleteFunc(s.faulty, func(f Faulty) bool { return f.Name == name })
	}
	return errors.Join(errs, disk.SyncDir(s.dir))
}

// find returns the file with a name, nil if there is none. It is called with the lock held.
func (s *Shelf) find(name string) *File {
	if i, found := slices.BinarySearchFunc(s.files, name, byName); found {
		return s.files[i]
	}
	return nil
}

func byName(f *File, name string) int { return cmp.Compare(f.name, name) }

// withFile returns files with f added, in place of that with its name.
func withFile(files []*File, f *File) []*File {
	files = without(files, f.name)
	i, _ := slices.BinarySearchFunc(files, f.name, byName)
	return slices.Insert(files, i, f)
}

// without returns a copy of files without that with a name.
func without(files []*File, name string) []*File {
	return slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.name == name })
}

// EachSum calls f with what files have of a span.
func EachSum(files []*File, span Span, f func(*File, Sum)) {
	for _, file := range files {
		if file.Span() == span {
			for _, s := range file.Sums() {
				f(file, s)
			}
		}
	}
}

// StartsOf returns what files have: hours, by their own or by their day's, and days.
func StartsOf(files []*File) (hours, days map[uint32]bool) {
	hours, days = make(map[uint32]bool), make(map[uint32]bool)
	EachSum(files, Hours, func(_ *File, s Sum) { hours[s.Start] = true })
	EachSum(files, Days, func(_ *File, s Sum) {
		days[s.Start] = true
		for _, source := range s.Sources {
			hours[source] = true
		}
	})
	return hours, days
}
