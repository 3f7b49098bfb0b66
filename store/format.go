package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/part"
	"github.com/fieldtrie/fieldtrie/store/snapshot"
)

// FormatVersion is the version of the data format this program writes. It is not
// the version of the program: it goes up only when older programs could not read
// what newer ones write.
//
//	1  traces alone, in partitions of up to a day
//	2  rollups, and partitions of them; all that is in 1 means the same
//	3  sums of closed hours and days in files of their own
const FormatVersion = 3

const formatFile = "FORMAT"

// FormatError says that a data directory was written by a newer program.
type FormatError struct {
	Dir     string
	Version int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("data directory %s has format %d, this program reads up to %d: use a newer release",
		e.Dir, e.Version, FormatVersion)
}

// format is the content of DIR/FORMAT.
type format struct {
	Format int `json:"format"`
	// Upgraded is when the directory was upgraded to format 3, zero if it never was: partitions
	// that began before may have rollups that format 2 wrote.
	Upgraded time.Time `json:"upgraded,omitzero"`
}

// readFormat returns the format of dir, which is one that this program reads. A missing
// file is fs.ErrNotExist.
func readFormat(dir string) (f format, err error) {
	if _, err := os.Lstat(filepath.Join(dir, snapshot.RestoringFile)); err == nil {
		return f, fmt.Errorf("data directory %s was not restored to its end: delete it and restore the backup again", dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, loadingFile)); err == nil {
		return f, fmt.Errorf("data directory %s was not exported to its end: export it again, which goes on from there", dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f); err != nil || f.Format < 1 {
		return f, fmt.Errorf("read %s: not a format file of this program", filepath.Join(dir, formatFile))
	}
	if f.Format > FormatVersion {
		return f, &FormatError{Dir: dir, Version: f.Format}
	}
	return f, nil
}

// ensureFormat is readFormat, but gives a new data directory its FORMAT. A directory
// with partitions and without FORMAT is not new.
func ensureFormat(dir string) (format, error) {
	f, err := readFormat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		if _, ok := part.ParseName(e.Name()); ok {
			return f, fmt.Errorf("data directory %s has partitions but no %s file: restore it, or use another directory", dir, formatFile)
		}
	}
	f = format{Format: FormatVersion}
	return f, writeFormat(dir, f)
}

func writeFormat(dir string, f format) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, formatFile), append(b, '\n'))
}
