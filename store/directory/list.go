package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// lostAndFound is a folder at the root of a file system.
const lostAndFound = "lost+found"

// IsObject reports whether a path in a directory belongs to an object or to a folder of objects.
// The lock, the time of last use, commits and sockets do not.
func IsObject(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return path != disk.LockFile && path != Used && first != Commits && first != lostAndFound &&
		!strings.HasSuffix(path, ".sock")
}

// List implements [objects.Store].
func (d *Directory) List(ctx context.Context, prefix, after string) iter.Seq2[objects.Entry, error] {
	d.did.list.Add(1)
	return func(yield func(objects.Entry, error) bool) {
		folder := prefix[:strings.LastIndexByte(prefix, '/')+1] // contains all keys with the prefix
		if folder != "" && !filepath.IsLocal(folder) {
			yield(objects.Entry{}, fmt.Errorf("list %q: not a valid prefix", prefix))
			return
		}
		fresh, more := d.fresh.List(prefix, after), true
		yieldFresh := func(before func(key string) bool) { // yields the fresh objects before the next file
			for more && len(fresh) > 0 && before(fresh[0].Key) {
				more = yield(objects.Entry{Key: fresh[0].Key, Size: fresh[0].Size, Modified: fresh[0].At}, nil)
				fresh = fresh[1:]
			}
		}
		_, err := d.walk(ctx, folder, func(key string) bool {
			return strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)
		}, after,
			func(e objects.Entry) bool {
				if !strings.HasPrefix(e.Key, prefix) {
					return true
				}
				yieldFresh(func(key string) bool { return key < e.Key })
				if len(fresh) == 0 || fresh[0].Key != e.Key { // an object that is stored in both ways is yielded once
					more = more && yield(e, nil)
				}
				return more
			})
		if err == nil {
			yieldFresh(func(string) bool { return true })
		}
		if err != nil && more {
			yield(objects.Entry{}, fmt.Errorf("list %s: %w", d.Name()+prefix, err))
		}
	}
}

// walk yields the objects in a folder whose keys are greater than after. folder is "" or ends with
// a slash. It only enters folders for which may returns true.
func (d *Directory) walk(ctx context.Context, folder string, may func(key string) bool, after string,
	yield func(objects.Entry) bool) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	entries, err := d.fs.ReadDir(filepath.Join(d.dir, folder))
	if folder != "" && errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	names := make([]string, 0, len(entries)) // sorted by key, where the name of a folder ends with a slash
	for _, e := range entries {
		switch name := folder + e.Name(); {
		case !IsObject(name):
		case e.IsDir():
			names = append(names, name+"/")
		case !strings.HasSuffix(name, tempSuffix):
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			if behind := name > after || strings.HasPrefix(after, name); !behind || !may(name) {
				continue
			}
			if more, err := d.walk(ctx, name, may, after, yield); err != nil || !more {
				return false, err
			}
			continue
		}
		if name <= after {
			continue
		}
		info, err := d.fs.Lstat(filepath.Join(d.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return false, err
		}
		if info.Mode().IsRegular() && !yield(objects.Entry{Key: name, Size: info.Size(), Modified: info.ModTime()}) {
			return false, nil
		}
	}
	return true, nil
}

// clean deletes incomplete files that a crash left in a folder.
func (d *Directory) clean(folder string) error {
	list, err := d.fs.ReadDir(folder)
	for _, e := range list {
		switch path := filepath.Join(folder, e.Name()); {
		case e.IsDir():
			err = errors.Join(err, d.clean(path))
		case e.Type().IsRegular() && strings.HasSuffix(path, tempSuffix):
			err = errors.Join(err, d.fs.Remove(path))
		}
	}
	return err
}
