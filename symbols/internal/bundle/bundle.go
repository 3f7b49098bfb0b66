// Package bundle has builds of an app by several bundlers, for tests.
package bundle

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Files returns the files of board.tar.zst in the folder that the environment variable SOURCEMAPS
// names, by their paths with slashes. They hold packages of others, so they are not part of this
// project, and the test is skipped without them.
func Files(t testing.TB) map[string][]byte {
	t.Helper()
	dir := os.Getenv("SOURCEMAPS")
	if dir == "" {
		t.Skip("SOURCEMAPS names no folder with bundles")
	}
	f, err := os.Open(filepath.Join(dir, "board.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if files[path.Clean(header.Name)], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}
