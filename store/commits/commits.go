package commits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

var (
	// ErrNotFound is returned if there is no such commit.
	ErrNotFound = errors.New("no such commit")
	// ErrDamaged is returned if the bytes of a commit were read but are wrong. A failed read is not
	// damage.
	ErrDamaged = errors.New("damaged")
)

// Log keeps commits until they are deleted. It is safe for concurrent use.
type Log struct {
	dir  string
	opts Options
	lost int

	slots     chan struct{} // one for each write in progress, which may take forever on a failing disk
	beginning sync.Mutex    // held while a generation is created
	removing  sync.Mutex    // held while generations are removed

	mu          sync.Mutex    // guards the fields below, and some fields of generations
	generations []*generation // oldest first; the newest one may be active
	number      int           // of the newest generation
	commits     map[string]commit
	writes      map[*[]record]time.Time // start times of the writes in progress
	failure     error                   // error of the write that ended last; nil if it succeeded
	failedAt    time.Time
	retrying    bool // Failure has started a write
	closed      bool
}

// commit is the location of a commit: in Badger or in files.
type commit struct {
	of    *generation
	at    time.Time
	size  int64
	parts int
	files *found // nil until its generation is scanned
}

// Options configures a log. Zero fields have the defaults given below.
type Options struct {
	ReadOnly bool             // nothing may be put or deleted
	Now      func() time.Time // default: time.Now
	Warn     func(error)      // called for problems that fail no call, such as lost commits; may be nil
	FS       disk.FS          // for file operations; may be a [disk.Failer] for Badger's; default: disk.OS
	// Room reports whether the disk has [Needs] bytes left, which Badger may write when it is
	// closed or when a commit is deleted. Without that space, writing would end the process. By
	// default Room is always true.
	Room func() bool
	// RetryAfter is how long after a failed write [Log.Failure] starts another one: 30 s.
	RetryAfter time.Duration
	// Allocate reserves disk space for each log before it is used, so that a full disk causes an
	// error instead of ending the process. This is only sufficient for generations of at most
	// [OneLog] bytes.
	Allocate bool
	// MaxBytes is the maximum size of a generation: 128 MiB. A larger commit gets a generation of
	// its own. MaxAge is how long a generation takes commits: 1 h.
	MaxBytes int64
	MaxAge   time.Duration
}

// Entry is a commit in a list.
type Entry struct {
	Key  string
	Size int64     // bytes
	At   time.Time // when it was put
}

// Open opens the log in a directory, which is created when necessary. No other process may write to
// it.
func Open(dir string, o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.FS == nil {
		o.FS = disk.OS
	}
	if o.Room == nil {
		o.Room = func() bool { return true }
	}
	if o.RetryAfter == 0 {
		o.RetryAfter = retryAfter
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 128 << 20
	}
	if o.MaxAge == 0 {
		o.MaxAge = time.Hour
	}
	l := &Log{
		dir: dir, opts: o, commits: map[string]commit{},
		slots: make(chan struct{}, maxWrites), writes: map[*[]record]time.Time{},
	}
	entries, err := o.FS.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), goneSuffix) && !o.ReadOnly {
			if err := disk.RemoveTree(o.FS, filepath.Join(dir, e.Name())); err != nil {
				o.Warn(fmt.Errorf("cannot free the space of deleted commits: %w", err))
			}
		}
		if g := parseName(dir, e.Name()); g != nil {
			g.fs = o.FS
			l.generations = append(l.generations, g)
		}
	}
	slices.SortFunc(l.generations, func(a, b *generation) int { return a.number - b.number })
	if n := len(l.generations); n > 0 {
		l.number = l.generations[n-1].number
	}
	if err := l.scanAll(); err != nil {
		return nil, err
	}
	l.removeEmpty()
	return l, nil
}

// scanAll finds the commits of all generations.
func (l *Log) scanAll() error {
	deleted := map[string]bool{}
	for _, g := range l.generations {
		s, err := scan(g)
		if l.opts.ReadOnly && errors.Is(err, fs.ErrNotExist) {
			continue // the writing process has removed it, because all of its commits are deleted
		}
		if err != nil {
			return err
		}
		g.to(scanned)
		l.note(g, s)
		maps.Copy(deleted, s.deleted)
	}
	for key := range deleted {
		l.forget(key)
	}
	return nil
}

// note adds the commits in the files of a generation.
func (l *Log) note(g *generation, s *content) {
	for key, f := range s.commits {
		if !f.isWhole() {
			continue // the write did not complete, or a part is damaged
		}
		l.forget(key)
		l.commits[key] = commit{of: g, at: f.at, size: f.size, parts: len(f.parts), files: f}
		g.live++
	}
	if !l.opts.ReadOnly { // in read-only mode another process may be writing these files
		l.report(g, s)
	}
}

// forget removes a commit from the index.
func (l *Log) forget(key string) {
	if c, ok := l.commits[key]; ok {
		c.of.live--
		delete(l.commits, key)
	}
}

// Put stores a commit durably. The same commit may be put again until it is deleted. If ctx ends
// first, Put returns, but the commit may still be stored later.
func (l *Log) Put(ctx context.Context, key string, body []byte) error {
	if len(key) > maxKey || len(body) > maxCommit {
		return fmt.Errorf("commit %.64q of %d bytes: the key or the commit is too large", key, len(body))
	}
	now := l.opts.Now().Truncate(time.Microsecond)
	var records []record
	for part := range max(1, (len(body)+maxPart-1)/maxPart) {
		records = append(records, record{key: key, at: now, part: part, body: body[part*maxPart : min(len(body),
			(part+1)*maxPart)]})
	}
	for i := range records {
		records[i].parts = len(records)
	}
	return l.write(ctx, records, func(g *generation) {
		l.forget(key)
		l.commits[key] = commit{of: g, at: now, size: int64(len(body)), parts: len(records)}
		g.live++
	})
}

// Delete deletes commits. It ignores unknown keys. Commits that are deleted while the disk is full
// may reappear after a restart.
func (l *Log) Delete(ctx context.Context, keys ...string) error {
	var records []record
	l.mu.Lock()
	seen := map[string]bool{}
	for _, key := range keys {
		_, there := l.commits[key]
		if (there || l.mayHave(key)) && !seen[key] {
			seen[key] = true
			records = append(records, record{key: key, at: l.opts.Now()})
		}
	}
	l.mu.Unlock()
	if len(records) == 0 {
		return nil
	}
	forget := func(*generation) {
		for i := range records {
			l.forget(records[i].key)
		}
	}
	if l.opts.Room() {
		if err := l.write(ctx, records, forget); err != nil {
			return err
		}
	} else {
		l.mu.Lock()
		forget(nil)
		l.mu.Unlock()
	}
	l.retireEmpty()
	l.removeEmpty()
	return nil
}

// mayHave reports whether an unknown commit may reappear after a restart, because its Put failed.
// The caller holds the lock.
func (l *Log) mayHave(key string) bool {
	return slices.ContainsFunc(l.generations, func(g *generation) bool { return g.unsure[key] })
}

// List returns the commits whose keys begin with prefix and are greater than after, sorted by key.
func (l *Log) List(prefix, after string) (out []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, c := range l.commits {
		if strings.HasPrefix(key, prefix) && key > after {
			out = append(out, Entry{key, c.size, c.at})
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// closeWait bounds how long Close waits for Badger, which retries forever if it cannot write.
const closeWait = 10 * time.Second

// Close closes the log. It returns an error if Badger does not close within 10 s; no commit is lost
// then.
func (l *Log) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.retire()
	ending := slices.Clone(l.generations)
	l.mu.Unlock()
	if closed {
		return nil
	}
	late := time.After(closeWait)
	for _, g := range ending {
		if g.ended == nil {
			continue // it was not open
		}
		select {
		case <-g.ended:
		case <-late:
			return fmt.Errorf("badger did not close within %v", closeWait)
		}
	}
	l.removeEmpty()
	return nil
}
