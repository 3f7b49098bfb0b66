package metamorphic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// crashCopy copies an open data directory as a crash would leave it. If the store changes files
// meanwhile, it copies the directory again.
func crashCopy(from, to string) error {
	for range 20 {
		before, err := listing(from)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		err = copyTree(from, to)
		after, lerr := listing(from)
		if err == nil && lerr == nil && maps.Equal(before, after) {
			return nil
		}
		if err = errors.Join(err, lerr); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%s keeps changing", from)
}

// listing returns the sizes of all files.
func listing(dir string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		if err == nil {
			sizes[path] = fi.Size()
		}
		return err
	})
	return sizes, err
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return copySparse(path, filepath.Join(to, rel))
	})
}

// copySparse copies a file, except its stretches of zeros, which logs mostly consist of.
func copySparse(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	piece, zeros := make([]byte, 256<<10), make([]byte, 256<<10)
	size := int64(0)
	for {
		n, err := io.ReadFull(in, piece)
		if n > 0 && !bytes.Equal(piece[:n], zeros[:n]) {
			if _, err := out.WriteAt(piece[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return out.Truncate(size)
		}
		if err != nil {
			return err
		}
	}
}
