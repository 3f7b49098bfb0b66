package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of files in a data directory: names of pages, functions and releases are private.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// MakePrivate removes all rights except the owner's from the content of dir, as older
// releases granted more: from directories, and from the files in them and in dir. It skips
// directories that are already private, so the next call is cheap. The group keeps its rights
// on dir itself, as it may have access to the socket on purpose.
func MakePrivate(on FS, dir string) error {
	info, err := on.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		if err := on.Chmod(dir, mode&^0o007); err != nil {
			return err
		}
	}
	return makeContentsPrivate(on, dir)
}

func makeContentsPrivate(on FS, dir string) error {
	entries, err := on.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := makePrivate(on, filepath.Join(dir, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func makePrivate(on FS, path string, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, os.ErrNotExist) {
		return nil // a file that is being created
	}
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	switch {
	case info.Mode().IsRegular():
		return on.Chmod(path, fileMode)
	case !info.IsDir():
		return nil // the socket, which the group may use
	}
	if err := makeContentsPrivate(on, path); err != nil {
		return err
	}
	return on.Chmod(path, dirMode) // last, so that an interrupted call is repeated
}
