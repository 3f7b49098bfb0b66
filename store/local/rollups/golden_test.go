package rollups

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenFile writes the file of which the bytes are kept in testdata.
func goldenFile(t *testing.T) (*File, *contents) {
	r := rand.New(rand.NewPCG(10, 10))
	s, want := load(t, t.TempDir(), nil), newContents()
	var f *File
	for i := range 2 {
		w, sum := randomHour(t, r, s, want, Days, hourStart(24*i), 2)
		f = commit(t, w, sum)
	}
	return f, want
}

// The bytes of version 1 are read for ever, and are what is written. A compressor may write
// others some time: then -update rewrites what is written, and v1 stays.
func TestGolden(t *testing.T) {
	f, want := goldenFile(t)
	data := make([]byte, f.Size())
	if err := f.readAt(data, 0); err != nil {
		t.Fatal(err)
	}
	v1 := filepath.Join("testdata", "v1", f.Name())
	if *update {
		if _, err := os.Stat(v1); errors.Is(err, fs.ErrNotExist) {
			writeGolden(t, v1, data)
		}
	}
	old, err := Open(v1, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantContents(t, old, want)
	name := filepath.Join("testdata", f.Name()+".txt")
	got := []byte(dump(data))
	if *update {
		writeGolden(t, name, got)
	}
	golden, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, golden) {
		g, w := bytes.Split(got, []byte("\n")), bytes.Split(golden, []byte("\n"))
		for i := range min(len(g), len(w)) {
			if !bytes.Equal(g[i], w[i]) {
				t.Fatalf("line %d:\ngot  %s\nwant %s\nif that is meant, -update rewrites it", i+1, g[i], w[i])
			}
		}
		t.Fatalf("got %d lines, want %d", len(g), len(w))
	}
}

func writeGolden(t *testing.T, path string, data []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
