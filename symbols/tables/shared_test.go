package tables

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// memory implements Files in memory.
type memory struct {
	mu     sync.Mutex
	files  map[string]memoryFile
	now    func() time.Time
	shared bool
}

func newMemory() *memory { return &memory{files: map[string]memoryFile{}, now: time.Now} }

type memoryFile struct {
	body    []byte
	written time.Time
}

func (m *memory) Shared() bool            { return m.shared }
func (m *memory) Path(name string) string { return name }

func (m *memory) List(folder string) (out []File, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, f := range m.files {
		if strings.HasPrefix(name, folder) {
			out = append(out, File{name, int64(len(f.body)), f.written})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func (m *memory) Read(name string, _ int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return f.body, nil
}

func (m *memory) Write(name string, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = memoryFile{slices.Clone(body), m.now()}
	return nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}

// Two stores on the same files are equivalent if each refreshes before each operation. Each knows
// its own changes without refreshing.
func TestRandomShared(t *testing.T) {
	all := bodies{}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		files := newMemory()
		files.shared = true
		x := newRun(t, all, files, 1<<20, r)
		x.open()
		one := x.store
		x.open()
		stores := []*Store{one, x.store}
		for range 120 {
			x.now = x.now.Add(time.Duration(1+r.IntN(24*60)) * time.Minute)
			i := r.IntN(len(stores))
			x.store = stores[i]
			if err := x.store.Refresh(); err != nil {
				t.Fatal(err)
			}
			x.step()
			stores[i] = x.store
			for _, s := range stores {
				if err := s.Refresh(); err != nil {
					t.Fatal(err)
				}
				checkStore(t, s, x.model)
			}
			if a, b := stores[0].Generation(), stores[1].Generation(); a != b {
				t.Fatalf("generations %s and %s", a, b)
			}
			reader, err := OpenReader(files)
			if err != nil {
				t.Fatal(err)
			}
			checkStore(t, reader, x.model)
		}
	}
}

// The tables of a build may be sent to one node and its upload to another.
func TestSharedUpload(t *testing.T) {
	files := newMemory()
	files.shared = true
	var stores []*Store
	for range 2 {
		s, err := Open(files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	hash, b := body(t, 1, 5)
	if _, err := stores[0].Put(hash, b); err != nil {
		t.Fatal(err)
	}
	u := symbols.Upload{Release: "A", Scripts: []symbols.Script{{Path: "a.js", SHA256: hash}}}
	if _, created, err := stores[1].AddUpload(u); err != nil || !created {
		t.Fatalf("got %v, %v", created, err)
	}
	if _, err := stores[1].Table(hash); err != nil {
		t.Error(err)
	}
	if len(stores[0].Uploads()) != 0 {
		t.Error("the other store has the upload before it refreshes")
	}
	if err := stores[0].Sweep(); err != nil || len(stores[0].Uploads()) != 1 {
		t.Errorf("got %+v, %v", stores[0].Uploads(), err)
	}
}
