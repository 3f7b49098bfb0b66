package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// scriptSuffixes are the suffixes of files that browsers run.
var scriptSuffixes = []string{".js", ".mjs", ".cjs"}

const mapSuffix = ".map"

// files are the sorted paths of files in a folder.
type files struct{ scripts, maps []string }

// walk searches the folder.
func (b *Build) walk() (files, error) {
	var found files
	entries := 0
	err := fs.WalkDir(b.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if name == "." {
				return err
			}
			b.tell(name, FileUnreadable, "make it readable or remove it from the folder", "%v", cause(err))
			return nil
		}
		if entries++; entries > b.options.Limits.Entries {
			return fmt.Errorf("more than %d files and folders; pass the folder that contains only the scripts",
				b.options.Limits.Entries)
		}
		if entry.IsDir() {
			if name != "." && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		isScript := slices.Contains(scriptSuffixes, path.Ext(name))
		if entry.Type()&fs.ModeSymlink != 0 && !b.leadsToFile(name, isScript) {
			return nil
		}
		if isScript {
			found.scripts = append(found.scripts, name)
		} else if path.Ext(name) == mapSuffix {
			found.maps = append(found.maps, name)
		}
		if len(found.scripts) > b.options.Limits.Scripts {
			return fmt.Errorf("more than %d scripts; pass a folder with fewer", b.options.Limits.Scripts)
		}
		return nil
	})
	return found, err
}

// leadsToFile reports whether a link leads to a file in the folder. It adds a problem if the link
// does not and might hide scripts.
func (b *Build) leadsToFile(name string, isScript bool) bool {
	info, err := fs.Stat(b.fsys, name)
	switch {
	case err != nil && isScript:
		b.tell(name, LinkNotFollowed, "put the file itself into the folder",
			"a link that does not lead to a file in the folder")
	case err == nil && info.IsDir():
		b.tell(name, LinkNotFollowed, "replace it by the folder itself if scripts in it are served",
			"a link to a folder")
	}
	return err == nil && !info.IsDir()
}

// errTooLarge is returned for a file over its limit.
var errTooLarge = errors.New("too large")

// read reads a file of at most most bytes. Its errors are short.
func read(fsys fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before opening, which would block for a pipe
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%w: %d bytes, the most is %d", errTooLarge, info.Size(), most)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := text.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, cause(err)
	}
	if int64(text.Len()) > most {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, most)
	}
	return text.Bytes(), nil
}

// cause returns an error without its path, which is part of the problem anyway.
func cause(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}
