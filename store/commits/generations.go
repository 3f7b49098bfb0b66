package commits

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// acquire keeps a generation open until [Log.release], and reports whether it is open at all. The
// caller holds the lock.
func (l *Log) acquire(g *generation) bool {
	if !g.isOpen() {
		return false
	}
	g.users++
	return true
}

// release ends what acquire began. The caller holds the lock.
func (l *Log) release(g *generation) {
	if g.users--; g.state == retired && g.users == 0 {
		g.to(closing)
		go l.end(g)
	}
}

// writable returns a generation that takes so many bytes, acquired. It makes one if there is none.
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

// newest returns the generation that takes so many bytes, acquired; nil if one must be made.
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

// isOld reports whether a generation has taken commits for as long as it may.
func (l *Log) isOld(g *generation) bool { return l.opts.Now().Sub(g.began) >= l.opts.MaxAge }

// Purge removes the bytes of deleted commits from the disk, as far as no other commit shares a
// generation with them. It retires the newest generation if it is older than [Options.MaxAge],
// which no Put may do for a long time, or regardless of its age.
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

// worthEnding is how many bytes a generation has at least that ends for its room.
const worthEnding = 1 << 20

// retireEmpty retires the newest generation if all commits are deleted, to free its room.
func (l *Log) retireEmpty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.generations); len(l.commits) == 0 && n > 0 && l.generations[n-1].bytes >= worthEnding {
		l.retire()
	}
}

// end closes Badger in a generation. Its commits are read from its files from then on.
func (l *Log) end(g *generation) {
	defer close(g.ended)
	if l.opts.Room() {
		l.closeBadger(g, g.end)
	}
	l.mu.Lock()
	g.to(unread)
	l.mu.Unlock()
	if err := l.scan(g); err != nil {
		l.opts.Warn(fmt.Errorf("files of commits cannot be read, and are tried again with the next read: %w", err))
	}
	l.removeEmpty()
}

// closeBadger closes Badger in a generation. If that fails, its files are as good.
func (l *Log) closeBadger(g *generation, how func() error) {
	if err := how(); err != nil {
		l.opts.Warn(fmt.Errorf("badger did not end well, and its files are read: %w", err))
	}
}

// scan finds the commits of an unread generation in its files. If it fails, nothing changes, and
// it can be called again.
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

// changed marks a generation whose files are not as the last scan found them.
func (l *Log) changed(g *generation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.state == scanned {
		g.to(unread)
	}
}

// removable reports whether a generation can be removed: all of its commits are deleted, and
// Badger is closed or can be. Whether its files were scanned does not matter, since none of them
// has a commit that is not counted. The caller holds the lock.
func (g *generation) removable(room func() bool) bool {
	return g.live == 0 && (g.state == unread || g.state == scanned) && (g.db == nil || room())
}

// removeEmpty removes generations without commits, oldest first, since newer ones have the records
// of deletions of older commits. A failure is only a warning: deleted commits stay deleted, and
// the next call tries again.
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
		if g.db != nil { // else its room would not be free before the process ends
			l.closeBadger(g, g.end)
		}
		if g.db != nil {
			return // closed without a last record, its log would seem to be lost if it stayed
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
			l.opts.Warn(fmt.Errorf("deleted commits still take room: %w", err))
			return
		}
	}
}

// errClosed is returned for writes to a log that accepts none.
var errClosed = errors.New("the log is closed, or is read-only")
