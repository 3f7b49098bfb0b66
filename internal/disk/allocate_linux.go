package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Allocate reserves disk space for the first bytes of a file, so that writing them through a memory
// map cannot fail for lack of space. It does nothing if the file does not exist or the file system
// does not support it.
func Allocate(path string, bytes int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = nil
	}
	if err != nil {
		err = &fs.PathError{Op: "allocate", Path: path, Err: err}
	}
	return errors.Join(err, f.Close())
}
