package commits

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	damaged := o.Warn != nil // the test damages files and checks the warnings
	if !damaged {
		o.Warn = func(err error) { t.Log(err) }
	}
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if l.Lost() > 0 && !damaged {
		t.Errorf("%d records are lost", l.Lost())
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// settle waits until generations that take no more commits are closed.
func (l *Log) settle() {
	l.mu.Lock()
	all := slices.Clone(l.generations)
	l.mu.Unlock()
	for _, g := range all {
		l.mu.Lock()
		ending := g.state >= retired && g.ended != nil
		l.mu.Unlock()
		if ending {
			<-g.ended
		}
	}
}

// model is the expected content of a log.
type model map[string][]byte

func (m model) check(t *testing.T, what string, l *Log) {
	t.Helper()
	var keys []string
	for _, e := range l.List("", "") {
		keys = append(keys, e.Key)
		body, err := l.Get(t.Context(), e.Key, 1<<30)
		if err != nil || !bytes.Equal(body, m[e.Key]) || e.Size != int64(len(body)) {
			t.Fatalf("%s: %s: got %d bytes, %v, want %d", what, e.Key, len(body), err, len(m[e.Key]))
		}
	}
	if want := slices.Sorted(maps.Keys(m)); !slices.Equal(keys, want) {
		t.Fatalf("%s: got %q, want %q", what, keys, want)
	}
}

func randomBody(r *rand.Rand, n int) []byte {
	body := make([]byte, n)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	return body
}

// image returns a copy of the files of a log, as a killed process leaves them.
func image(t *testing.T, dir string, of *Log) string {
	t.Helper()
	of.settle() // files change while generations are closed
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// A log contains the commits that were put and not deleted: while it is used, after it was closed,
// and after it was killed between any two calls.
func TestModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 4 {
		dir, want := t.TempDir(), model{}
		o := Options{MaxBytes: 1 << (16 + r.IntN(6))}
		l := open(t, dir, o)
		for step := range 80 {
			what := fmt.Sprintf("round %d, step %d", round, step)
			switch r.IntN(12) {
			case 0, 1, 2, 3, 4, 5:
				size := r.IntN(1 << (4 + r.IntN(14)))
				if r.IntN(12) == 0 {
					size = maxPart - 2 + r.IntN(3*maxPart) // several parts, or nearly
				}
				key, body := fmt.Sprintf("seg/%d/%d", round, step), randomBody(r, size)
				if err := l.Put(t.Context(), key, body); err != nil {
					t.Fatal(err)
				}
				if r.IntN(10) == 0 {
					if err := l.Put(t.Context(), key, body); err != nil { // the response was lost
						t.Fatal(err)
					}
				}
				want[key] = body
			case 6, 7, 8:
				keys := []string{"seg/none"}
				for key := range want {
					if r.IntN(2) == 0 {
						keys = append(keys, key)
						delete(want, key)
					}
				}
				if err := l.Delete(t.Context(), keys...); err != nil {
					t.Fatal(err)
				}
			case 9:
				want.check(t, what, l)
			case 10:
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				l = open(t, dir, o)
				want.check(t, what+", opened again", l)
			default:
				to := image(t, dir, l)
				want.check(t, what+", killed, to read", open(t, to, Options{ReadOnly: true}))
				killed := open(t, to, o)
				want.check(t, what+", killed", killed)
				if r.IntN(3) == 0 {
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
					dir, l = to, killed
				} else if err := killed.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := l.Delete(t.Context(), slices.Collect(maps.Keys(want))...); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("round %d: %v is left after all commits were deleted, %v", round, left, err)
		}
	}
}

// Damage affects only the commits that contain it, and all others are returned unchanged. Truncated
// files do not prevent a start.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir, want := t.TempDir(), model{}
	l := open(t, dir, Options{MaxBytes: 6 << 20})
	const commits = 150
	for i := range commits { // enough for logs and tables
		key := fmt.Sprintf("seg/%03d", i)
		want[key] = randomBody(r, 100<<10)
		if err := l.Put(t.Context(), key, want[key]); err != nil {
			t.Fatal(err)
		}
	}
	l.settle()
	for round := range 12 {
		to := image(t, dir, l)
		var files []string
		for _, pattern := range []string{"*/*.mem", "*/*.sst", "*/MANIFEST", "*/KEYREGISTRY", "*/*.vlog"} {
			more, err := filepath.Glob(filepath.Join(to, pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
		flips := 1 + r.IntN(3)
		for range flips {
			path := files[r.IntN(len(files))]
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 0 {
				at := r.IntN(len(data))
				copy(data[at:min(len(data), at+512)], randomBody(r, 512)) // a sector
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ignore := func(error) {}
		l := open(t, to, Options{Warn: ignore})
		got := l.List("", "")
		if len(got) < commits-2*flips {
			t.Errorf("round %d: %d of %d commits are left after damage in %d places", round, len(got), commits, flips)
		}
		for _, e := range got {
			if body, err := l.Get(t.Context(), e.Key, 1<<20); err != nil || !bytes.Equal(body, want[e.Key]) {
				t.Fatalf("round %d: %s differs from what was put: %v", round, e.Key, err)
			}
		}
		if err := l.Put(t.Context(), "seg/more", []byte("more")); err != nil {
			t.Fatal(err)
		}
		path := files[r.IntN(len(files))]
		if info, err := os.Stat(path); err == nil {
			if err := os.Truncate(path, r.Int64N(info.Size()+1)); err != nil {
				t.Fatal(err)
			}
		}
		cut := image(t, to, l)
		body, err := open(t, cut, Options{Warn: ignore}).Get(t.Context(), "seg/more", 10)
		if err != nil || string(body) != "more" {
			t.Fatalf("round %d: a truncated file affects other commits: %q, %v", round, body, err)
		}
	}
}

// Many goroutines put, read and delete concurrently, while generations are created and removed.
func TestAtOnce(t *testing.T) {
	l := open(t, t.TempDir(), Options{MaxBytes: 256 << 10})
	var group sync.WaitGroup
	for who := range 8 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(who), 5))
			for i := range 60 {
				key, body := fmt.Sprintf("seg/%d/%d", who, i), randomBody(r, r.IntN(20<<10))
				if err := l.Put(t.Context(), key, body); err != nil {
					t.Error(err)
				}
				if got, err := l.Get(t.Context(), key, 1<<20); err != nil || !bytes.Equal(got, body) {
					t.Errorf("%s: got %d bytes, %v", key, len(got), err)
				}
				if i >= 5 {
					if err := l.Delete(t.Context(), fmt.Sprintf("seg/%d/%d", who, i-5)); err != nil {
						t.Error(err)
					}
				}
				l.List("", "")
			}
		})
	}
	group.Wait()
	if got := len(l.List("", "")); got != 8*5 {
		t.Errorf("got %d commits, want %d", got, 8*5)
	}
}

// Keys and commits that are too large are rejected, and so are all writes to a closed or read-only
// log.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	if err := l.Put(t.Context(), strings.Repeat("k", maxKey+1), nil); err == nil {
		t.Error("a key that is too long is accepted")
	}
	if err := l.Put(t.Context(), "seg/a", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Get(t.Context(), "seg/a", 2); err == nil {
		t.Error("more is read than is allowed")
	}
	if _, err := l.Get(t.Context(), "seg/b", 2); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	reader := open(t, dir, Options{ReadOnly: true})
	if err := reader.Put(t.Context(), "seg/b", nil); err == nil {
		t.Error("a read-only log accepts a commit")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Put(t.Context(), "seg/b", nil); err == nil {
		t.Error("a closed log accepts a commit")
	}
	if _, err := l.Get(t.Context(), "seg/a", 3); err == nil {
		t.Error("a closed log returns a commit")
	}
}

// A generation is retired at its maximum age.
func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	l := open(t, dir, Options{Now: func() time.Time { return now }})
	for i := range 3 {
		if err := l.Put(t.Context(), fmt.Sprint("seg/", i), []byte("a")); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	l.settle()
	if got, err := os.ReadDir(dir); err != nil || len(got) != 3 {
		t.Errorf("got %v, %v", got, err)
	}
	// This creates a fourth generation, which has the deletions.
	if err := l.Delete(t.Context(), "seg/0", "seg/2"); err != nil {
		t.Fatal(err)
	}
	l.settle()
	if got := l.List("", ""); len(got) != 1 || got[0].Key != "seg/1" || !got[0].At.Equal(now.Add(-2*time.Hour)) {
		t.Errorf("got %v", got)
	}
}
