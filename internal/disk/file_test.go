package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// A failed write leaves the old file intact: files are replaced atomically.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "another"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != text || err != nil || fi.Mode() != 0o600 {
			t.Errorf("got %q, %v, mode %v, want %q for the owner alone", got, err, fi.Mode(), text)
		}
	}
	// A directory cannot be replaced. A failed attempt leaves no temporary file.
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(blocked, []byte("x")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The size of a file is its disk space: Badger's files are sparse.
func TestBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holes")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := Bytes(fi); n > 1<<20 {
		t.Errorf("got %d bytes of a file of holes, want next to nothing", n)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "full"), make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := TreeBytes(filepath.Dir(path)); n < 100_000 || n > 1<<20 {
		t.Errorf("got %d bytes of both, want at least 100000", n)
	}
}
