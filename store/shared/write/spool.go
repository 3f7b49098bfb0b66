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

// spool keeps segments on the local disk while the store does not respond. They are as safe as that
// disk. A segment keeps its key, however many times and by whichever process it is put into the
// bucket.
type spool struct {
	fs   disk.FS
	dir  string
	most int64 // maximum size in bytes

	mu    sync.Mutex
	names []string // of files, oldest first
	sizes map[string]int64
	bytes int64
}

// errSpoolFull is returned if there is no space for a segment.
var errSpoolFull = errors.New("the spool is full")

// spoolSlash replaces the slashes of a segment's key in its file name.
const spoolSlash = "_"

// openSpool opens a directory, which may contain segments of an earlier process.
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
			continue // a file that a crash left behind; it was not acknowledged
		}
		info, err := on.Lstat(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("open the spool: %w", err)
		}
		s.note(e.Name(), info.Size())
	}
	return s, nil
}

// note adds a file to the list.
func (s *spool) note(name string, size int64) {
	if _, there := s.sizes[name]; !there {
		s.names = append(s.names, name)
	}
	s.bytes += size - s.sizes[name]
	s.sizes[name] = size
}

// put writes a segment. It is durable when put returns.
func (s *spool) put(key string, body []byte) error {
	name := strings.ReplaceAll(key, "/", spoolSlash)
	size := int64(len(body))
	s.mu.Lock()
	full := s.bytes+size > s.most
	if !full {
		s.bytes += size // reserve the space while the file is being written
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

// size returns the number of segments and their size in bytes.
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

// remove deletes a segment that has been stored in the bucket.
func (s *spool) remove(name string) error {
	if err := s.fs.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear the spool: %w", err)
	}
	s.forget(name)
	return nil
}

// has reports whether a segment is in the list.
func (s *spool) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.sizes[name]
	return there
}

// forget removes a segment from the list.
func (s *spool) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= s.sizes[name]
	delete(s.sizes, name)
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
}

// Unspool moves segments from the spool to the bucket, oldest first, until the spool is empty or
// the store does not respond. It skips segments that it cannot read.
func (n *Writer) Unspool(ctx context.Context) error {
	if n.spool == nil {
		return nil
	}
	var failed error
	for _, name := range n.spool.list() {
		body, err := disk.ReadFile(n.spool.fs, filepath.Join(n.spool.dir, name))
		if errors.Is(err, fs.ErrNotExist) && n.spool.has(name) {
			n.opts.Logger.Error("an acknowledged segment is missing from the spool; "+
				"its traces are lost unless the file is restored", "segment", strings.ReplaceAll(name, spoolSlash, "/"))
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
