package write

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// spool keeps segments on the disk of a node while the store does not answer. Those in it are as safe as that disk
// is. Each is put under the name that it had from the beginning, however often, by whichever process finds it.
type spool struct {
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
func openSpool(dir string, most int64) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the spool: %w", err)
	}
	s := &spool{dir: dir, most: most, sizes: map[string]int64{}}
	for _, e := range list { // sorted by name, so by hour
		key := strings.ReplaceAll(e.Name(), spoolSlash, "/")
		if _, ok := layout.ParseSegment(key); !ok {
			continue // what a crash has left is not acknowledged
		}
		info, err := e.Info()
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
	err := disk.WriteFile(filepath.Join(s.dir, name), body)
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

// next returns the oldest segment, "" if there is none.
func (s *spool) next() (name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) > 0 {
		name = s.names[0]
	}
	return name
}

// remove forgets a segment that is in the bucket.
func (s *spool) remove(name string) error {
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear the spool: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= s.sizes[name]
	delete(s.sizes, name)
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
	return nil
}

// Unspool puts what is in the spool into the bucket, oldest first, until all is there or the store does not answer.
func (n *Writer) Unspool(ctx context.Context) error {
	if n.spool == nil {
		return nil
	}
	for ctx.Err() == nil {
		name := n.spool.next()
		if name == "" {
			return nil
		}
		body, err := os.ReadFile(filepath.Join(n.spool.dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read the spool: %w", err)
		}
		if err == nil {
			if _, err := n.b.Put(ctx, strings.ReplaceAll(name, spoolSlash, "/"), body, objects.Condition{}); err != nil {
				return fmt.Errorf("empty the spool: %w", err)
			}
			n.did.segments.Add(1)
			n.did.bytes.Add(uint64(len(body)))
		}
		if err := n.spool.remove(name); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
