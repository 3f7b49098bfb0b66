package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// fallocate allocates n bytes of the filesystem for f. If it cannot, the error is
// [errors.ErrUnsupported].
func fallocate(f *os.File, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, n)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return errors.ErrUnsupported
		default:
			return err
		}
	}
}
