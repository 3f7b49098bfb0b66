package rollups

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"20261120.hours.sums":     "hours 2026-11-20 to 2026-11-21",
		"202611.days.sums":        "days 2026-11-01 to 2026-12-01",
		"202612.days.sums":        "days 2026-12-01 to 2027-01-01",
		"20261120.hours":          "",
		"20261120.days.sums":      "",
		"202611.hours.sums":       "",
		"20261131.hours.sums":     "",
		"2026112.hours.sums":      "",
		"20261120.hours.sums.tmp": "",
	} {
		got := ""
		if s, start, ok := ParseName(name); ok {
			got = fmt.Sprintf("%v %s to %s", s, start.Format("2006-01-02"), s.EndOf(start).Format("2006-01-02"))
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// writeFile writes the file of aDay anew, with an hour, and returns its path.
func writeFile(tb testing.TB, dir string, hour int) (path string, want *contents) {
	tb.Helper()
	s, want := load(tb, tb.TempDir(), nil), newContents()
	w, sum := randomHour(tb, rand.New(rand.NewPCG(uint64(hour), 9)), s, want, Hours, hourStart(hour), 4)
	f := commit(tb, w, sum)
	path = filepath.Join(dir, f.Name())
	if err := os.Rename(filepath.Join(s.dir, f.Name()), path); err != nil {
		tb.Fatal(err)
	}
	return path, want
}

// change rewrites a file with other bytes.
func change(tb testing.TB, path string, f func(data []byte) []byte) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(data), 0o644)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// What is damaged is set aside, with the reason and what it had, and is never overwritten.
func TestLoadDamaged(t *testing.T) {
	dir := t.TempDir()
	damages := []struct {
		name  string
		bytes func(data []byte) []byte
		sums  bool // can still be read
	}{
		{"no end", func(data []byte) []byte { return data[:len(data)/2] }, true},
		{"trailer", func(data []byte) []byte { data[len(data)-20] ^= 1; return data }, true},
		{"all zeros", func(data []byte) []byte { clear(data); return data }, false},
		{"empty", func([]byte) []byte { return nil }, false},
		{"other file", func(data []byte) []byte { return []byte(strings.Repeat("text\n", 100)) }, false},
	}
	var wantNames []string
	for i, d := range damages {
		path, want := writeFile(t, dir, i)
		change(t, path, d.bytes)
		name := filepath.Base(path) + asideSuffix
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i+1)
		}
		wantNames = append(wantNames, name)
		s := load(t, dir, nil)
		for range 2 { // as it is set aside, and as it is found later
			a := s.Aside()
			if len(s.Files()) > 0 || len(a) != i+1 || a[i].Name != name || a[i].Of != filepath.Base(path) || a[i].Start != aDay ||
				!strings.Contains(a[i].Reason, store.ErrDamaged.Error()) {
				t.Fatalf("%s: got %d files and aside %+v, want %v", d.name, len(s.Files()), a, wantNames)
			}
			if d.sums != reflect.DeepEqual(a[i].Sums, want.sums) {
				t.Errorf("%s: got sums %v, want %v: %v", d.name, a[i].Sums, want.sums, d.sums)
			}
			s = load(t, dir, nil)
		}
	}
	s := load(t, dir, nil)
	if err := s.Remove(wantNames...); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || len(s.Aside()) > 0 || err != nil {
		t.Errorf("got %v and %v left, %v, want nothing", left, s.Aside(), err)
	}
}

// A file that has the name of another is as wrong as damage.
func TestRenamed(t *testing.T) {
	dir := t.TempDir()
	path, _ := writeFile(t, dir, 0)
	other := filepath.Join(dir, "20261121.hours.sums")
	if err := os.Rename(path, other); err != nil {
		t.Fatal(err)
	}
	_, err := Open(other, nil)
	wantDamage(t, err)
}

// What can not be opened for another reason stays where it is and is tried again.
func TestFaulty(t *testing.T) {
	dir := t.TempDir()
	elsewhere, want := writeFile(t, t.TempDir(), 0)
	path := filepath.Join(dir, filepath.Base(elsewhere))
	if err := os.Mkdir(path, 0o755); err != nil { // can be opened, and not read
		t.Fatal(err)
	}
	s, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Retry()
	if f := s.Faulty(); len(f) != 1 || f[0].Name != filepath.Base(path) || f[0].Err == nil || f[0].Start != aDay || len(s.Aside()) > 0 {
		t.Fatalf("got faulty %v and aside %v, want %s faulty", f, s.Aside(), path)
	}
	if _, err := s.Edit(Hours, hourStart(1)); err == nil {
		t.Error("a faulty file can be written")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	s.Retry()
	if len(s.Faulty()) > 0 {
		t.Errorf("got faulty %v, want none", s.Faulty())
	}
	wantFiles(t, s, map[string]*contents{filepath.Base(path): want})
}

// A file of a newer program is no damage.
func TestNewerVersion(t *testing.T) {
	dir := t.TempDir()
	path, _ := writeFile(t, dir, 0)
	change(t, path, func(data []byte) []byte {
		end := data[len(data)-trailerSize:]
		end[8+4+4+4] = version + 1
		return append(data[:len(data)-trailerSize], resealed(end)...)
	})
	s, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := s.Faulty(); len(f) != 1 || errors.Is(f[0].Err, store.ErrDamaged) || !strings.Contains(f[0].Err.Error(), "version 2") {
		t.Errorf("got faulty %v, want one of version 2", f)
	}
}

func TestEditRules(t *testing.T) {
	s := load(t, t.TempDir(), nil)
	w, err := s.Edit(Hours, hourStart(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Edit(Hours, hourStart(2)); !errors.Is(err, ErrBusy) {
		t.Errorf("two writers of a file: got %v, want %v", err, ErrBusy)
	}
	other, err := s.Edit(Days, hourStart(0))
	if err != nil {
		t.Fatal(err)
	}
	other.Abort()
	table, _, err := w.Stacks("/b")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put("/a", table, 1, [3][]byte{}); err == nil {
		t.Error("a page takes the stack table of another")
	}
	if err := w.Put("/b", trie.New(), 1, [3][]byte{}); err == nil {
		t.Error("a page takes any stack table")
	}
	if err := w.Put("/b", table, 1, [3][]byte{}); err != nil {
		t.Fatal(err)
	}
	if table, _, err = w.Stacks("/a"); err != nil {
		t.Fatal(err)
	}
	if err := w.Put("/a", table, 1, [3][]byte{}); err == nil {
		t.Error("pages come in any order")
	}
	w.Count("/b", store.Tag{}, Count{Traces: 1})
	w.Count("/b", store.Tag{}, Count{Traces: 1})
	if _, err := w.Commit(Sum{}); err == nil {
		t.Error("a page is counted twice")
	}
	w.Abort()
	if left, _ := os.ReadDir(s.dir); len(left) > 0 {
		t.Errorf("got %v left, want nothing", left)
	}
	if w, err = s.Edit(Hours, hourStart(1)); err != nil {
		t.Fatal(err)
	}
	commit(t, w, Sum{})
	if _, err := w.Commit(Sum{}); err == nil {
		t.Error("a writer commits twice")
	}
}

// A file that is removed or set aside while it is written anew does not come back.
func TestRemovedWhileWritten(t *testing.T) {
	for name, remove := range map[string]func(s *Shelf, f *File) error{
		"removed":   func(s *Shelf, f *File) error { return s.Remove(f.Name()) },
		"set aside": func(s *Shelf, f *File) error { return s.SetAside(f, errors.New("test")) },
	} {
		dir, r := t.TempDir(), rand.New(rand.NewPCG(2, 2))
		path, want := writeFile(t, dir, 0)
		s := load(t, dir, nil)
		f := s.Files()[0]
		w, sum := randomHour(t, r, s, newContents(), Hours, hourStart(1), 3)
		if err := remove(s, f); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(sum); err == nil {
			t.Errorf("%s: it was committed", name)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, want no file", name, err)
		}
		wantContents(t, f, want) // who holds it goes on reading
		next := newContents()
		w, sum = randomHour(t, r, s, next, Hours, hourStart(1), 3)
		wantContents(t, commit(t, w, sum), next)
	}
}

// What was read of a file is never taken for what its successor has, nor the other way round.
func TestCacheOfReplaced(t *testing.T) {
	r, cache := rand.New(rand.NewPCG(4, 4)), newCache(t)
	s := load(t, t.TempDir(), cache)
	var files []*File
	var wants []*contents
	for range 10 {
		want := newContents()
		w, sum := randomHour(t, r, s, want, Hours, hourStart(0), 4)
		files, wants = append(files, commit(t, w, sum)), append(wants, want)
		for range 2 {
			for i, f := range files {
				wantContents(t, f, wants[i])
			}
		}
	}
	hit := files[0].Pages()
	for page := range hit {
		if _, ok := cache.get(files[0].key(place{kind: kindStacks, page: page})); !ok {
			t.Errorf("stack table of %q is not kept", page)
		}
	}
}

// Descriptors of files that nobody holds are closed in time.
func TestDescriptors(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc")
		}
		return len(names)
	}
	r := rand.New(rand.NewPCG(6, 6))
	s := load(t, t.TempDir(), newCache(t))
	before := open()
	for range 200 {
		w, sum := randomHour(t, r, s, newContents(), Hours, hourStart(r.IntN(5)), 2)
		commit(t, w, sum)
	}
	for range 100 {
		runtime.GC() // closing takes a goroutine of the runtime
		if open() < before+50 {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("got %d descriptors, want less than %d", open(), before+50)
}

// Blocks of any length come back, and are bounded by the length that is stated.
func TestBlocks(t *testing.T) {
	s := load(t, t.TempDir(), nil)
	w, err := s.Edit(Hours, hourStart(0))
	if err != nil {
		t.Fatal(err)
	}
	f := commit(t, w, Sum{})
	for _, n := range []int{0, 1, 255, 256, 1 << 20, 5 << 20} {
		raw := bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]
		l := w.pack(place{}, raw)
		got, err := f.decompress(l.block, l.data)
		if err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
		l.raw++
		_, err = f.decompress(l.block, l.data)
		wantDamage(t, err)
	}
}

// Adding up what files have is adding up the traces.
func TestSumsAreTraces(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	s, want := load(t, t.TempDir(), nil), newContents()
	all := rollup.NewBuilder("/a", trie.New(), rollup.Limits{})
	var f *File
	for i := range 24 {
		w, err := s.Edit(Hours, hourStart(i))
		if err != nil {
			t.Fatal(err)
		}
		traces := []*trie.Trace{randomTrace(r, "/a"), randomTrace(r, "/a")}
		for _, t := range traces {
			all.Begin(1)
			all.Add(t)
			all.End()
		}
		want.begin(Sum{Start: hourStart(i)})
		put(t, w, want, "/a", traces...)
		f = commit(t, w, Sum{})
	}
	one := func(trie.Labels) (trie.Labels, bool) { return nil, true }
	got := rollup.NewSum(one)
	stacks, err := f.Stacks("/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range slices.Backward(f.Sums()) {
		rec, _, err := f.Record("/a", x.Start, rollup.Narrow, stacks)
		if err != nil {
			t.Fatal(err)
		}
		got.Add(rec, stacks)
	}
	rec, err := all.Record()
	if err != nil {
		t.Fatal(err)
	}
	whole := rollup.NewSum(one)
	whole.Add(rec, all.Stacks())
	if !got.Profile().Equal(whole.Profile()) {
		t.Error("the sum of 24 hours is not that of their traces")
	}
}
