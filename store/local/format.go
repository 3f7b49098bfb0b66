package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/snapshot"
)

// FormatVersion is the version of the data format that this program reads and writes. It is
// not the version of the program: it goes up when programs before could not read what is
// written. No release has written formats 1 and 2.
const FormatVersion = 3

const formatFile = "FORMAT"

// FormatError says that a data directory has a format that this program does not read.
type FormatError struct {
	Dir     string
	Version int
}

func (e *FormatError) Error() string {
	what := "use a newer release"
	if e.Version < FormatVersion {
		what = "move it away and start with a new directory, as no release reads it"
	}
	return fmt.Sprintf("data directory %s has format %d, this program reads format %d: %s", e.Dir, e.Version, FormatVersion, what)
}

// format is the content of DIR/FORMAT.
type format struct {
	Format int `json:"format"`
}

// checkFormat returns what keeps this program from reading dir. A missing FORMAT is
// fs.ErrNotExist.
func checkFormat(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, snapshot.RestoringFile)); err == nil {
		return fmt.Errorf("data directory %s was not restored to its end: delete it and restore the backup again", dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, loadingFile)); err == nil {
		return fmt.Errorf("data directory %s was not exported to its end: export it again, which goes on from there", dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err != nil {
		return err
	}
	var f format
	if err := json.Unmarshal(b, &f); err != nil || f.Format < 1 {
		return fmt.Errorf("read %s: not a format file of this program", filepath.Join(dir, formatFile))
	}
	if f.Format != FormatVersion {
		return &FormatError{Dir: dir, Version: f.Format}
	}
	return nil
}

// ensureFormat is checkFormat, but gives a new data directory its FORMAT. A directory
// with partitions and without FORMAT is not new.
func ensureFormat(dir string) error {
	if err := checkFormat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		if _, ok := part.ParseName(e.Name()); ok {
			return fmt.Errorf("data directory %s has partitions but no %s file: restore it, or use another directory", dir, formatFile)
		}
	}
	return writeFormat(dir)
}

func writeFormat(dir string) error {
	b, err := json.Marshal(format{Format: FormatVersion})
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, formatFile), append(b, '\n'))
}
