package write

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// spool keeps segments on the disk of a node while the store does not answer. Those in it are as safe as that disk
// is. Each is put under the name that it had from the beginning, however often, by whichever process finds it.
type spool struct {
	fs   disk.FS
	dir  string
	most int64 // bytes

	mu    sync.Mutex
	names []string // of files, oldest first
	sizes map[string]int64
	bytes int64
}

// errSpoolFull says that there is no room for a segment.
var errSpoolFull = errors.New("the spool is full")

// A file is named as its segment, with this in the place of slashes.
const spoolSlash = "_"

// openSpool opens a directory, which may have segments of an earlier process.
func openSpool(on disk.FS, dir string, most int64) (*spool, error) {
	if err := disk.MakeFolder(on, dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	list, err := on.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	s := &spool{fs: on, dir: dir, most: most, sizes: map[string]int64{}}
	for _, e := range list { // sorted by name, so by hour
		key := strings.ReplaceAll(e.Name(), spoolSlash, "/")
		if _, ok := layout.ParseSegment(key); !ok {
			continue // what a crash has left is not acknowledged
		}
		info, err := on.Lstat(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("open the spool: %w", err)
		}
		s.note(e.Name(), info.Size())
	}
	return s, nil
}

// note notes that a file is there.
func (s *spool) note(name string, size int64) {
	if _, there := s.sizes[name]; !there {
		s.names = append(s.names, name)
	}
	s.bytes += size - s.sizes[name]
	s.sizes[name] = size
}

// put stores a segment. It is durable when put returns.
func (s *spool) put(key string, body []byte) error {
	name := strings.ReplaceAll(key, "/", spoolSlash)
	size := int64(len(body))
	s.mu.Lock()
	full := s.bytes+size > s.most
	if !full {
		s.bytes += size // while it is written
	}
	s.mu.Unlock()
	if full {
		return errSpoolFull
	}
	path := filepath.Join(s.dir, name)
	err := disk.WriteFileBy(s.fs, path, path+".tmp", body, time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= size
	if err != nil {
		return fmt.Errorf("spool a segment: %w", err)
	}
	s.note(name, size)
	return nil
}

// size returns how many segments there are, and their bytes.
func (s *spool) size() (segments int, bytes int64) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.names), s.bytes
}

// list returns the names of the segments, oldest first.
func (s *spool) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.names)
}

// remove deletes a segment that is in the bucket.
func (s *spool) remove(name string) error {
	if err := s.fs.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear the spool: %w", err)
	}
	s.forget(name)
	return nil
}

// has reports whether a segment is in the spool, as far as it is known.
func (s *spool) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.sizes[name]
	return there
}

// forget takes a segment out of the list.
func (s *spool) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= s.sizes[name]
	delete(s.sizes, name)
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
}

// Unspool puts what is in the spool into the bucket, oldest first, until all is there or the store does not answer. A
// segment that cannot be read holds up no other one.
func (n *Writer) Unspool(ctx context.Context) error {
	if n.spool == nil {
		return nil
	}
	var failed error
	for _, name := range n.spool.list() {
		body, err := disk.ReadFile(n.spool.fs, filepath.Join(n.spool.dir, name))
		if errors.Is(err, fs.ErrNotExist) && n.spool.has(name) {
			n.opts.Logger.Error("a segment that was acknowledged is no longer in the spool: "+
				"its traces are lost unless the file is put back", "segment", strings.ReplaceAll(name, spoolSlash, "/"))
			n.spool.forget(name)
			continue
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read the spool: %w", err))
			continue
		}
		if err := n.putCounted(ctx, strings.ReplaceAll(name, spoolSlash, "/"), body, n.opts.GiveUp); err != nil {
			return errors.Join(failed, fmt.Errorf("empty the spool: %w", err))
		}
		if err := n.spool.remove(name); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}
