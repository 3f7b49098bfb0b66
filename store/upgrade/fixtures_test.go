package upgrade

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpack returns a copy of a directory of testdata.
func unpack(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unpackTo(dir, filepath.Join("testdata", name+".tar.gz")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func unpackTo(dir, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		to := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o700)
		} else {
			err = writeSparse(to, r, h.Size)
		}
		if err == nil {
			err = os.Chtimes(to, h.ModTime, h.ModTime)
		}
		if err != nil {
			return err
		}
	}
}

// writeSparse writes a file, and leaves out what is zero: logs of Badger are long, and nearly empty.
func writeSparse(path string, r io.Reader, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	part, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); at < size && err == nil; {
		n := min(int64(len(part)), size-at)
		if _, err = io.ReadFull(r, part[:n]); err == nil && !bytes.Equal(part[:n], zeros[:n]) {
			_, err = f.WriteAt(part[:n], at)
		}
		at += n
	}
	return errors.Join(err, f.Truncate(size), f.Close())
}

// flip changes a byte of a file, at an offset from its beginning, or from its end if that is negative.
func flip(t testing.TB, path string, at int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += int64(len(b))
	}
	b[at] ^= 0x55
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// damage damages a copy of the directory closed: a partition of which there are sums, so that nothing opens it; a trace of another
// one; and what one page has in a file of sums.
func damage(t testing.TB, dir string) {
	t.Helper()
	flip(t, filepath.Join(dir, "20261120T00", "000002.sst"), -20)
	flip(t, filepath.Join(dir, "20261120T07", "000002.sst"), 9000)
	flip(t, filepath.Join(dir, "20261119.hours.sums"), 10000)
}

// treeOf returns the files of a directory with checksums, but for that of the lock.
func treeOf(t testing.TB, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "LOCK" {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out = append(out, name+" "+sumOf(body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shapeOf returns which folders have how many files, and the names of those at the top.
func shapeOf(tree []string) (out []string) {
	n := map[string]int{}
	for _, line := range tree {
		name, _, _ := strings.Cut(line, " ")
		if strings.Contains(name, "/") {
			name = filepath.Dir(name) + "/"
		}
		n[name]++
	}
	for name, count := range n {
		out = append(out, fmt.Sprint(name, " ", count))
	}
	return out
}
