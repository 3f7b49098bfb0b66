package commits

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// span says where a record is.
type span struct {
	file   string
	offset int64
	size   int
}

// found is a commit in files, as far as its parts were found.
type found struct {
	at    time.Time
	size  int64
	parts []span
}

// whole reports whether no part is missing.
func (f *found) whole() bool {
	return !slices.ContainsFunc(f.parts, func(s span) bool { return s.size == 0 })
}

// scanned is what the files of a generation have.
type scanned struct {
	commits map[string]*found
	deleted map[string]bool // commits, of this generation or of others
	damaged int             // records that begin and are not whole
}

// window is how much of a file is looked at at once; two of the largest records fit.
const window = 4 << 20

// scan looks for records in the files of Badger: its logs, and its tables.
func scan(g *generation) (*scanned, error) {
	s := &scanned{commits: map[string]*found{}, deleted: map[string]bool{}}
	for _, pattern := range []string{"*.mem", "*.sst"} {
		files, err := filepath.Glob(filepath.Join(g.path, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			if err := s.scanFile(g.mark, path); err != nil {
				return nil, fmt.Errorf("look for commits in %s: %w", path, err)
			}
		}
	}
	return s, nil
}

// scanFile looks for records in a file.
func (s *scanned) scanFile(m mark, path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // who writes has made another one of it
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was read
	buf := make([]byte, window)
	for offset := int64(0); ; {
		n, err := f.ReadAt(buf, offset)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		used := s.scanBytes(m, path, offset, buf[:n], last)
		if last {
			return nil
		}
		offset += int64(used)
	}
}

// scanBytes looks for records in a part of a file. It returns how much of that needs no second look.
func (s *scanned) scanBytes(m mark, path string, offset int64, data []byte, last bool) int {
	at := 0
	for {
		i := bytes.Index(data[at:], m[:])
		if i < 0 {
			return max(at, len(data)-markSize+1)
		}
		at += i
		r, n, ok := decodeRecord(data[at:])
		switch {
		case ok:
			s.add(&r, span{path, offset + int64(at), n})
			at += n
		case !last && len(data)-at < headSize+maxKey+maxPart:
			return at // its end may be in what follows
		default:
			s.damaged++
			at += markSize
		}
	}
}

// add notes a record. What is there twice, in a log and in the table that was made of it, is the same.
func (s *scanned) add(r *record, where span) {
	if r.parts == 0 {
		s.deleted[r.key] = true
		return
	}
	c := s.commits[r.key]
	if c == nil || len(c.parts) != r.parts || r.at.After(c.at) {
		c = &found{at: r.at, parts: make([]span, r.parts)}
		s.commits[r.key] = c
	}
	if r.at.Before(c.at) || c.parts[r.part].size > 0 {
		return
	}
	c.parts[r.part] = where
	c.size += int64(len(r.body))
}

// read returns a commit from files.
func (f *found) read() ([]byte, error) {
	out := make([]byte, 0, f.size)
	for _, s := range f.parts {
		body, err := s.read()
		if err != nil {
			return nil, err
		}
		out = append(out, body...)
	}
	return out, nil
}

// read returns the body of a record.
func (s span) read() ([]byte, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	data := make([]byte, s.size)
	if _, err := f.ReadAt(data, s.offset); err != nil {
		return nil, err
	}
	r, _, ok := decodeRecord(data)
	if !ok {
		return nil, fmt.Errorf("%s at %d: %w", s.file, s.offset, ErrDamaged)
	}
	return r.body, nil
}
