package commits

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// Records are found at any position in a file, including at the border of two windows.
func TestScan(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	m := mark(randomBody(r, markSize))
	var file []byte
	want := map[string][]byte{}
	for i := 0; len(file) < 3*window; i++ {
		file = append(file, randomBody(r, r.IntN(100))...)
		if r.IntN(5) == 0 {
			file = append(file, m[:r.IntN(markSize)]...)
		}
		key, body := string(rune('a'+i%26))+string(rune(i)), randomBody(r, r.IntN(1<<r.IntN(19)))
		rec := record{key: key, at: time.UnixMicro(int64(i)), part: 0, parts: 1, body: body}
		file = append(file, rec.encode(m)...)
		want[key] = body
	}
	g := &generation{mark: m, path: t.TempDir(), fs: disk.OS}
	if err := os.WriteFile(filepath.Join(g.path, "1.sst"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scan(g)
	if err != nil || s.damaged != 0 || len(s.commits) != len(want) {
		t.Fatalf("got %d of %d, %d damaged, %v", len(s.commits), len(want), s.damaged, err)
	}
	for key, body := range want {
		if got, err := s.commits[key].read(disk.OS, key); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q: got %d bytes, %v, want %d", key, len(got), err, len(body))
		}
	}
}

// In random files, scanning finds only valid records.
func FuzzScan(f *testing.F) {
	m := mark{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	one := record{key: "seg/a", at: time.UnixMicro(7), part: 1, parts: 2, body: []byte("abc")}
	gone := record{key: "seg/b", at: time.UnixMicro(8)}
	f.Add(append(one.encode(m), gone.encode(m)...))
	f.Add(one.encode(m)[:headSize+3])
	f.Add(m[:])
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newContent()
		if used := s.scanBytes(m, "", 0, data, true); used < 0 || used > len(data)+markSize {
			t.Fatalf("used %d of %d bytes", used, len(data))
		}
		for key, c := range s.commits {
			for part, at := range c.parts {
				if at.size == 0 {
					continue
				}
				r, n, ok := decodeRecord(data[at.offset:])
				if !ok || n != at.size || r.key != key || r.part != part ||
					!bytes.Equal(r.encode(m), data[at.offset:][:n]) {
					t.Fatalf("%q, part %d: %+v of %d bytes", key, part, r, n)
				}
			}
		}
	})
}
