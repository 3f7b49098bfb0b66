package commits

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every acknowledged commit that is missing at the start is reported: if the process was killed and
// the newest log is damaged, and if it was closed and a table is damaged.
func TestLossIsReported(t *testing.T) {
	const n = 40
	flip := func(t *testing.T, path string, offset int) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[offset] ^= 4
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	zero := func(t *testing.T, path string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt(make([]byte, 4096), 4096); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		what  string
		ended bool
		harm  func(t *testing.T, gen, path string)
		exact bool // whether the number of lost commits is known
	}{
		{"a bit of the mark of one record", false, func(t *testing.T, gen, log string) {
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			m := parseName(filepath.Dir(gen), filepath.Base(gen)).mark
			flip(t, log, bytes.Index(b, m[:])+3)
		}, true},
		{"half of the log is missing", false, func(t *testing.T, _, log string) {
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(log, int64(len(bytes.TrimRight(b, "\x00"))/2)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the log is empty", false, func(t *testing.T, _, log string) {
			if err := os.Truncate(log, 0); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the log is missing", false, func(t *testing.T, _, log string) {
			if err := os.Remove(log); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a page of zeros", false, func(t *testing.T, _, log string) { zero(t, log) }, true},
		{"a page of zeros in a table", true, func(t *testing.T, _, table string) { zero(t, table) }, true},
		{"half of a table is missing", true, func(t *testing.T, _, table string) {
			info, err := os.Stat(table)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(table, info.Size()/2); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a table is missing", true, func(t *testing.T, _, table string) {
			if err := os.Remove(table); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(x.what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "commits")
			l := open(t, dir, Options{})
			for i := range n {
				body := bytes.Repeat([]byte{byte(i), 1}, 700)
				if err := l.Put(t.Context(), fmt.Sprintf("seg/20261128T19/0123456789ab-%08d", i+1), body); err != nil {
					t.Fatal(err)
				}
			}
			pattern := "*.mem"
			if x.ended {
				pattern = "*.sst"
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			copied := filepath.Join(t.TempDir(), "commits") // the files as a killed process leaves them
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(copied, "*", pattern))
			if err != nil || len(files) != 1 {
				t.Fatalf("%q, %v", files, err)
			}
			x.harm(t, filepath.Dir(files[0]), files[0])
			var said []string
			l = open(t, copied, Options{Warn: func(err error) { said = append(said, err.Error()) }})
			lost := n - len(l.List("seg/", ""))
			if lost == 0 || len(said) == 0 || l.Lost() == 0 || l.Lost() > lost {
				t.Errorf("%d commits are lost, but %d are counted; reported: %q", lost, l.Lost(), said)
			}
			if x.exact && (l.Lost() != lost || !strings.Contains(said[0], fmt.Sprintf("%d acknowledged", lost))) {
				t.Errorf("%d commits are lost, but %d are counted; reported: %q", lost, l.Lost(), said)
			}
		})
	}
}

// A folder without a commit, which a process created before it was killed, is not a loss.
func TestEmptyFolderIsNoLoss(t *testing.T) {
	dir := t.TempDir()
	g := &generation{number: 7}
	if err := os.Mkdir(filepath.Join(dir, g.name()), 0o700); err != nil {
		t.Fatal(err)
	}
	open(t, dir, Options{})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
}
