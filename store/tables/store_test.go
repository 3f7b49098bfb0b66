package tables

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// hashOf returns the hash of script n.
func hashOf(n int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(n)})) }

// bodies makes tables. Each is made once, as compressing takes longer than all else here.
type bodies map[[2]int][]byte

// body returns the table of script n, with some of ten functions named.
func (all bodies) body(t testing.TB, n, named int) (hash string, b []byte) {
	t.Helper()
	if b := all[[2]int{n, named}]; b != nil {
		return hashOf(n), b
	}
	table := &symbols.Table{Script: sha256.Sum256([]byte{byte(n)}), Sources: []symbols.Source{{Name: "src/a.ts"}}}
	for i := range 10 {
		f := symbols.Function{Line: 1, Column: uint32(10*i + 1), Minified: "m", Name: fmt.Sprintf("f%d", i), Key: uint64(i + 1), Way: symbols.Start}
		if i >= named {
			f.Name, f.Way = "m", symbols.Kept
		}
		table.Functions = append(table.Functions, f)
	}
	var out bytes.Buffer
	if err := symbols.Encode(&out, table); err != nil {
		t.Fatal(err)
	}
	all[[2]int{n, named}] = out.Bytes()
	return hashOf(n), out.Bytes()
}

// body returns the table of script n, with some of ten functions named.
func body(t testing.TB, n, named int) (hash string, b []byte) {
	t.Helper()
	return bodies{}.body(t, n, named)
}

// model is what a Store has to be.
type model struct {
	now     time.Time
	tables  map[string]int // how many functions are named; -1: damaged
	put     map[string]time.Time
	uploads []symbols.Upload // the newest first
}

func (m *model) missing(u symbols.Upload) bool {
	return slices.ContainsFunc(u.Scripts, func(x symbols.Script) bool { _, ok := m.tables[x.SHA256]; return !ok })
}

func (m *model) sweep(retention time.Duration) {
	m.uploads = slices.DeleteFunc(m.uploads, func(u symbols.Upload) bool { return m.now.Sub(u.Time) > retention })
	named := hashesOf(m.uploads)
	for hash := range maps.Clone(m.tables) {
		if !named[hash] && m.now.Sub(m.put[hash]) >= unnamedFor {
			delete(m.tables, hash)
		}
	}
}

// TestRandom does what daemons and people do, in any order, and what disks do, and holds the store
// against a plain model.
func TestRandom(t *testing.T) {
	all := bodies{}
	for seed := range uint64(8) {
		testRandom(t, all, rand.New(rand.NewPCG(seed, 1)))
	}
}

func testRandom(t *testing.T, all bodies, r *rand.Rand) {
	dir := filepath.Join(t.TempDir(), "symbols")
	m := &model{now: time.Now().Truncate(time.Millisecond), tables: map[string]int{}, put: map[string]time.Time{}}
	const retention = 30 * 24 * time.Hour
	options := Options{Retention: retention, MaxMemory: 4000, Now: func() time.Time { return m.now }}
	open := func() *Store {
		s, err := Open(dir, options)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	for range 150 {
		m.now = m.now.Add(time.Duration(1+r.IntN(24*60)) * time.Minute)
		generation := s.Generation()
		before := fmt.Sprint(m.tables, m.uploads)
		switch n := r.IntN(8); r.IntN(6) {
		case 0, 1: // a table
			named := r.IntN(11)
			hash, b := all.body(t, n, named)
			stored, err := s.Put(hash, b)
			old, ok := m.tables[hash]
			if want := !ok || old < named; err != nil || stored != want {
				t.Fatalf("put %d of %d: %v, %v", named, old, stored, err)
			} else if want {
				m.tables[hash], m.put[hash] = named, m.now
				if err := os.Chtimes(s.path(hash), m.now, m.now); err != nil {
					t.Fatal(err)
				}
			}
		case 2, 3: // an upload
			u := symbols.Upload{Release: fmt.Sprint(r.IntN(3))}
			for i := range 1 + r.IntN(3) {
				hash := hashOf((n + i) % 8)
				u.Scripts = append(u.Scripts, symbols.Script{Path: fmt.Sprintf("assets/%d.js", i), SHA256: hash})
			}
			id, created, err := s.AddUpload(u)
			if missing, ok := errors.AsType[*MissingError](err); ok != m.missing(u) || !ok && err != nil {
				t.Fatalf("add %+v: %v, %v", u, missing, err)
			} else if !ok {
				u.ID, u.Time = id, m.now.UTC()
				same := func(x symbols.Upload) bool { return sameBuild(x, u) }
				if created == slices.ContainsFunc(m.uploads, same) {
					t.Fatalf("created %v", created)
				}
				m.uploads = slices.Insert(slices.DeleteFunc(m.uploads, same), 0, u)
			}
		case 4: // the daemon's work, or a new daemon
			if r.IntN(2) == 0 {
				if err := s.Sweep(); err != nil {
					t.Fatal(err)
				}
				m.sweep(retention)
			} else {
				_ = os.WriteFile(filepath.Join(dir, "uploads", "x.json.tmp"), []byte("{"), 0o600)
				_ = os.WriteFile(filepath.Join(dir, "tables", "y.tmp"), []byte("half"), 0o600)
				s = open()
				generation = ""
			}
		case 5: // the disk loses the end of a table
			hash := hashOf(n)
			if m.tables[hash] > 0 {
				if err := os.Truncate(s.path(hash), 20); err != nil {
					t.Fatal(err)
				}
				_ = os.Chtimes(s.path(hash), m.put[hash], m.put[hash])
				m.tables[hash] = -1
				s = open() // else it is in memory
				generation = ""
			}
		}
		if generation != "" && (s.Generation() == generation) != (fmt.Sprint(m.tables, m.uploads) == before) {
			t.Fatalf("generation %s is %s: %s, %v %v", generation, s.Generation(), before, m.tables, m.uploads)
		}
		checkStore(t, s, m)
		reader, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		checkStore(t, reader, m)
	}
}

func checkStore(t *testing.T, s *Store, m *model) {
	t.Helper()
	if got := s.Uploads(); len(got)+len(m.uploads) > 0 && !reflect.DeepEqual(got, m.uploads) {
		t.Fatalf("uploads\n%+v\nnot\n%+v", got, m.uploads)
	}
	if got := s.Stats(); got.Tables != len(m.tables) || got.Uploads != len(m.uploads) {
		t.Fatalf("%+v, not %d tables", got, len(m.tables))
	}
	for n := range 8 {
		hash := hashOf(n)
		want, ok := m.tables[hash]
		got, err := s.Table(hash)
		if s.Has(hash) != ok || (err == nil) != (ok && want >= 0) || err == nil && named(got) != want {
			t.Fatalf("table %d: %v, %v, not %d", n, s.Has(hash), err, want)
		}
	}
}

// A reader sees what the daemon does.
func TestReaderSees(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "symbols")
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r.options.Now = func() time.Time { now = now.Add(lookEvery); return now }
	before := r.Generation()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash, b := body(t, 1, 5)
	if _, err := s.Put(hash, b); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AddUpload(symbols.Upload{Release: "A", Scripts: []symbols.Script{{Path: "a.js", SHA256: hash}}}); err != nil {
		t.Fatal(err)
	}
	if r.Generation() == before || len(r.Uploads()) != 1 {
		t.Errorf("generation %s, uploads %+v", r.Generation(), r.Uploads())
	}
	if table, err := r.Table(hash); err != nil || named(table) != 5 {
		t.Errorf("table %v, %v", table, err)
	}
}

// The oldest uploads go when tables take too much, but for the newest one.
func TestMaxSize(t *testing.T) {
	now := time.Now()
	_, b := body(t, 0, 5)
	s, err := Open(filepath.Join(t.TempDir(), "symbols"), Options{MaxSize: int64(2*len(b) + len(b)/2), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		hash, b := body(t, n, 5)
		if _, err := s.Put(hash, b); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.AddUpload(symbols.Upload{Release: fmt.Sprint(n), Scripts: []symbols.Script{{Path: "a.js", SHA256: hash}}}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(2 * unnamedFor)
		if err := s.Sweep(); err != nil {
			t.Fatal(err)
		}
	}
	if u := s.Uploads(); len(u) != 2 || u[0].Release != "4" || s.Stats().Tables != 2 {
		t.Errorf("%+v, %+v", u, s.Stats())
	}
}

func TestRefused(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "symbols"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash, b := body(t, 1, 5)
	other, _ := body(t, 2, 5)
	for what, put := range map[string]func() error{
		"is not a SHA-256":        func() error { _, err := s.Put("../../etc/passwd", b); return err },
		"does not begin with":     func() error { _, err := s.Put(hash, []byte("<html>")); return err },
		"it is that of script":    func() error { _, err := s.Put(other, b); return err },
		"scripts: there are none": func() error { _, _, err := s.AddUpload(symbols.Upload{}); return err },
		"scripts: 20001": func() error {
			_, _, err := s.AddUpload(symbols.Upload{Scripts: make([]symbols.Script, 20001)})
			return err
		},
		`"../a.js" is not one in`:   func() error { _, _, err := s.AddUpload(of("../a.js", hash)); return err },
		`"a/../../b" is not one in`: func() error { _, _, err := s.AddUpload(of("a/../../b", hash)); return err },
		"path: 2000 bytes":          func() error { _, _, err := s.AddUpload(of(strings.Repeat("a", 2000), hash)); return err },
		"control characters":        func() error { _, _, err := s.AddUpload(of("a\x00b", hash)); return err },
		"scripts[0]: sha256":        func() error { _, _, err := s.AddUpload(of("a.js", "x")); return err },
	} {
		err := put()
		if _, invalid := errors.AsType[*InvalidError](err); !invalid || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s.Stats() != (Stats{}) {
		t.Errorf("%+v", s.Stats())
	}
}

func of(path, hash string) symbols.Upload {
	return symbols.Upload{Scripts: []symbols.Script{{Path: path, SHA256: hash}}}
}

func TestConcurrent(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "symbols"), Options{MaxMemory: 3000})
	if err != nil {
		t.Fatal(err)
	}
	all := bodies{}
	for n := range 5 {
		all.body(t, n, 5)
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 20 {
				hash, b := all.body(t, (g+i)%5, 5)
				if _, err := s.Put(hash, b); err != nil {
					t.Error(err)
				}
				if _, _, err := s.AddUpload(of(fmt.Sprintf("%d.js", i), hash)); err != nil {
					t.Error(err)
				}
				if table, err := s.Table(hash); err != nil || len(table.Functions) != 10 {
					t.Error(err)
				}
				_, _ = s.Generation(), s.Uploads()
				if err := s.Sweep(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := len(s.Uploads()); n == 0 {
		t.Error("no uploads")
	}
}
