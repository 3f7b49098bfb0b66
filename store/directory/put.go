package directory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

func (d *Directory) path(key string) (string, error) {
	if !filepath.IsLocal(key) || path.Clean(key) != key || !IsObject(key) || strings.HasSuffix(key, tempSuffix) {
		return "", fmt.Errorf("%q is not a valid key", key)
	}
	return filepath.Join(d.dir, key), nil
}

// Put implements [objects.Store].
func (d *Directory) Put(ctx context.Context, key string, body []byte, c objects.Condition) (objects.Tag, error) {
	d.did.put.Add(1)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := d.writable(); err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	path, err := d.path(key)
	if err != nil {
		return "", err
	}
	switch {
	case c != (objects.Condition{}): // small, and may allow deletions, so it needs no free space
		d.swap.Lock()
		defer d.swap.Unlock()
		if err = d.meets(path, c); err == nil {
			d.noteUse()
		}
	case strings.HasPrefix(key, objects.Fresh):
		err = d.room(d.space.Writing()+int64(len(body)), 10*time.Millisecond)
	default:
		err = d.room(d.space.Rolling()+int64(len(body)), 0)
	}
	switch {
	case err != nil:
	case strings.HasPrefix(key, objects.Fresh) && c == (objects.Condition{}):
		err = d.fresh.Put(ctx, key, body)
	default:
		err = d.write(path, body)
	}
	if err != nil {
		return "", fmt.Errorf("put %s: %w", key, noRoom(err))
	}
	return tagOf(body), nil
}

// meets returns [objects.ErrConflict] if a file does not meet a condition.
func (d *Directory) meets(path string, c objects.Condition) error {
	body, err := disk.ReadFile(d.fs, path)
	switch there := err == nil; {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case c.Absent && there, c.Tag != "" && (!there || tagOf(body) != c.Tag):
		return objects.ErrConflict
	}
	return nil
}

// tagOf returns the tag of an object, which is a hash of its content.
func tagOf(body []byte) objects.Tag {
	sum := sha256.Sum256(body)
	return objects.Tag(hex.EncodeToString(sum[:16]))
}

// tempSuffix is the suffix of incomplete files.
const tempSuffix = ".tmp"

// write writes a file atomically and durably. The file's time is the time of the clock.
func (d *Directory) write(path string, body []byte) error {
	for attempt := 0; ; attempt++ {
		err := d.makeFolder(filepath.Dir(path))
		if err == nil {
			temp := fmt.Sprintf("%s.%d%s", path, d.temp.Add(1), tempSuffix)
			err = disk.WriteFileBy(d.fs, path, temp, body, d.clock.Now())
		}
		if !errors.Is(err, fs.ErrNotExist) || attempt == 3 {
			return err
		}
		d.folders.Delete(filepath.Dir(path)) // it was deleted because it was empty
	}
}

// makeFolder creates a folder and its parents durably.
func (d *Directory) makeFolder(path string) error {
	if _, there := d.folders.Load(path); there || path == d.dir {
		return nil
	}
	above := filepath.Dir(path)
	if err := d.makeFolder(above); err != nil {
		return err
	}
	if err := d.fs.Mkdir(path, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		d.folders.Delete(above)
		return err
	}
	if err := disk.SyncDirOf(d.fs, above); err != nil {
		return err
	}
	d.folders.Store(path, true)
	return nil
}

// Purge implements [objects.Purger].
func (d *Directory) Purge(everything bool) {
	if d.writable() == nil {
		d.fresh.Purge(everything)
	}
}

// Delete implements [objects.Store]. It also deletes folders that become empty. Deleted objects do
// not reappear after a crash, except fresh objects that are deleted while the disk is full.
func (d *Directory) Delete(ctx context.Context, keys ...string) error {
	d.did.delete.Add(1)
	if err := d.writable(); err != nil {
		return fmt.Errorf("delete objects of %s: %w", d.dir, err)
	}
	if len(keys) > objects.MaxDelete {
		return fmt.Errorf("delete %d objects of %s: at most %d are allowed in one call", len(keys), d.dir,
			objects.MaxDelete)
	}
	if err := d.fresh.Delete(ctx, keys...); err != nil {
		return fmt.Errorf("delete: %w", noRoom(err))
	}
	changed := map[string]bool{}
	for _, key := range keys {
		path, err := d.path(key)
		if err != nil {
			return err
		}
		if err := d.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete: %w", err)
		}
		above := filepath.Dir(path)
		for ; above != d.dir && d.fs.Remove(above) == nil; above = filepath.Dir(above) {
			d.folders.Delete(above)
		}
		changed[above] = true
	}
	for folder := range changed {
		if err := disk.SyncDirOf(d.fs, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete: %w", err)
		}
	}
	return nil
}
