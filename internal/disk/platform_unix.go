//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryFlock locks f, or changes the mode of its lock, without waiting.
func tryFlock(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// Bytes returns the disk space of a file, which is less than its size for sparse files such as
// Badger's.
func Bytes(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return fi.Size()
}

// freeSpace returns the free bytes and inodes for this user on the file system of dir. Some file
// systems have no inode limit.
func freeSpace(dir string) (bytes, inodes int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	inodes = math.MaxInt64
	if st.Files > 0 {
		inodes = int64(min(uint64(st.Ffree), math.MaxInt64)) //nolint:unconvert // its type differs between systems
	}
	return int64(st.Bavail) * int64(st.Bsize), inodes, nil
}
