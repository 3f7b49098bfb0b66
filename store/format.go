package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// FormatVersion is the version of the data format this program writes. It is not
// the version of the program: it goes up only when older programs could not read
// what newer ones write.
//
//	1  traces alone, in partitions of up to a day
//	2  rollups, and partitions of them; all that is in 1 means the same
const FormatVersion = 2

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
}

// readFormat returns the format of dir, which is one that this program reads. A missing
// file is fs.ErrNotExist.
func readFormat(dir string) (version int, err error) {
	if _, err := os.Lstat(filepath.Join(dir, restoringFile)); err == nil {
		return 0, fmt.Errorf("data directory %s was not restored to its end: delete it and restore the backup again", dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err != nil {
		return 0, err
	}
	var f format
	if err := json.Unmarshal(b, &f); err != nil || f.Format < 1 {
		return 0, fmt.Errorf("read %s: not a format file of this program", filepath.Join(dir, formatFile))
	}
	if f.Format > FormatVersion {
		return f.Format, &FormatError{Dir: dir, Version: f.Format}
	}
	return f.Format, nil
}

// ensureFormat is readFormat, but gives a new data directory its FORMAT, and one of an
// older format the present one: from now on older programs could not read it. A directory
// with partitions and without FORMAT is not new.
func ensureFormat(dir string, log *slog.Logger) error {
	version, err := readFormat(dir)
	if err == nil && version < FormatVersion {
		log.Info("data directory upgraded, older releases do not open it any more", "dir", dir, "from", version, "to", FormatVersion)
		return writeFormat(dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		if _, ok := parseName(e.Name()); ok {
			return fmt.Errorf("data directory %s has partitions but no %s file: restore it, or use another directory", dir, formatFile)
		}
	}
	return writeFormat(dir)
}

func writeFormat(dir string) error {
	b, err := json.Marshal(format{FormatVersion})
	if err != nil {
		return err
	}
	return writeFileSynced(filepath.Join(dir, formatFile), append(b, '\n'))
}

// writeFileSynced makes path hold b, all or nothing, and durably.
func writeFileSynced(path string, b []byte) error {
	tmp := path + ".tmp"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), errors.Join(err, os.Remove(tmp)))
	}
	return syncDir(filepath.Dir(path))
}

// makeDir makes an empty directory, durably. One that is there and empty will do: an earlier
// attempt may have failed after it was made.
func makeDir(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		var entries []fs.DirEntry
		if entries, err = os.ReadDir(path); err == nil && len(entries) > 0 {
			err = fmt.Errorf("%s is there and not empty", path)
		}
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the creation, renaming and removal of files in dir durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}
