package tables

import "time"

// Files is the storage of a store. Names have slashes on every operating system.
type Files interface {
	// List returns the files in a folder, sorted by name.
	List(folder string) ([]File, error)
	// Read returns a file of at most most bytes. For a missing file it returns [fs.ErrNotExist].
	Read(name string, most int64) ([]byte, error)
	// Write creates or replaces a file durably and atomically. After an error the file may exist,
	// but never partially.
	Write(name string, body []byte) error
	// Remove deletes a file. A missing file is not an error.
	Remove(name string) error
	// Path returns the name of a file for messages.
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
