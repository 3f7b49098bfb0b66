package commits

import (
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

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// ErrNotFound says that there is no such commit.
var ErrNotFound = errors.New("no such commit")

var (
	errDamaged = errors.New("damaged") // bytes are not those that were written
	errClosed  = errors.New("the log is closed, or is for reading")
)

// Log keeps commits until they are deleted. Its methods may be called at once.
type Log struct {
	dir  string
	opts Options

	beginning sync.Mutex     // held by who makes a generation
	ending    sync.WaitGroup // of generations that take nothing more

	mu          sync.Mutex    // guards the fields below, and of each generation those that say so
	generations []*generation // oldest first; the last one takes commits, unless it is over
	last        int           // the number of the newest generation
	commits     map[string]commit
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
	if o.MaxBytes == 0 {
		o.MaxBytes = 128 << 20
	}
	if o.MaxAge == 0 {
		o.MaxAge = time.Hour
	}
	l := &Log{dir: dir, opts: o, commits: map[string]commit{}}
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
		l.last = l.generations[n-1].number
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
		g.over, g.scanned = true, true
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

// Put stores a commit durably. The same commit may be put again, until it is deleted.
func (l *Log) Put(key string, body []byte) error {
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
	return l.write(records, func(g *generation) {
		l.forget(key)
		l.commits[key] = commit{of: g, at: now, size: int64(len(body)), parts: len(records)}
		g.live++
		g.bytes += int64(len(body))
	})
}

// Delete deletes commits. Those that are not there are fine.
func (l *Log) Delete(keys ...string) error {
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
	err := l.write(records, func(*generation) {
		for i := range records {
			l.forget(records[i].key)
		}
	})
	if err != nil {
		return err
	}
	l.endEmpty()
	return l.removeEmpty()
}

// write stores records, and then notes that in the generation that has them.
func (l *Log) write(records []record, done func(g *generation)) error {
	for {
		g, err := l.taker()
		if g == nil && err == nil {
			err = l.begin()
		}
		if err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		if g == nil {
			continue
		}
		open, err := l.writeTo(g, records, done)
		if open && err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		if open {
			return nil
		}
	}
}

// writeTo does that for one generation. It reports whether that is not over meanwhile.
func (l *Log) writeTo(g *generation, records []record, done func(g *generation)) (open bool, err error) {
	g.use.RLock()
	defer g.use.RUnlock()
	if g.db == nil {
		return false, nil
	}
	err = g.put(records...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		g.failed = true
		return true, err
	}
	done(g)
	return true, nil
}

// taker returns the generation that takes commits; nil if one must be made.
func (l *Log) taker() (*generation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.opts.ReadOnly {
		return nil, errClosed
	}
	if len(l.generations) == 0 {
		return nil, nil
	}
	g := l.generations[len(l.generations)-1]
	if g.over || g.failed || g.bytes >= l.opts.MaxBytes || l.opts.Now().Sub(g.began) >= l.opts.MaxAge {
		return nil, nil
	}
	return g, nil
}

// begin makes a generation that takes commits, if nobody else did. The one before it ends meanwhile.
func (l *Log) begin() error {
	l.beginning.Lock()
	defer l.beginning.Unlock()
	if g, err := l.taker(); g != nil || err != nil {
		return err
	}
	l.mu.Lock()
	l.last++
	number := l.last
	l.mu.Unlock()
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(l.dir)); err != nil {
		return err
	}
	g, err := create(l.dir, number, l.opts.Now(), l.opts.Warn)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLast()
	l.generations = append(l.generations, g)
	return nil
}

// endLast has the generation end that takes commits, in the background. The caller has the lock.
func (l *Log) endLast() {
	if n := len(l.generations); n > 0 && !l.generations[n-1].over {
		last := l.generations[n-1]
		last.over = true
		l.ending.Go(func() { l.end(last) })
	}
}

// worthEnding is how many bytes a generation has at least that ends for its room.
const worthEnding = 1 << 20

// endEmpty ends the generation that takes commits if all are deleted, so that their room is free.
func (l *Log) endEmpty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.generations); len(l.commits) == 0 && n > 0 && l.generations[n-1].bytes >= worthEnding {
		l.endLast()
	}
}

// end closes Badger of a generation, whose commits are read from its files from now on.
func (l *Log) end(g *generation) {
	g.use.Lock()
	defer g.use.Unlock()
	if err := g.close(); err != nil {
		l.opts.Warn(fmt.Errorf("badger did not end well, and its files are read: %w", err))
	}
	if err := l.rescan(g); err != nil {
		l.opts.Warn(fmt.Errorf("commits can not be read until the next start: %w", err))
	}
	if err := l.removeEmpty(); err != nil {
		l.opts.Warn(fmt.Errorf("commits that are deleted still take room: %w", err))
	}
}

// rescan finds the commits of a generation in its files.
func (l *Log) rescan(g *generation) error {
	l.mu.Lock()
	g.scanned = g.live == 0
	l.mu.Unlock()
	if g.scanned {
		return nil
	}
	s, err := scan(g)
	l.mu.Lock()
	defer l.mu.Unlock()
	g.scanned = true
	if err != nil {
		return err
	}
	for key, f := range s.commits {
		if c, ok := l.commits[key]; ok && c.of == g && f.whole() {
			c.files = f
			l.commits[key] = c
		}
	}
	return nil
}

// removeEmpty removes generations of which nothing is left, oldest first, since newer ones say what of older ones is deleted.
func (l *Log) removeEmpty() error {
	if l.opts.ReadOnly {
		return nil
	}
	l.mu.Lock()
	n := 0
	for n < len(l.generations) && l.generations[n].live == 0 && l.generations[n].scanned {
		n++
	}
	empty := l.generations[:n:n]
	l.generations = l.generations[n:]
	l.mu.Unlock()
	for _, g := range empty {
		if err := g.remove(); err != nil {
			return err
		}
	}
	return nil
}

// Get returns a commit of at most so many bytes.
func (l *Log) Get(key string, most int64) ([]byte, error) {
	c, err := l.find(key)
	switch {
	case err != nil:
		return nil, err
	case c.size > most:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", c.size, most)
	case c.files == nil:
		body, open, err := c.of.get(key, c.parts, c.size)
		if open {
			return body, err
		}
		if c, err = l.find(key); err != nil { // its generation is over meanwhile
			return nil, err
		}
		if c.files == nil {
			return nil, fmt.Errorf("it is not in its files: %w", errDamaged)
		}
	}
	body, err := c.files.read()
	if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
		err = ErrNotFound
	}
	return body, err
}

// find returns where a commit is.
func (l *Log) find(key string) (commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.commits[key]
	switch {
	case !ok:
		return c, ErrNotFound
	case l.closed:
		return c, errClosed
	}
	return c, nil
}

// List returns the commits, sorted by key.
func (l *Log) List() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Entry, 0, len(l.commits))
	for key, c := range l.commits {
		out = append(out, Entry{key, c.size, c.at})
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Close ends the log.
func (l *Log) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	l.beginning.Lock() // so that nobody makes a generation meanwhile
	defer l.beginning.Unlock()
	l.ending.Wait()
	var errs []error
	for _, g := range l.generations {
		g.use.Lock()
		errs = append(errs, g.close())
		g.use.Unlock()
		g.scanned = true
	}
	return errors.Join(append(errs, l.removeEmpty())...)
}
