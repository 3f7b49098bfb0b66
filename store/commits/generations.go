package commits

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// enter has a generation stay open until [Log.leave]. It fails if that is being closed. The caller has the lock.
func (l *Log) enter(g *generation) bool {
	if !g.closing {
		g.users++
	}
	return !g.closing
}

// leave ends what enter began. The caller has the lock.
func (l *Log) leave(g *generation) {
	if g.users--; g.over && g.users == 0 {
		g.closing = true
		go l.end(g)
	}
}

// taker returns the generation that takes commits, which it has entered, and makes one if there is none.
func (l *Log) taker() (*generation, error) {
	if g, err := l.last(); g != nil || err != nil {
		return g, err
	}
	l.beginning.Lock()
	defer l.beginning.Unlock()
	if g, err := l.last(); g != nil || err != nil {
		return g, err
	}
	l.mu.Lock()
	l.number++
	number := l.number
	l.mu.Unlock()
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	if err := disk.SyncDir(filepath.Dir(l.dir)); err != nil {
		return nil, err
	}
	g, err := create(l.dir, number, l.opts.Now(), l.opts.Warn)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLast()
	l.generations = append(l.generations, g)
	if l.closed {
		l.endLast()
		return nil, errClosed
	}
	l.enter(g)
	return g, nil
}

// last returns the generation that takes commits, which it has entered; nil if one must be made.
func (l *Log) last() (*generation, error) {
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
	l.enter(g)
	return g, nil
}

// endLast has the generation end that takes commits, when nobody uses it any more. The caller has the lock.
func (l *Log) endLast() {
	if n := len(l.generations); n > 0 && !l.generations[n-1].over {
		g := l.generations[n-1]
		g.over = true
		g.users++
		l.leave(g)
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

// end closes Badger of a generation, whose commits are read from its files from then on.
func (l *Log) end(g *generation) {
	defer close(g.ended)
	if l.opts.Room() {
		l.closeBadger(g)
	} else {
		l.mu.Lock()
		g.open = true
		l.mu.Unlock()
	}
	if err := l.rescan(g); err != nil {
		l.opts.Warn(fmt.Errorf("commits can not be read until the next start: %w", err))
	}
	if err := l.removeEmpty(); err != nil {
		l.opts.Warn(fmt.Errorf("commits that are deleted still take room: %w", err))
	}
}

// closeBadger closes Badger of a generation.
func (l *Log) closeBadger(g *generation) {
	if err := g.close(); err != nil {
		l.opts.Warn(fmt.Errorf("badger did not end well, and its files are read: %w", err))
	}
}

// rescan finds the commits of a generation in its files.
func (l *Log) rescan(g *generation) error {
	l.mu.Lock()
	empty := g.live == 0
	g.scanned = empty
	l.mu.Unlock()
	if empty {
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

// goes reports whether nothing is left of a generation. One of which Badger is open still takes room to go. The caller has the lock.
func (g *generation) goes(room func() bool) bool {
	return g.live == 0 && g.scanned && (!g.open || room())
}

// removeEmpty removes generations of which nothing is left, oldest first, since newer ones say what of older ones is deleted.
func (l *Log) removeEmpty() error {
	if l.opts.ReadOnly {
		return nil
	}
	l.mu.Lock()
	n := 0
	for n < len(l.generations) && l.generations[n].goes(l.opts.Room) {
		n++
	}
	empty := l.generations[:n:n]
	l.generations = l.generations[n:]
	l.mu.Unlock()
	for _, g := range empty {
		if g.open { // else its room would not be free before the process ends
			l.closeBadger(g)
		}
		if err := g.remove(); err != nil {
			return err
		}
	}
	return nil
}
