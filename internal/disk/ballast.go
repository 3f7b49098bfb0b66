package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const ballastFile = "BALLAST"

// A ballast takes at most this fraction of the filesystem, and of [SpaceOptions.MaxDisk].
const ballastShare = 32

// ballastFor returns the intended size of the ballast in bytes.
func ballastFor(dir string, o SpaceOptions) int64 {
	if o.Ballast <= 0 {
		return 0
	}
	n := o.Ballast
	if _, total, err := filesystem(dir); err == nil {
		n = min(n, total/ballastShare)
	}
	if o.MaxDisk > 0 {
		n = min(n, o.MaxDisk/ballastShare)
	}
	return n
}

// BallastBytes returns the size of the ballast in dir.
func BallastBytes(dir string) int64 {
	fi, err := os.Stat(filepath.Join(dir, ballastFile))
	if err != nil {
		return 0
	}
	return Bytes(fi)
}

// Ensure makes n bytes free, if need be by giving up the ballast. It is for repairs of a
// data directory, never for new traces: they would use up the room and leave none for the
// next start.
func (s *Space) Ensure(n int64) error {
	err := s.Room(n, 0)
	there := BallastBytes(s.dir)
	if !errors.Is(err, ErrNoSpace) || there == 0 || s.Room(n-there, 0) != nil {
		return err // without the ballast there would not be enough either
	}
	if err := os.Remove(filepath.Join(s.dir, ballastFile)); err != nil {
		return fmt.Errorf("release ballast: %w", err)
	}
	s.log.Warn("the ballast is released", "err", err)
	return s.waitFor(n)
}

// releaseTime is how long a filesystem may take to release the space of a file.
const releaseTime = 500 * time.Millisecond

func (s *Space) waitFor(n int64) error {
	for end := time.Now().Add(releaseTime); ; time.Sleep(5 * time.Millisecond) {
		if err := s.Room(n, 0); !errors.Is(err, ErrNoSpace) || time.Now().After(end) {
			return err
		}
	}
}

// PutBallast restores the ballast if there is ample room for it, and removes it if it is
// no longer wanted.
func (s *Space) PutBallast() {
	path := filepath.Join(s.dir, ballastFile)
	there := BallastBytes(s.dir)
	switch {
	case s.ballast == 0 && there == 0, s.ballast > 0 && there >= s.ballast:
		return
	case s.ballast == 0:
		if err := os.Remove(path); err != nil {
			s.log.Warn("remove ballast", "err", err)
		}
		return
	case s.Room(s.Writing()/4*5+s.ballast-there, 0) != nil:
		return
	}
	err := allocate(path, s.ballast)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		s.log.Info("no ballast: this filesystem does not set space aside")
		s.ballast = 0
	case err != nil:
		s.log.Warn("put the ballast in place", "err", err)
	default:
		s.log.Info("the ballast is in place", "bytes", s.ballast)
	}
}

// allocate creates a file of n bytes with all its space allocated.
func allocate(path string, n int64) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	if err = fallocate(f, n); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
