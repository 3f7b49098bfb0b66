package commits

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// acquire keeps a generation open until [Log.release]. It reports false if the generation is not
// open. The caller holds the lock.
func (l *Log) acquire(g *generation) bool {
	if !g.isOpen() {
		return false
	}
	g.users++
	return true
}

// release undoes acquire. The caller holds the lock.
func (l *Log) release(g *generation) {
	if g.users--; g.state == retired && g.users == 0 {
		g.to(closing)
		go l.end(g)
	}
}

// writable acquires a generation with space for size more bytes, and creates one if necessary.
func (l *Log) writable(size int64) (*generation, error) {
	if g, err := l.newest(size); g != nil || err != nil {
		return g, err
	}
	l.beginning.Lock()
	defer l.beginning.Unlock()
	if g, err := l.newest(size); g != nil || err != nil {
		return g, err
	}
	l.mu.Lock()
	l.number++
	number := l.number
	l.mu.Unlock()
	if err := disk.MakeFolder(l.opts.FS, l.dir, 0o700); err != nil {
		return nil, err
	}
	if err := disk.SyncDirOf(l.opts.FS, filepath.Dir(l.dir)); err != nil {
		return nil, err
	}
	g, err := create(l.dir, number, &l.opts)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retire()
	l.generations = append(l.generations, g)
	if l.closed {
		l.retire()
		return nil, errClosed
	}
	l.acquire(g)
	g.bytes = size
	return g, nil
}

// newest acquires the newest generation if it accepts size more bytes. It returns nil if a new one
// must be created.
func (l *Log) newest(size int64) (*generation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.opts.ReadOnly {
		return nil, errClosed
	}
	if len(l.generations) == 0 {
		return nil, nil
	}
	g := l.generations[len(l.generations)-1]
	full := g.bytes > 0 && g.bytes+size > l.opts.MaxBytes
	if g.state != active || full || l.isOld(g) {
		return nil, nil
	}
	l.acquire(g)
	g.bytes += size
	return g, nil
}

// retire closes the newest generation once its last user is done. The caller holds the lock.
func (l *Log) retire() {
	if n := len(l.generations); n > 0 && l.generations[n-1].state < retired {
		g := l.generations[n-1]
		g.to(retired)
		g.users++
		l.release(g)
	}
}

// isOld reports whether a generation has reached its maximum age.
func (l *Log) isOld(g *generation) bool { return l.opts.Now().Sub(g.began) >= l.opts.MaxAge }

// Purge removes the bytes of deleted commits from the disk, unless other commits share a generation
// with them. It retires the newest generation if it is older than [Options.MaxAge], which otherwise
// only happens with the next Put. If regardless is set, it retires the generation whatever its age.
func (l *Log) Purge(regardless bool) {
	if l.opts.ReadOnly {
		return
	}
	l.mu.Lock()
	if n := len(l.generations); n > 0 && (regardless || l.isOld(l.generations[n-1])) {
		l.retire()
	}
	l.mu.Unlock()
	l.removeEmpty()
}

// worthEnding is the minimum size of a generation that is retired early to free its space.
const worthEnding = 1 << 20

// retireEmpty retires the newest generation if all commits are deleted, to free its space.
func (l *Log) retireEmpty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.generations); len(l.commits) == 0 && n > 0 && l.generations[n-1].bytes >= worthEnding {
		l.retire()
	}
}

// end closes Badger. Afterwards the commits of the generation are read from its files.
func (l *Log) end(g *generation) {
	defer close(g.ended)
	if l.opts.Room() {
		l.closeBadger(g, g.end)
	}
	l.mu.Lock()
	g.to(unread)
	l.mu.Unlock()
	if err := l.scan(g); err != nil {
		l.opts.Warn(fmt.Errorf("files of commits cannot be read; the next read of a commit tries again: %w", err))
	}
	l.removeEmpty()
}

// closeBadger closes Badger. An error is only a warning, because the files contain all records in
// any case.
func (l *Log) closeBadger(g *generation, how func() error) {
	if err := how(); err != nil {
		l.opts.Warn(fmt.Errorf("badger failed to close; commits are read from its files: %w", err))
	}
}

// scan finds the commits of an unread generation in its files. After an error it can be called
// again.
func (l *Log) scan(g *generation) error {
	g.scanning.Lock()
	defer g.scanning.Unlock()
	l.mu.Lock()
	needed := g.state == unread && g.live > 0
	l.mu.Unlock()
	if !needed {
		return nil
	}
	s, err := scan(g)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case g.state == removed:
		return nil // all of its commits were deleted meanwhile
	case err != nil:
		return err
	}
	for key, c := range l.commits {
		if c.of == g {
			c.files = s.find(key)
			l.commits[key] = c
		}
	}
	if g.state == unread {
		g.to(scanned)
	}
	return nil
}

// changed marks a generation whose files have changed since the last scan.
func (l *Log) changed(g *generation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.state == scanned {
		g.to(unread)
	}
}

// removable reports whether a generation can be removed: all of its commits are deleted, and Badger
// is closed or can be closed. Its files need not have been scanned, because every commit in them is
// counted. The caller holds the lock.
func (g *generation) removable(room func() bool) bool {
	return g.live == 0 && (g.state == unread || g.state == scanned) && (g.db == nil || room())
}

// removeEmpty removes generations without commits. It removes the oldest first, because newer
// generations have the deletion records of older commits. A failure is only a warning: deleted
// commits stay deleted, and the next call tries again.
func (l *Log) removeEmpty() {
	if l.opts.ReadOnly {
		return
	}
	l.removing.Lock()
	defer l.removing.Unlock()
	for {
		l.mu.Lock()
		var g *generation
		if len(l.generations) > 0 && l.generations[0].removable(l.opts.Room) {
			g = l.generations[0]
		}
		l.mu.Unlock()
		if g == nil {
			return
		}
		if g.db != nil { // an open file would keep its space until the process ends
			l.closeBadger(g, g.end)
		}
		if g.db != nil {
			return // closed without a last record, it would look like a lost log
		}
		err := g.remove()
		if err == nil {
			l.mu.Lock()
			g.to(removed)
			l.generations = l.generations[1:]
			l.mu.Unlock()
			err = disk.RemoveTree(l.opts.FS, g.path+goneSuffix)
		}
		if err != nil {
			l.opts.Warn(fmt.Errorf("cannot free the space of deleted commits: %w", err))
			return
		}
	}
}

// errClosed is returned for writes to a closed or read-only log.
var errClosed = errors.New("the log is closed or read-only")
