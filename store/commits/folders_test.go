package commits

import (
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// A commit is acknowledged only after all folders above its file were synced: the folder of the
// log, of its generation, and the folder that contains the log. So a commit must fail if one of
// them cannot be synced.
func TestFoldersAreWrittenOut(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "commits")
	for what, is := range map[string]func(path string) bool{
		"the folder above the log":   func(path string) bool { return path == above },
		"the folder of the log":      func(path string) bool { return path == dir },
		"the folder of a generation": func(path string) bool { return filepath.Dir(path) == dir },
	} {
		f := &faultyfs.FS{}
		l, err := Open(dir, Options{FS: f})
		if err != nil {
			t.Fatal(err)
		}
		f.Set(faultyfs.Fault{N: 1, Only: func(o faultyfs.Op) bool { return o.Kind == faultyfs.Sync && is(o.Path) }})
		if err := l.Put(t.Context(), "seg/20261128T19/0123456789ab-00000001", []byte("x")); err == nil {
			t.Errorf("the commit was acknowledged although %s was not synced", what)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
