package rollups

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// After any edits, files have what a plain map has: to who wrote them, to who opens them
// anew, and to who holds one that was replaced meanwhile.
func TestModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			dir, cache := t.TempDir(), newCache(t)
			s := load(t, dir, cache)
			want := map[string]*contents{}
			old := map[*File]*contents{}
			for range 25 {
				span, start := Hours, hourStart(r.IntN(30))
				if r.IntN(3) == 0 {
					span, start = Days, hourStart(24*r.IntN(14))
				}
				name := span.Name(TimeOf(start))
				if want[name] == nil {
					want[name] = newContents()
				}
				next := want[name].clone()
				w, sum := randomHour(t, r, s, next, span, start, 1+r.IntN(8))
				if r.IntN(5) == 0 {
					w.Abort()
					if len(want[name].sums) == 0 {
						delete(want, name)
					}
					continue
				}
				f := commit(t, w, sum)
				want[name] = next
				old[f] = next
				wantContents(t, f, next)
				if r.IntN(6) == 0 {
					s = load(t, dir, cache)
				}
				wantFiles(t, s, want)
			}
			for f, c := range old {
				wantContents(t, f, c)
			}
			wantFiles(t, load(t, dir, nil), want)
		})
	}
}

// wantFiles fails unless s has the files of want and no others.
func wantFiles(tb testing.TB, s *Shelf, want map[string]*contents) {
	tb.Helper()
	files := s.Files()
	if len(files) != len(want) || len(s.Aside()) > 0 {
		tb.Fatalf("got %d files and %d aside, want %d files", len(files), len(s.Aside()), len(want))
	}
	for i, f := range files {
		if want[f.Name()] == nil || i > 0 && files[i-1].Name() >= f.Name() {
			tb.Fatalf("file %s after %s, want those of %v", f.Name(), files[max(i, 1)-1].Name(), maps.Keys(want))
		}
		wantContents(tb, f, want[f.Name()])
	}
}

// A stack table that grows with each hour has few pieces, whatever the number of hours.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	s, want := load(t, t.TempDir(), nil), newContents()
	most := 0
	for i := range 24 {
		w, err := s.Edit(Hours, hourStart(i))
		if err != nil {
			t.Fatal(err)
		}
		want.begin(Sum{Start: hourStart(i)})
		put(t, w, want, "/a", randomTrace(r, "/a"))
		f := commit(t, w, Sum{})
		_, d, err := f.directory("/a")
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(d.stacks))
		wantContents(t, f, want)
	}
	if most != maxPieces {
		t.Errorf("got %d pieces at most, want %d", most, maxPieces)
	}
}

// Whatever moment ends a commit, the file is as before or as after it.
func TestCrash(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	dir := t.TempDir()
	s := load(t, dir, nil)
	before := newContents()
	w, sum := randomHour(t, r, s, before, Hours, hourStart(3), 5)
	commit(t, w, sum)
	after := before.clone()
	w, sum = randomHour(t, r, s, after, Hours, hourStart(4), 5)
	copies := map[string]string{}
	s.step = func(done string) {
		copies[done] = t.TempDir()
		if err := os.CopyFS(copies[done], os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}
	commit(t, w, sum)
	steps := map[string]*contents{"written": before, "header written": before, "synced": before, "renamed": after}
	for step, want := range steps {
		copied := copies[step]
		if copied == "" {
			t.Fatalf("step %q was not done", step)
		}
		if step != "renamed" {
			cutTail(t, filepath.Join(copied, w.name+tmpSuffix), r)
		}
		s := load(t, copied, nil)
		wantFiles(t, s, map[string]*contents{w.name: want})
		if left, _ := filepath.Glob(filepath.Join(copied, "*")); len(left) != 1 {
			t.Errorf("after %q: got %v, want one file", step, left)
		}
		again := want.clone()
		w, sum := randomHour(t, r, s, again, Hours, hourStart(5), 5)
		wantContents(t, commit(t, w, sum), again)
	}
}

// cutTail does to a file what is not synced yet: some of its end may be missing.
func cutTail(tb testing.TB, path string, r *rand.Rand) {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Truncate(path, r.Int64N(info.Size())); err != nil {
		tb.Fatal(err)
	}
}
