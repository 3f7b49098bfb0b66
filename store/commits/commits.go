package commits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	// ErrNotFound says that there is no such commit.
	ErrNotFound = errors.New("no such commit")
	// ErrDamaged says that a commit is not what was put, which can not be undone.
	ErrDamaged = errors.New("damaged")

	errClosed = errors.New("the log is closed, or is for reading")
)

// Log keeps commits until they are deleted. Its methods may be called at once.
type Log struct {
	dir  string
	opts Options

	slots     chan struct{} // one for each write under way, which an ailing disk may keep for long
	beginning sync.Mutex    // held by who makes a generation

	mu          sync.Mutex    // guards the fields below, and of each generation those that say so
	generations []*generation // oldest first; the last one takes commits, unless it is over
	number      int           // of the newest generation
	commits     map[string]commit
	writes      map[*[]record]time.Time // those under way, and when they began
	failure     error                   // of the last write, if it failed
	failed      time.Time               // when it did
	closed      bool
}

// commit says where a commit is: in Badger, or in files.
type commit struct {
	of    *generation
	at    time.Time
	size  int64
	parts int
	files *found // nil while Badger is open
}

// Options say how a log is used. The zero value is the default given with each field.
type Options struct {
	ReadOnly bool             // nothing is put or deleted
	Now      func() time.Time // the clock: time.Now
	Warn     func(error)      // is told of what goes wrong, or is damaged, and fails no call; nobody is
	// Room reports whether the disk has room for what Badger writes when it is closed, or when something is deleted: [Needs] bytes. Where it has none, the
	// process would end by that. It always has.
	Room func() bool
	// MaxBytes is how much one generation takes: 128 MiB. MaxAge is for how long it does: 1 h.
	MaxBytes int64
	MaxAge   time.Duration
}

// Entry is a commit in a list.
type Entry struct {
	Key  string
	Size int64     // bytes
	At   time.Time // when it was put
}

// Open opens the log in a directory, which need not be there. Nobody else may write to it.
func Open(dir string, o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.Room == nil {
		o.Room = func() bool { return true }
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 128 << 20
	}
	if o.MaxAge == 0 {
		o.MaxAge = time.Hour
	}
	l := &Log{dir: dir, opts: o, commits: map[string]commit{}, slots: make(chan struct{}, maxWrites), writes: map[*[]record]time.Time{}}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), goneSuffix) && !o.ReadOnly {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
		if g := parseName(dir, e.Name()); g != nil {
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
	return l, l.removeEmpty()
}

// scanAll finds the commits of all generations.
func (l *Log) scanAll() error {
	deleted := map[string]bool{}
	for _, g := range l.generations {
		g.over, g.closing, g.scanned = true, true, true
		s, err := scan(g)
		if err != nil {
			return err
		}
		l.note(g, s)
		maps.Copy(deleted, s.deleted)
	}
	for key := range deleted {
		l.forget(key)
	}
	return nil
}

// note notes what was found in the files of a generation.
func (l *Log) note(g *generation, s *scanned) {
	for key, f := range s.commits {
		if !f.whole() {
			continue // it was not put to its end
		}
		l.forget(key)
		l.commits[key] = commit{of: g, at: f.at, size: f.size, parts: len(f.parts), files: f}
		g.live++
	}
	if s.damaged > 0 {
		l.opts.Warn(fmt.Errorf("%d commits of %s are not whole, and are left out: they were being written when the machine stopped, or are damaged", s.damaged, g.path))
	}
}

// forget forgets a commit.
func (l *Log) forget(key string) {
	if c, ok := l.commits[key]; ok {
		c.of.live--
		delete(l.commits, key)
	}
}

// Put stores a commit durably. The same commit may be put again, until it is deleted. If ctx ends before, it may be stored later.
func (l *Log) Put(ctx context.Context, key string, body []byte) error {
	if len(key) > maxKey || len(body) > maxCommit {
		return fmt.Errorf("commit %.64q of %d bytes: more than can be kept", key, len(body))
	}
	now := l.opts.Now().Truncate(time.Microsecond)
	var records []record
	for part := range max(1, (len(body)+maxPart-1)/maxPart) {
		records = append(records, record{key: key, at: now, part: part, body: body[part*maxPart : min(len(body), (part+1)*maxPart)]})
	}
	for i := range records {
		records[i].parts = len(records)
	}
	return l.write(ctx, records, func(g *generation) {
		l.forget(key)
		l.commits[key] = commit{of: g, at: now, size: int64(len(body)), parts: len(records)}
		g.live++
		g.bytes += int64(len(body))
	})
}

// Delete deletes commits. Those that are not there are fine. What is deleted while the disk is full may be there again after a start.
func (l *Log) Delete(ctx context.Context, keys ...string) error {
	var records []record
	l.mu.Lock()
	for _, key := range keys {
		if _, ok := l.commits[key]; ok {
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
	l.endEmpty()
	return l.removeEmpty()
}

// maxWrites bounds how many writes are under way. Badger makes one of those that come at once.
const maxWrites = 32

// write stores records, and then notes that in the generation that has them. An ailing disk may keep it for ever, but not the caller.
func (l *Log) write(ctx context.Context, records []record, note func(g *generation)) error {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	l.writes[&records] = time.Now()
	l.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		defer l.written(&records)
		g, err := l.taker()
		if err == nil {
			if err = g.knock(); err == nil {
				err = g.put(records...)
			}
			l.wrote(g, err, note)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("commit: %w", err)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// written notes that a write is over.
func (l *Log) written(records *[]record) {
	l.mu.Lock()
	delete(l.writes, records)
	l.mu.Unlock()
	<-l.slots
}

// Waits returns for how long the write has been under way that began first; 0 if there is none.
func (l *Log) Waits() (oldest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, began := range l.writes {
		oldest = max(oldest, time.Since(began))
	}
	return oldest
}

// wrote notes what became of a write.
func (l *Log) wrote(g *generation, err error, note func(g *generation)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure = err; err != nil {
		g.failed, l.failed = true, time.Now()
	} else {
		note(g)
	}
	l.leave(g)
}

// failedFor is for how long a write that failed says something: who goes by that may write nothing more.
const failedFor = 30 * time.Second

// Failure returns why the last write failed, if that was a moment ago.
func (l *Log) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.failed) > failedFor {
		return nil
	}
	return l.failure
}

// Get returns a commit of at most so many bytes. [ErrDamaged] says that it was there.
func (l *Log) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	c, open, err := l.find(key)
	if err == nil && !open && c.files == nil { // its generation is being closed
		select {
		case <-c.of.ended:
			c, open, err = l.find(key)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if open {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.leave(c.of)
		}()
	}
	switch {
	case err != nil:
		return nil, err
	case c.size > most:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", c.size, most)
	case open:
		return c.of.get(key, c.parts, c.size)
	case c.files == nil:
		return nil, fmt.Errorf("it is not in its files: %w", ErrDamaged)
	}
	body, err := c.files.read()
	if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
		err = ErrNotFound
	}
	return body, err
}

// find returns where a commit is. It has entered its generation if that is open.
func (l *Log) find(key string) (c commit, open bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.commits[key]
	switch {
	case !ok:
		return c, false, ErrNotFound
	case l.closed:
		return c, false, errClosed
	}
	return c, c.files == nil && l.enter(c.of), nil
}

// List returns the commits whose keys begin with prefix and are behind after, sorted by key.
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

// closeWait bounds how long it is waited for Badger: one that can not write tries again for ever.
const closeWait = 10 * time.Second

// Close ends the log. It fails if Badger does not end within some seconds, for which nothing is lost that was put.
func (l *Log) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.endLast()
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
			return fmt.Errorf("badger did not end in %v", closeWait)
		}
	}
	return l.removeEmpty()
}
