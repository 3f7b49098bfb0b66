package part

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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
		if got, err := parseClean(whole[i+1:]); err == nil && i+1 != bytes.IndexByte(whole, '{') { // which is that of format 2
			t.Errorf("begun at %d: got %+v", i+1, got)
		}
	}
}

// That of format 2 has no checksum. It is believed if it has just what it must have.
func TestCleanOfFormat2(t *testing.T) {
	const old = `{"traces":80,"entries":90,"commits":4,"last_commit":4,"first_us":1795262700000000,"last_us":1795262705000000,"lost_traces":0,"lost_commits":0,"tables":2}` + "\n"
	if got, err := parseClean([]byte(old)); err != nil || got.Traces != 80 || got.Last != 1795262705000000 {
		t.Errorf("got %+v, %v", got, err)
	}
	for what, bad := range map[string]string{
		"a key":           strings.Replace(old, "commits", "coomits", 1),
		"an earlier time": strings.Replace(old, `"last_us":1795`, `"last_us":1395`, 1),
		"no end":          strings.TrimSuffix(old, "\n"),
		"two of them":     old + old,
	} {
		if got, err := parseClean([]byte(bad)); err == nil {
			t.Errorf("%s: got %+v", what, got)
		}
	}
	dir, part := filled(t, 40)
	path := filepath.Join(part, cleanFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[bytes.IndexByte(b, '{'):], 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	wantEntries(t, s, 40)
	if err := s.SealAll(); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(path); err != nil || !bytes.HasPrefix(b, []byte(cleanStart)) {
		t.Errorf("after it was sealed it is %q, %v", b, err)
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
