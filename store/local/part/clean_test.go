package part

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// No byte of CLEAN can be another, or missing, without being noticed. All bits are flipped.
func TestDamagedClean(t *testing.T) {
	want := Contents{Traces: 80, Entries: 90, Commits: 4, LastCommit: 4, First: 1795262700000000, Last: 1795262705000000, Tables: 2, Sealed: true}
	whole, err := appendClean(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parseClean(whole); err != nil || got != want {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	for i := range whole {
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			if got, err := parseClean(bad); err == nil {
				t.Errorf("bit %d of byte %d (%q) flipped: got %+v", bit, i, whole[i], got)
			}
		}
		if got, err := parseClean(whole[:i]); err == nil {
			t.Errorf("cut off at %d: got %+v", i, got)
		}
		if got, err := parseClean(whole[i+1:]); err == nil {
			t.Errorf("begun at %d: got %+v", i+1, got)
		}
	}
}

// A partition whose CLEAN is damaged is counted anew, and has all that it had.
func TestDamagedCleanLosesNothing(t *testing.T) {
	from, part := filled(t, 40)
	before, err := readClean(part)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(part, cleanFile))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < int(info.Size()); at += 7 {
		dir := copyDir(t, from)
		flip(t, filepath.Join(dir, filepath.Base(part), cleanFile), at)
		s := open(t, dir)
		wantEntries(t, s, 40)
		if got := s.All()[0].Contents; got.First != before.First || got.Last != before.Last || got.Traces != before.Traces || got.LostTraces != 0 {
			t.Errorf("byte %d: got %+v, want %+v", at, got, before)
		}
		closeShelf(t, s)
	}
}

func FuzzParseClean(f *testing.F) {
	whole, err := appendClean(Contents{Traces: 1, Entries: 1, Commits: 1, LastCommit: 1, First: 1, Last: 2, Tables: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[bytes.IndexByte(whole, '{'):])
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseClean(b)
		if err != nil {
			return
		}
		again, err := appendClean(c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseClean(again); err != nil || got != c {
			t.Errorf("%+v became %+v, %v", c, got, err)
		}
	})
}
