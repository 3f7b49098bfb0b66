package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of what is in a data directory: names of pages, functions and releases are nobody
// else's business.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// MakePrivate takes the rights of others than the owner away from what is in dir, as releases
// that gave them wrote it: directories, and the files in those and in dir. What is private
// already is not looked into, so that this takes next to nothing the next time. Of dir itself
// it takes the rights of all but owner and group, since a group may have been let in on
// purpose, to the socket.
func MakePrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		if err := os.Chmod(dir, mode&^0o007); err != nil {
			return err
		}
	}
	return makeContentsPrivate(dir)
}

func makeContentsPrivate(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := makePrivate(filepath.Join(dir, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func makePrivate(path string, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, os.ErrNotExist) {
		return nil // a file that was being made
	}
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	switch {
	case info.Mode().IsRegular():
		return os.Chmod(path, fileMode)
	case !info.IsDir():
		return nil // the socket, which is for the group, too
	}
	if err := makeContentsPrivate(path); err != nil {
		return err
	}
	return os.Chmod(path, dirMode) // at last, so that it is done again if this was interrupted
}
