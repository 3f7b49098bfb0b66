package read

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/lru"
)

// diskCache caches parts in files. The files are not synced, because they can be read from the
// store again. A checksum detects files that a crash has truncated.
type diskCache struct {
	dir   string
	files *lru.Cache[struct{}] // by file name
}

const (
	cacheExtension = ".part"
	checksum       = 4 // its size in bytes, at the end of a file
)

func openDiskCache(dir string, most int64) (*diskCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	d := &diskCache{dir: dir}
	d.files = lru.New(most, func(file string, _ struct{}) { _ = os.Remove(filepath.Join(dir, file)) })
	type found struct {
		name string
		size int64
		read time.Time
	}
	var old []found
	for _, e := range entries {
		fi, err := e.Info()
		switch {
		case err != nil || e.IsDir():
		case strings.HasSuffix(e.Name(), cacheExtension):
			old = append(old, found{e.Name(), fi.Size(), fi.ModTime()})
		case strings.HasSuffix(e.Name(), cacheExtension+".tmp"):
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(old, func(a, b found) int { return cmp.Or(a.read.Compare(b.read), cmp.Compare(a.name, b.name)) })
	for _, f := range old {
		if !d.files.Put(f.name, struct{}{}, f.size) {
			_ = os.Remove(filepath.Join(dir, f.name))
		}
	}
	return d, nil
}

func fileOf(name string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("%x", h.Sum(nil)) + cacheExtension
}

// get returns a cached part. A file that cannot be read counts as missing.
func (d *diskCache) get(name string) ([]byte, bool) {
	file := fileOf(name)
	if _, ok := d.files.Get(file); !ok {
		return nil, false
	}
	b, err := os.ReadFile(filepath.Join(d.dir, file))
	n := len(b) - checksum
	if err != nil || n < 8 || binary.LittleEndian.Uint32(b[n:]) != sumOfPart(name, b[:n]) {
		d.files.Drop(file)
		return nil, false
	}
	return b[:n:n], true
}

// put caches a part. It ignores errors.
func (d *diskCache) put(name string, b []byte) {
	file := fileOf(name)
	path := filepath.Join(d.dir, file)
	whole := binary.LittleEndian.AppendUint32(slices.Clip(b), sumOfPart(name, b))
	if os.WriteFile(path+".tmp", whole, 0o600) != nil || os.Rename(path+".tmp", path) != nil {
		_ = os.Remove(path + ".tmp")
		return
	}
	if !d.files.Put(file, struct{}{}, int64(len(whole))) {
		_ = os.Remove(path)
	}
}

// sumOfPart returns the checksum of a part and its name.
func sumOfPart(name string, b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(name), table), table, b)
}
