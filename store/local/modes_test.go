package local_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/local"
)

// ofOthers are the files that Badger makes, which has a mind of its own, and that which readers
// share.
var ofOthers = regexp.MustCompile(`^(LOCK|DISCARD|\d+\.(vlog|sst))$`)

// Nobody but the owner reads a data directory: traces name what users do. What others may read
// is in directories that they may not enter.
func TestModes(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := filepath.Join(t.TempDir(), "data")
	s := variedStore(t, dir, c)
	check := func(dir string) {
		t.Helper()
		files := 0
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if ofOthers.MatchString(e.Name()) {
				return nil
			}
			fi, err := e.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if e.IsDir() {
				want = fs.ModeDir | 0o700
			} else {
				files++
			}
			if fi.Mode() != want {
				t.Errorf("%s: got mode %v, want %v", path, fi.Mode(), want)
			}
			return nil
		})
		if err != nil || files < 10 {
			t.Errorf("%d files, %v", files, err)
		}
	}
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	check(dir)
	to := filepath.Join(t.TempDir(), "restored")
	if _, err := local.Restore(t.Context(), &b, to, variedOptions(t, c), nil); err != nil {
		t.Fatal(err)
	}
	check(to)
}
