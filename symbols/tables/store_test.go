package tables

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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

// bodies caches encoded tables, since compressing takes most of the time here.
type bodies map[[2]int][]byte

// body returns the table of script n, with some of ten functions named.
func (all bodies) body(t testing.TB, n, named int) (hash string, b []byte) {
	t.Helper()
	if b := all[[2]int{n, named}]; b != nil {
		return hashOf(n), b
	}
	table := &symbols.Table{Script: sha256.Sum256([]byte{byte(n)}), Sources: []symbols.Source{{Name: "src/a.ts"}}}
	for i := range 10 {
		f := symbols.Function{Line: 1, Column: uint32(10*i + 1), Minified: "m", Name: fmt.Sprintf("f%d", i),
			Key: uint64(i + 1), Way: symbols.Start}
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

// model is a simple model of a Store.
type model struct {
	now        time.Time
	most       int64
	tables     map[string]modelTable
	uploads    []symbols.Upload // newest first
	unreadable []time.Time      // times of damaged files
}

type modelTable struct {
	named int // number of functions; -1: damaged
	bytes int64
	put   time.Time
}

func (m *model) missing(u symbols.Upload) bool {
	return slices.ContainsFunc(u.Scripts, func(x symbols.Script) bool {
		t, ok := m.tables[x.SHA256]
		return !ok || t.named < 0
	})
}

func (m *model) bytes() (n int64) {
	for _, t := range m.tables {
		n += t.bytes
	}
	return n
}

func (m *model) isNamed(hash string) bool {
	return slices.ContainsFunc(m.uploads, func(u symbols.Upload) bool { return hashesOf(u)[hash] })
}

// old returns the tables without an upload that were not stored recently, oldest first.
func (m *model) old() []string {
	hashes := slices.DeleteFunc(slices.Sorted(maps.Keys(m.tables)), func(hash string) bool {
		return m.isNamed(hash) || m.now.Sub(m.tables[hash].put) < unnamedFor
	})
	slices.SortStableFunc(hashes, func(a, b string) int { return m.tables[a].put.Compare(m.tables[b].put) })
	return hashes
}

func (m *model) evict(most int64) {
	for _, hash := range m.old() {
		if m.bytes() > most {
			delete(m.tables, hash)
		}
	}
	for m.bytes() > most && len(m.uploads) > 0 {
		last := m.uploads[len(m.uploads)-1]
		m.uploads = m.uploads[:len(m.uploads)-1]
		for hash := range hashesOf(last) {
			if !m.isNamed(hash) {
				delete(m.tables, hash)
			}
		}
	}
}

func (m *model) sweep(retention time.Duration) {
	m.uploads = slices.DeleteFunc(m.uploads, func(u symbols.Upload) bool { return m.now.Sub(u.Time) > retention })
	m.unreadable = slices.DeleteFunc(m.unreadable, func(t time.Time) bool { return m.now.Sub(t) > retention })
	m.evict(m.most)
	if len(m.unreadable) > 0 {
		return
	}
	for _, hash := range m.old() {
		delete(m.tables, hash)
	}
}

// content returns the content of responses as text.
func (m *model) content() string {
	ids := ""
	for _, u := range m.uploads {
		ids += u.ID
	}
	return fmt.Sprint(ids, m.tables)
}

// TestRandom performs random operations of daemons and users, with disk errors, and compares the
// store with a simple model.
func TestRandom(t *testing.T) {
	all := bodies{}
	for seed := range uint64(8) {
		most := int64(1 << 40)
		if seed%2 == 1 {
			_, b := all.body(t, 0, 5)
			most = int64(len(b) * 11 / 2)
		}
		testRandom(t, all, most, rand.New(rand.NewPCG(seed, 1)))
	}
}

// run is a random run.
type run struct {
	*testing.T
	*rand.Rand
	*model
	all     bodies
	files   *memory
	store   *Store
	damaged int // calls of Damaged
}

const testRetention = 30 * 24 * time.Hour

func newRun(t *testing.T, all bodies, files *memory, most int64, r *rand.Rand) *run {
	m := &model{now: time.Now().Truncate(time.Millisecond), most: most, tables: map[string]modelTable{}}
	files.now = func() time.Time { return m.now }
	return &run{T: t, Rand: r, all: all, files: files, model: m}
}

func testRandom(t *testing.T, all bodies, most int64, r *rand.Rand) {
	x := newRun(t, all, newMemory(), most, r)
	x.open()
	contents := map[string]string{} // by generation
	for range 120 {
		x.now = x.now.Add(time.Duration(1+r.IntN(24*60)) * time.Minute)
		generation, before := x.store.Generation(), x.content()
		reopened := x.step()
		if !reopened && (x.store.Generation() == generation) != (x.content() == before) {
			t.Fatalf("generation %s, before %s: %s, before %s", x.store.Generation(), generation, x.content(), before)
		}
		generation = x.store.Generation()
		if old, ok := contents[generation]; ok && old != x.content() {
			t.Fatalf("generation %s has the contents %s and %s", generation, old, x.content())
		}
		contents[generation] = x.content()
		checkStore(t, x.store, x.model)
		reader, err := OpenReader(x.files)
		if err != nil {
			t.Fatal(err)
		}
		checkStore(t, reader, x.model)
		if x.damaged != x.store.Stats().Damaged {
			t.Fatalf("%d damaged files were reported, not %d", x.damaged, x.store.Stats().Damaged)
		}
	}
}

// open reopens the store, like a daemon after a crash.
func (x *run) open() {
	x.damaged = 0
	s, err := Open(x.files, Options{Retention: testRetention, MaxSize: x.most, MaxMemory: 4000, Now: func() time.Time {
		return x.now
	}, Damaged: func(error) { x.damaged++ }})
	if err != nil {
		x.Fatal(err)
	}
	x.store = s
}

// step performs an operation, and reports whether it reopened the store.
func (x *run) step() (reopened bool) {
	switch x.IntN(8) {
	case 0, 1, 2:
		x.put()
	case 3, 4:
		x.upload()
	case 5:
		if err := x.store.Sweep(); err != nil {
			x.Fatal(err)
		}
		x.sweep(testRetention)
		x.damaged = x.store.Stats().Damaged // some may have been deleted
	case 6:
		_ = x.files.Write("uploads/x.json.tmp", []byte("{"))
		_ = x.files.Write("tables/y.tmp", []byte("half"))
		x.open()
		return true
	case 7:
		x.damage()
		x.open() // otherwise the table is in memory
		return true
	}
	return false
}

func (x *run) put() {
	named := x.IntN(11)
	hash, b := x.all.body(x, x.IntN(8), named)
	stored, err := x.store.Put(hash, b)
	n := int64(len(b))
	old, ok := x.tables[hash]
	if ok && old.named >= named {
		if stored || err != nil {
			x.Fatalf("put %d names where there are %d: %v, %v", named, old.named, stored, err)
		}
		return
	}
	x.evict(x.most - n)
	if _, full := errors.AsType[*FullError](err); full != (x.bytes()+n > x.most) || !full && (err != nil || !stored) {
		x.Fatalf("put %d bytes, with %d of %d in use: %v, %v", n, x.bytes(), x.most, stored, err)
	} else if !full {
		x.tables[hash] = modelTable{named, n, x.now}
		x.date(tableName(hash), x.now)
	}
	x.damaged = x.store.Stats().Damaged // the table may replace a damaged one
}

func (x *run) upload() {
	u, first := symbols.Upload{Release: fmt.Sprint(x.IntN(3))}, x.IntN(8)
	for i := range 1 + x.IntN(3) {
		u.Scripts = append(u.Scripts, symbols.Script{Path: fmt.Sprintf("assets/%d.js", i),
			SHA256: hashOf((first + i) % 8)})
	}
	id, created, err := x.store.AddUpload(u)
	missing, refused := errors.AsType[*MissingError](err)
	if refused != x.missing(u) || !refused && err != nil {
		x.Fatalf("add %+v: %v, %v", u, missing, err)
	}
	if refused {
		return
	}
	u.ID, u.Time = id, x.now.UTC()
	same := func(v symbols.Upload) bool { return sameBuild(v, u) }
	if created == slices.ContainsFunc(x.uploads, same) {
		x.Fatalf("created %v", created)
	}
	x.uploads = slices.Insert(slices.DeleteFunc(x.uploads, same), 0, u)
}

// damage truncates a file.
func (x *run) damage() {
	if n := x.IntN(8); x.IntN(3) > 0 {
		hash := hashOf(n)
		if t, ok := x.tables[hash]; ok && t.named >= 0 {
			x.cut(tableName(hash), t.put)
			x.tables[hash] = modelTable{-1, 20, t.put}
		}
	} else if n < len(x.uploads) {
		x.cut(uploadName(x.uploads[n].ID), x.now)
		x.uploads = slices.Delete(x.uploads, n, n+1)
		x.unreadable = append(x.unreadable, x.now)
	}
}

func (x *run) cut(name string, written time.Time) {
	b, err := x.files.Read(name, 1<<20)
	if err == nil {
		err = x.files.Write(name, b[:20])
	}
	if err != nil {
		x.Fatal(err)
	}
	x.date(name, written)
}

// date sets the modification time of a file.
func (x *run) date(name string, written time.Time) {
	x.files.files[name] = memoryFile{x.files.files[name].body, written}
}

func checkStore(t *testing.T, s *Store, m *model) {
	t.Helper()
	if got := s.Uploads(); len(got)+len(m.uploads) > 0 && !reflect.DeepEqual(got, m.uploads) {
		t.Fatalf("uploads\n%+v\nnot\n%+v", got, m.uploads)
	}
	for n := range 8 {
		hash := hashOf(n)
		want, ok := m.tables[hash]
		ok = ok && want.named >= 0
		counts, err := s.Counts(hash)
		if (err == nil) != ok || ok && counts != (Counts{Functions: 10, Named: want.named}) {
			t.Fatalf("table %d: %+v, %v, not %+v", n, counts, err, want)
		}
		got, err := s.Table(hash)
		if s.Has(hash) != ok || (err == nil) != ok || ok && countsOf(got).Named != want.named {
			t.Fatalf("table %d: %v, %v, not %+v", n, s.Has(hash), err, want)
		}
	}
	damaged := len(m.unreadable)
	for _, x := range m.tables {
		if x.named < 0 {
			damaged++
		}
	}
	if got, want := s.Stats(), (Stats{len(m.uploads), len(m.tables), m.bytes(), damaged}); got != want {
		t.Fatalf("%+v, not %+v", got, want)
	}
}

// A reader sees the changes of the daemon.
func TestReaderSees(t *testing.T) {
	files := newMemory()
	r, err := OpenReader(files)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r.options.Now = func() time.Time { now = now.Add(lookEvery); return now }
	before := r.Generation()
	s, err := Open(files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash, b := body(t, 1, 5)
	if _, err := s.Put(hash, b); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AddUpload(symbols.Upload{Release: "A", Scripts: []symbols.Script{{Path: "a.js",
		SHA256: hash}}}); err != nil {
		t.Fatal(err)
	}
	if r.Generation() == before || len(r.Uploads()) != 1 {
		t.Errorf("generation %s, uploads %+v", r.Generation(), r.Uploads())
	}
	if table, err := r.Table(hash); err != nil || countsOf(table).Named != 5 {
		t.Errorf("table %v, %v", table, err)
	}
}

// The oldest uploads are deleted when tables exceed the limit.
func TestMaxSize(t *testing.T) {
	now := time.Now()
	_, b := body(t, 0, 5)
	s, err := Open(newMemory(), Options{MaxSize: int64(2*len(b) + len(b)/2), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		hash, b := body(t, n, 5)
		if _, err := s.Put(hash, b); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.AddUpload(symbols.Upload{Release: fmt.Sprint(n), Scripts: []symbols.Script{{Path: "a.js",
			SHA256: hash}}}); err != nil {
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

// Tables without an upload are limited, too, and nothing is written to a full disk.
func TestFull(t *testing.T) {
	_, b := body(t, 0, 5)
	var room error
	s, err := Open(newMemory(), Options{MaxSize: int64(2*len(b) + 3), Room: func(n int64) error {
		if n < 100 {
			t.Errorf("the store checked for %d bytes of free space", n)
		}
		return room
	}})
	if err != nil {
		t.Fatal(err)
	}
	put := func(n int) error {
		hash, b := body(t, n, 5)
		_, err := s.Put(hash, b)
		return err
	}
	for n := range 2 {
		if err := put(n); err != nil {
			t.Fatal(err)
		}
	}
	if _, full := errors.AsType[*FullError](put(2)); !full || s.Stats().Tables != 2 {
		t.Errorf("%+v", s.Stats())
	}
	room = ErrNoSpace
	if err := put(3); !errors.Is(err, ErrNoSpace) {
		t.Errorf("put: %v", err)
	}
	if _, _, err := s.AddUpload(of("a.js", hashOf(0))); !errors.Is(err, ErrNoSpace) || len(s.Uploads()) > 0 {
		t.Errorf("add: %v", err)
	}
}

// A table that is replaced while it is read is not cached.
func TestReplaced(t *testing.T) {
	s, err := Open(newMemory(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bodies [11][]byte
	for named := range bodies {
		_, bodies[named] = body(t, 1, named)
	}
	hash := hashOf(1)
	var wait sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wait.Go(func() {
			for last := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				if table, err := s.Table(hash); err == nil {
					if n := countsOf(table).Named; n < last {
						t.Errorf("%d functions are named, %d were before", n, last)
					} else {
						last = n
					}
				}
			}
		})
	}
	for named, b := range bodies {
		if stored, err := s.Put(hash, b); !stored || err != nil {
			t.Fatal(stored, err)
		}
		if table, err := s.Table(hash); err != nil || countsOf(table).Named != named {
			t.Errorf("%v, %v, not %d", table, err, named)
		}
	}
	close(stop)
	wait.Wait()
}

func TestRefused(t *testing.T) {
	s, err := Open(newMemory(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash, b := body(t, 1, 5)
	other, _ := body(t, 2, 5)
	for what, put := range map[string]func() error{
		"is not a SHA-256":     func() error { _, err := s.Put("../../etc/passwd", b); return err },
		"does not begin with":  func() error { _, err := s.Put(hash, []byte("<html>")); return err },
		"it belongs to script": func() error { _, err := s.Put(other, b); return err },
		"scripts: none":        func() error { _, _, err := s.AddUpload(symbols.Upload{}); return err },
		"scripts: 20001": func() error {
			_, _, err := s.AddUpload(symbols.Upload{Scripts: make([]symbols.Script, 20001)})
			return err
		},
		`"../a.js" is not a relative path`: func() error {
			_, _, err := s.AddUpload(of("../a.js", hash))
			return err
		},
		`"a/../../b" is not a relative path`: func() error {
			_, _, err := s.AddUpload(of("a/../../b", hash))
			return err
		},
		"path: 2000 bytes": func() error {
			_, _, err := s.AddUpload(of(strings.Repeat("a", 2000), hash))
			return err
		},
		"control characters": func() error { _, _, err := s.AddUpload(of("a\x00b", hash)); return err },
		"scripts[0]: sha256": func() error { _, _, err := s.AddUpload(of("a.js", "x")); return err },
		"is not a commit hash": func() error {
			return add(s, hash, func(u *symbols.Upload) { u.Commit = "main" })
		},
		"is not an address such as": func() error {
			return add(s, hash, func(u *symbols.Upload) { u.RepositoryURL = "javascript:alert(1)" })
		},
		"commits: 1001, the most": func() error {
			return add(s, hash, func(u *symbols.Upload) { u.Commits = make([]symbols.Commit, 1001) })
		},
		"commits[0]: title": func() error {
			return add(s, hash, func(u *symbols.Upload) {
				u.Commits = []symbols.Commit{{SHA: "0123abc", Title: "a\nb"}}
			})
		},
		"bytes of names, titles and files": func() error {
			files := slices.Repeat([]string{strings.Repeat("f", 1000)}, 1100)
			return add(s, hash, func(u *symbols.Upload) {
				u.Commits = []symbols.Commit{{SHA: "0123abc", Files: files}}
			})
		},
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

// add adds an upload of one edited script.
func add(s *Store, hash string, edit func(*symbols.Upload)) error {
	u := of("a.js", hash)
	edit(&u)
	_, _, err := s.AddUpload(u)
	return err
}

func of(path, hash string) symbols.Upload {
	return symbols.Upload{Scripts: []symbols.Script{{Path: path, SHA256: hash}}}
}

func TestConcurrent(t *testing.T) {
	s, err := Open(newMemory(), Options{MaxMemory: 3000})
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
