package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/upgrade/former"
)

// formatVersion is the version of the format that is upgraded.
const formatVersion = 3

// Files of a data directory that is not whole.
const (
	restoringFile = "FORMAT.restoring"
	loadingFile   = "LOADING"
)

// FormatError says that a data directory has a format that is not upgraded.
type FormatError struct {
	Dir     string
	Version int
}

func (e *FormatError) Error() string {
	what := "use a newer release"
	if e.Version < formatVersion {
		what = "move it away and start with a new directory, as no release reads it"
	}
	return fmt.Sprintf("data directory %s has format %d, this program upgrades format %d: %s", e.Dir, e.Version, formatVersion, what)
}

// Needed reports whether a directory is a data directory of format 3, or one whose upgrade was cut off, so that [Run] has something to
// do. It is not if there is no such directory, or it is empty, or has objects. Another format is a [*FormatError].
func Needed(dir string) (bool, error) {
	for name, what := range map[string]string{
		restoringFile: "was not restored to its end: delete it and restore the backup again, by the release that made it",
		loadingFile:   "was not exported to its end: export it again, which goes on from there, by the release that began",
	} {
		if there, err := exists(filepath.Join(dir, name)); err != nil || there {
			return false, errors.Join(err, fmt.Errorf("data directory %s %s", dir, what))
		}
	}
	if there, err := exists(filepath.Join(dir, swapFile)); err != nil || there {
		return there, err
	}
	path := filepath.Join(dir, objects.Marker)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, checkNew(dir)
	}
	if err != nil {
		return false, fmt.Errorf("read the format of %s: %w", dir, err)
	}
	if layout.IsFormat(text) {
		return false, nil
	}
	var f struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &f); err != nil || f.Format < 1 {
		return false, fmt.Errorf("read %s: not a format file of this program", path)
	}
	if f.Format != formatVersion {
		return false, &FormatError{Dir: dir, Version: f.Format}
	}
	return true, nil
}

// checkNew refuses a directory without a format that has partitions.
func checkNew(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		if _, ok := former.ParseName(e.Name()); ok && e.IsDir() {
			return fmt.Errorf("data directory %s has partitions but no %s file: restore it, or use another directory", dir, objects.Marker)
		}
	}
	return nil
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", path, err)
	}
	return true, nil
}
