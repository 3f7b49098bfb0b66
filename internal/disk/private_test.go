//go:build unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMakePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	make := func(name string, mode fs.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	make("FORMAT", 0o644)
	make("20261121.hours.sums", 0o664)
	make("20261121T08/000001.sst", 0o666)
	make("20261121T08/deeper/file", 0o644)
	make("private/left", 0o644)
	if err := os.Chmod(filepath.Join(dir, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{dir: 0o755, filepath.Join(dir, "20261121T08"): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := MakePrivate(OS, dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]fs.FileMode{
		"": 0o750, "FORMAT": 0o600, "20261121.hours.sums": 0o600, "20261121T08": 0o700, "20261121T08/000001.sst": 0o600,
		"20261121T08/deeper": 0o700, "20261121T08/deeper/file": 0o600, "private/left": 0o644, // unreachable
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
	if err := MakePrivate(OS, filepath.Join(dir, "none")); err == nil {
		t.Error("there is no such directory, and no error")
	}
}
