package upgrade

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// NoRoomError says that a file system has no room for the new form of a directory.
type NoRoomError struct {
	Dir        string
	Need, Free int64 // bytes
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("the upgrade of %s needs %d bytes (%d MiB) of free space, and there are %d (%d MiB): make room; until then the release before can be used",
		e.Dir, e.Need, e.Need>>20, e.Free, e.Free>>20)
}

// Is makes it a [disk.ErrNoSpace].
func (e *NoRoomError) Is(target error) bool { return target == disk.ErrNoSpace }

const (
	// reserve is what stays free, for the work of the file system and of the first minutes after the upgrade.
	reserve = 192 << 20
	// perHour is what an hour takes beside its content: files are rounded up to blocks. A file of rollups has those of a day, or a month.
	perHour = 64 << 10
	perFile = 31 * perHour
)

// checkRoom fails with a [*NoRoomError] if there is no room for the new form, less what is there already: it takes a half to three
// quarters of what the old one does. The space that the release before has set aside is released if that helps.
func (u *upgrade) checkRoom() error {
	names, err := oldNames(u.dir)
	if err != nil {
		return err
	}
	need := reserve - disk.TreeBytes(filepath.Join(u.dir, workFolder))
	for _, name := range names {
		if name == ballastFile {
			continue
		}
		need += disk.TreeBytes(filepath.Join(u.dir, name))/4*3 + perHour
		if sumsName.MatchString(name) {
			need += perFile
		}
	}
	free, err := u.free()
	if err == nil && free < need {
		if err = os.Remove(filepath.Join(u.dir, ballastFile)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			free, err = u.free()
		}
	}
	if err != nil {
		return fmt.Errorf("look for free space: %w", err)
	}
	if free < need {
		return &NoRoomError{u.dir, need, free}
	}
	return nil
}

// free returns how many bytes are free.
func (u *upgrade) free() (int64, error) {
	if u.o.free != nil {
		return u.o.free()
	}
	return disk.NewSpace(u.dir, 0).Free(0)
}
