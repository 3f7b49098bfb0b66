package tables

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// Files is the storage of a store. Names have slashes on every operating system.
type Files interface {
	// List returns the files in a folder, sorted by name.
	List(folder string) ([]File, error)
	// Read returns a file of at most most bytes. A missing file is [fs.ErrNotExist].
	Read(name string, most int64) ([]byte, error)
	// Write creates or replaces a file durably. After an error the file may exist, but only as a
	// whole.
	Write(name string, body []byte) error
	// Remove deletes a file. A missing file is not an error.
	Remove(name string) error
	// Path returns the name of a file for people.
	Path(name string) string
	// Shared reports whether other stores write to the same files, see [Store.Refresh].
	Shared() bool
}

// File is an entry of a list.
type File struct {
	Name    string
	Size    int64 // bytes
	Written time.Time
}

// folder is a local directory with one writer.
type folder struct{ dir string }

// make makes the folders of a store.
func (f folder) make() error {
	for _, dir := range []string{f.dir, f.Path(tablesFolder), f.Path(uploadsFolder)} {
		if err := makeFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// makeFolder creates a folder, durably, that only the owner may read.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

func (f folder) Shared() bool { return false }

func (f folder) Path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f folder) List(folder string) (out []File, err error) {
	err = filepath.WalkDir(f.Path(folder), func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || e.IsDir():
			return err
		}
		name, err := filepath.Rel(f.dir, at)
		if err != nil {
			return err
		}
		if fi, err := e.Info(); err == nil { // else it was deleted meanwhile
			out = append(out, File{filepath.ToSlash(name), fi.Size(), fi.ModTime()})
		}
		return nil
	})
	return out, err
}

func (f folder) Read(name string, most int64) ([]byte, error) {
	r, err := os.Open(f.Path(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s: over %d bytes", f.Path(name), most)
	}
	return b, err
}

func (f folder) Write(name string, body []byte) error {
	for i, c := range name { // each folder on the way
		if c != '/' {
			continue
		}
		if err := makeFolder(f.Path(name[:i])); err != nil {
			return err
		}
	}
	return disk.WriteFile(f.Path(name), body)
}

func (f folder) Remove(name string) error {
	if err := os.Remove(f.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
