package part

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// Options say how partitions are opened.
type Options struct {
	Width        time.Duration // of new partitions; divides an hour
	MemTableSize int64         // of Badger, in bytes
	MaxOpen      int           // partitions that are kept open for reading alone
	Space        *disk.Space
	Log          *slog.Logger
	// Failed is told that a partition could not be closed: it is not known what is on disk.
	Failed func(error)
	// Begin puts what a partition begins with into one that is made ahead of its time, beside
	// the goroutine that writes. It is nil if there is nothing.
	Begin func(put func([]record.Pair) error) error
}

// Shelf has the partitions of a data directory and the open handles on them. Its methods
// are safe for concurrent use, but for those of the writer.
type Shelf struct {
	dir string
	o   Options

	mu    sync.Mutex
	parts []*Partition // by name, which is by time
	aside []Aside
	tick  uint64 // counts reads, as the clock of the handles

	writer     *Writer       // nil until the first commit, and after the time of its partition
	ahead      *ahead        // the partition of the next turn, nil if it is not yet begun
	background int           // goroutines that close, delete, and make ahead
	settled    chan struct{} // closed when there are none; nil if nobody waits for that
	closed     bool          // nothing is read any more
}

// Open lists the partitions in dir. Those that were not closed cleanly are returned, to be
// recovered before they are read, see [Shelf.Recover].
func Open(dir string, o Options) (s *Shelf, dirty []*Partition, err error) {
	s = &Shelf{dir: dir, o: o}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if of, ok := ParseAsideName(name); ok && e.IsDir() {
			if start, ok := ParseName(of); ok {
				s.aside = append(s.aside, readAside(dir, name, start))
			}
			continue
		}
		start, ok := ParseName(name)
		if !ok || !e.IsDir() || isAhead(entries, name) {
			continue
		}
		p := &Partition{Name: name, Start: start, path: filepath.Join(dir, name)}
		if p.contents, err = readClean(p.path); err != nil {
			dirty = append(dirty, p)
		}
		s.parts = append(s.parts, p) // ReadDir sorts by name
	}
	return s, dirty, nil
}

// RemoveTrash removes what an interrupted deletion has left in dir, and what was made ahead
// of its time and not used.
func RemoveTrash(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), disk.TrashSuffix) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("finish deleting a partition: %w", err)
			}
		}
	}
	return removeAheads(dir, entries)
}

// All returns what is known of all partitions, oldest first.
func (s *Shelf) All() []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Info, 0, len(s.parts))
	for i := range s.parts {
		all = append(all, s.info(i))
	}
	return all
}

// info is called with the lock held.
func (s *Shelf) info(i int) Info {
	p := s.parts[i]
	return Info{p, p.contents, p.fault, s.writer != nil && s.writer.p == p, p.writable() || i == len(s.parts)-1 && !p.contents.Sealed}
}

// Lookup returns what is known of p now.
func (s *Shelf) Lookup(p *Partition) Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.parts, p); i >= 0 {
		return s.info(i)
	}
	return Info{Partition: p, Contents: p.contents, Fault: p.fault}
}

// Asides returns the partitions that were set aside.
func (s *Shelf) Asides() []Aside {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.aside)
}

// newest returns the newest partition, and whether there is one.
func (s *Shelf) newest() (Info, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) == 0 {
		return Info{}, false
	}
	return s.info(len(s.parts) - 1), true
}

// before returns the partition before p, nil if there is none.
func (s *Shelf) before(p *Partition) *Partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.parts, p); i > 0 {
		return s.parts[i-1]
	}
	return nil
}

// Pin returns the partitions for which want is true, oldest first, and keeps their
// directories until unpin is called.
func (s *Shelf) Pin(want func(*Info) bool) (pinned []Info, unpin func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.parts {
		if info := s.info(i); want(&info) {
			info.pins++
			pinned = append(pinned, info)
		}
	}
	return pinned, func() { s.unpin(pinned) }
}

func (s *Shelf) unpin(pinned []Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range pinned {
		if i.pins--; i.pins == 0 && i.doomed {
			s.destroy(i.Partition)
		}
	}
}

// Remove takes the named partitions off the shelf, and those that were set aside, and
// deletes their directories: now, or when nobody has them pinned any more.
func (s *Shelf) Remove(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if slices.Contains(names, p.Name) {
			p.doomed = true
			if p.pins == 0 {
				s.destroy(p)
			}
		}
	}
	s.parts = slices.DeleteFunc(s.parts, func(p *Partition) bool { return p.doomed })
	s.aside = slices.DeleteFunc(s.aside, func(a Aside) bool {
		gone := slices.Contains(names, a.Name)
		if gone {
			s.spawn(func() { s.erase(a.Path) })
		}
		return gone
	})
}

// destroy deletes a doomed partition that nobody has pinned, in the background.
func (s *Shelf) destroy(p *Partition) {
	s.spawn(func() {
		if s.take(context.Background(), p) != nil {
			return // never: its readers end soon
		}
		s.closeHandle(p)
		if p.commits != nil {
			_ = p.commits.Close() // it is deleted
		}
		s.erase(p.path)
		s.give(p, func() { p.db, p.commits = nil, nil })
	})
}

func (s *Shelf) erase(path string) {
	if err := disk.Erase(path); err != nil {
		s.o.Log.Error("delete partition", "path", path, "err", err)
		return
	}
	s.o.Log.Info("partition deleted", "path", path)
}

// spawn runs f in the background. It is called with the lock held, at any time: a
// sync.WaitGroup must not be added to while somebody waits for it.
func (s *Shelf) spawn(f func()) {
	s.background++
	go func() {
		f()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.background--; s.background == 0 && s.settled != nil {
			close(s.settled)
			s.settled = nil
		}
	}()
}

// Settle waits until what goes on in the background is done: partitions being closed,
// deleted, and made ahead.
func (s *Shelf) Settle(ctx context.Context) error {
	s.mu.Lock()
	if s.background == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.settled == nil {
		s.settled = make(chan struct{})
	}
	settled := s.settled
	s.mu.Unlock()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for partitions to be closed and deleted: %w", context.Cause(ctx))
	}
}

// Recover makes partitions readable that were not closed cleanly. One that cannot be healed
// is set aside, or left with a fault if the machine and not the data seems to be the reason.
// The caller must have the data directory for itself.
func (s *Shelf) Recover(dirty []*Partition) {
	for _, p := range dirty {
		if s.take(context.Background(), p) != nil {
			continue // never: it has no readers
		}
		c, err := s.heal(p)
		if err != nil {
			s.giveUp(p, fmt.Errorf("recover partition %s: %w", p.Name, err))
		}
		s.give(p, func() {
			if err == nil {
				p.contents, p.fault = c, nil
			}
		})
	}
}

// Faults returns why partitions could not be recovered, by name.
func (s *Shelf) Faults() map[string]error {
	faults := make(map[string]error)
	for _, i := range s.All() {
		if i.Fault != nil {
			faults[i.Name] = i.Fault
		}
	}
	return faults
}

// Retry tries again to recover the partitions that could not be because of the machine, and
// not because of what they hold.
func (s *Shelf) Retry() {
	var waiting []*Partition
	s.mu.Lock()
	for _, p := range s.parts {
		if p.fault != nil && !errors.Is(p.fault, store.ErrDamaged) && p.db == nil {
			waiting = append(waiting, p)
		}
	}
	s.mu.Unlock()
	s.Recover(waiting)
}

// heal makes p readable, which the caller has taken.
func (s *Shelf) heal(p *Partition) (Contents, error) {
	need, err := recoveryNeeds(p.path)
	if err != nil {
		return Contents{}, err
	}
	if err := s.o.Space.Ensure(need); err != nil {
		return Contents{}, err
	}
	c, err := recoverPartition(p.path, s.o.MemTableSize, s.o.Log)
	if err != nil {
		return Contents{}, err
	}
	if loss := c.Loss(p.Name); loss != "" {
		s.o.Log.Error("partition lost acknowledged traces", "partition", p.Name, "loss", loss)
	} else {
		s.o.Log.Info("partition recovered, nothing lost", "partition", p.Name, "traces", c.Traces)
	}
	return c, nil
}

// Path returns where a partition is.
func (p *Partition) Path() string { return p.path }

// at returns the partition that starts then, which there is not yet.
func (s *Shelf) at(start time.Time) *Partition {
	return &Partition{Name: Name(start), Start: start, path: filepath.Join(s.dir, Name(start))}
}

// create adds a new, empty partition to the shelf. Its name must be greater than
// those of all others. A directory that is there is what an earlier attempt has made
// before something else failed.
func (s *Shelf) create(start time.Time) (*Partition, error) {
	p := s.at(start)
	if err := errors.Join(withdraw(p.path), disk.MakeDir(p.path)); err != nil {
		return nil, fmt.Errorf("create partition: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, p)
	return p, nil
}

// CloseReaders closes all that is open for reading alone. Who reads after that, as what is summed up before somebody asks,
// gets [ErrClosed].
func (s *Shelf) CloseReaders() {
	_ = s.Settle(context.Background()) // it has no end
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, i := range s.All() {
		if s.take(context.Background(), i.Partition) != nil {
			continue // never: nobody reads
		}
		if !i.writable() {
			s.closeHandle(i.Partition)
		}
		s.give(i.Partition, func() {
			if !i.writable() {
				i.db = nil
			}
		})
	}
}
