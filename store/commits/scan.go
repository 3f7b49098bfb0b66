package commits

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// span is the location of a record.
type span struct {
	file   string
	offset int64
	size   int
}

// found is a commit in files. Parts that were not found are zero.
type found struct {
	at    time.Time
	size  int64
	parts []span
}

func (f *found) isWhole() bool {
	return !slices.ContainsFunc(f.parts, func(s span) bool { return s.size == 0 })
}

// content is the result of scanning the files of a generation.
type content struct {
	commits map[string]*found
	broken  map[string]*found // damaged records, by the key in their bytes
	deleted map[string]bool   // deleted commits, of this generation or another
	damaged int               // number of records with a mark and a wrong checksum
	numbers numbers
	log     logState
}

func newContent() *content {
	return &content{commits: map[string]*found{}, broken: map[string]*found{}, deleted: map[string]bool{}}
}

// window is how much of a file is scanned in one step. Two of the largest records fit into it.
const window = 4 << 20

// Suffixes of Badger's files.
const (
	logSuffix   = ".mem"
	tableSuffix = ".sst"
	valueSuffix = ".vlog"
)

// scan searches Badger's files for records: first its logs, then its tables. Badger creates the
// table of a log before it removes the log, so no record is missed in this order.
func scan(g *generation) (*content, error) {
	s := newContent()
	for _, suffix := range []string{logSuffix, tableSuffix} {
		list, err := g.fs.ReadDir(g.path)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			switch path := filepath.Join(g.path, e.Name()); filepath.Ext(e.Name()) {
			case valueSuffix:
				s.log.begun = true
			case suffix:
				if err := s.scanFile(g, path); err != nil {
					return nil, fmt.Errorf("search %s for commits: %w", path, err)
				}
			}
		}
	}
	return s, nil
}

// scanFile searches a file for records.
func (s *content) scanFile(g *generation, path string) error {
	isLog := filepath.Ext(path) == logSuffix
	f, err := disk.Open(g.fs, path)
	if isLog && errors.Is(err, fs.ErrNotExist) {
		return nil // Badger has converted it to a table
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	if isLog {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		s.log.newest, s.log.bytes = path, info.Size() // names are sorted by age
	}
	buf := make([]byte, window)
	for offset := int64(0); ; {
		n, err := f.ReadAt(buf, offset)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		used := s.scanBytes(g.mark, path, offset, buf[:n], last)
		if last {
			return nil
		}
		offset += int64(used)
	}
}

// scanBytes searches a part of a file for records. It returns how many bytes need not be searched
// again.
func (s *content) scanBytes(m mark, path string, offset int64, data []byte, last bool) int {
	at := 0
	for {
		i := bytes.Index(data[at:], m[:])
		if i < 0 {
			return max(at, len(data)-markSize+1)
		}
		at += i
		r, n, ok := decodeRecord(data[at:])
		where := span{path, offset + int64(at), n}
		switch {
		case ok:
			s.add(&r, where)
			at += n
		case !last && len(data)-at < headSize+maxKey+maxPart:
			return at // the record may continue in the next window
		default:
			s.damaged++
			if r.part < r.parts && r.parts <= maxParts {
				place(s.broken, &r, where)
			}
			at += markSize
		}
	}
}

// add adds a record. A record that is in a log and in the table of this log is the same.
func (s *content) add(r *record, where span) {
	s.numbers.add(r)
	switch {
	case r.parts > 0:
		place(s.commits, r, where)
	case r.key != "":
		s.deleted[r.key] = true
	default:
		s.log.ended = true
	}
}

// place adds the location of a part of a commit. If a commit was put several times, the latest one
// counts.
func place(in map[string]*found, r *record, where span) {
	c := in[r.key]
	if c == nil || len(c.parts) != r.parts || r.at.After(c.at) {
		c = &found{at: r.at, parts: make([]span, r.parts)}
		in[r.key] = c
	}
	if r.at.Before(c.at) || c.parts[r.part].size > 0 {
		return
	}
	c.parts[r.part] = where
	c.size += int64(len(r.body))
}

// find returns the locations of a commit's parts. It uses damaged parts where there are no others.
func (s *content) find(key string) *found {
	f, broken := s.commits[key], s.broken[key]
	switch {
	case f == nil && broken == nil:
		return &found{parts: make([]span, 1)} // no part was found
	case f == nil:
		return broken
	case broken != nil && len(broken.parts) == len(f.parts):
		for i, p := range f.parts {
			if p.size == 0 {
				f.parts[i] = broken.parts[i]
			}
		}
	}
	return f
}

// read reads the commit with a key from files. If it is damaged, read returns [ErrDamaged] together
// with the bytes.
func (f *found) read(on disk.FS, key string) (out []byte, err error) {
	out = make([]byte, 0, f.size)
	for i, s := range f.parts {
		if s.size == 0 {
			err = fmt.Errorf("part %d was not found in any file: %w", i, ErrDamaged)
			continue
		}
		body, rerr := s.read(on, key)
		if rerr != nil && !errors.Is(rerr, ErrDamaged) {
			return nil, rerr
		}
		if rerr != nil {
			err = rerr
		}
		out = append(out, body...)
	}
	return out, err
}

// read reads the body of a record. If it is damaged, read returns [ErrDamaged] together with the
// bytes.
func (s span) read(on disk.FS, key string) ([]byte, error) {
	f, err := disk.Open(on, s.file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data := make([]byte, s.size)
	if _, err := f.ReadAt(data, s.offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.file, err)
	}
	r, _, ok := decodeRecord(data)
	if ok {
		return r.body, nil
	}
	return data[min(len(data), headSize+len(key)):], fmt.Errorf("%s at %d: %w", s.file, s.offset, ErrDamaged)
}
