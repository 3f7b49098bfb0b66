package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// loadingFile is in a directory that is being made by a [Loader]. It says of what, and which hours and days it has.
// Until it is gone there is no FORMAT, and nobody opens the directory.
const loadingFile = "LOADING"

// Loader is a [store.Loader] that makes a data directory.
type Loader struct {
	dir    string
	opts   Options
	lock   *disk.Lock
	codec  *record.Codec
	shelf  *rollups.Shelf
	done   map[string]string // states of hours and days, by name
	log    *os.File
	closed bool
}

// loaded is a line of loadingFile.
type loaded struct {
	From  string `json:"from,omitempty"` // of the first line
	Name  string `json:"name,omitempty"`
	State string `json:"state,omitempty"`
}

// OpenLoader begins to make dir, or goes on with that. It must be new or empty, or one that was begun of the same source.
func OpenLoader(dir, from string, o Options) (*Loader, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	l := &Loader{dir: dir, opts: o, done: map[string]string{}}
	if l.lock, err = disk.OpenLock(dir, o.Program); err != nil {
		return nil, err
	}
	if err = l.lock.Exclusive("load", 0); err == nil {
		err = l.open(from)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", dir, err), l.release())
	}
	return l, nil
}

func (l *Loader) open(from string) (err error) {
	path := filepath.Join(l.dir, loadingFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.checkEmpty(); err != nil {
			return err
		}
		first, err := json.Marshal(loaded{From: from})
		if err != nil {
			return err
		}
		if err := disk.WriteFile(path, append(first, '\n')); err != nil {
			return err
		}
	} else if err != nil {
		return err
	} else if err := l.readDone(text, from); err != nil {
		return err
	}
	if l.log, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' { // of a line that was being written
		if _, err := l.log.WriteString("\n"); err != nil {
			return err
		}
	}
	if l.codec, err = record.NewCodec(l.opts.MaxPayload); err != nil {
		return err
	}
	l.shelf, err = rollups.Load(l.dir, rollups.Options{})
	return err
}

func (l *Loader) checkEmpty() error {
	entries, err := os.ReadDir(l.dir)
	for _, e := range entries {
		if e.Name() != "lost+found" && e.Name() != disk.LockFile {
			return fmt.Errorf("it is not empty (%s is there): use a new directory", e.Name())
		}
	}
	return err
}

// readDone reads which hours and days there are. A line that was cut off does not count.
func (l *Loader) readDone(text []byte, from string) error {
	for i, line := range bytes.Split(text, []byte("\n")) {
		var x loaded
		err := json.Unmarshal(line, &x)
		switch {
		case i == 0 && (err != nil || x.From != from):
			return fmt.Errorf("it was begun of %q: go on with that, or delete it", x.From)
		case err == nil && x.Name != "":
			l.done[x.Name] = x.State
		}
	}
	return nil
}

// Has implements [store.Loader].
func (l *Loader) Has(name, state string) bool { return l.done[name] == state }

// note notes that there is an hour or day.
func (l *Loader) note(name, state string) error {
	line, err := json.Marshal(loaded{Name: name, State: state})
	if err != nil {
		return err
	}
	if _, err := l.log.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("note %s: %w", name, err)
	}
	l.done[name] = state
	return l.log.Sync()
}

// Close leaves a directory to be gone on with, unless [Loader.Finish] was called.
func (l *Loader) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	return l.release()
}

func (l *Loader) release() error {
	if l.codec != nil {
		l.codec.Close()
	}
	var err error
	if l.log != nil {
		err = l.log.Close()
	}
	return errors.Join(err, l.lock.Release())
}

// Finish makes the directory one that can be opened.
func (l *Loader) Finish() error {
	if err := writeFormat(l.dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(l.dir, loadingFile)); err != nil {
		return err
	}
	return errors.Join(disk.SyncDir(l.dir), l.Close())
}

// room reports that the disk is nearly full: what writes there would end the process.
func (l *Loader) room() error {
	space := disk.NewSpace(l.dir, disk.SpaceOptions{MinFree: l.opts.MinFree, Log: l.opts.Logger})
	return space.Room(max(0, l.opts.MinFree), 0)
}

// Sums implements [store.Loader].
func (l *Loader) Sums(name, state string, x store.LoadSums) error {
	if err := l.room(); err != nil {
		return err
	}
	span := rollups.Hours
	var sources []uint32
	for _, hour := range x.Hours {
		span = rollups.Days
		sources = append(sources, rollups.Minutes(hour))
	}
	slices.Sort(sources)
	w, err := l.shelf.Edit(span, rollups.Minutes(x.Start), sources...)
	if err != nil {
		return err
	}
	defer w.Abort()
	sum := rollups.Sum{First: x.First.UnixMicro(), Last: x.Last.UnixMicro()}
	counted := map[string]uint64{}
	err = x.Catalog(func(e store.CatalogEntry) {
		w.Count(e.Page, e.Tag, record.Count{Traces: e.Traces, First: e.First.UnixMicro(), Last: e.Last.UnixMicro()})
		if e.Tag == (store.Tag{}) {
			counted[e.Page] = e.Traces
			sum.Traces += e.Traces
		}
	})
	if err != nil {
		return err
	}
	for _, page := range x.Pages {
		rolled, err := x.Sums(page)
		if err != nil {
			return err
		}
		b, err := buildPage(w, page, l.opts.Rollups, func(empty func() *rollup.Builder) (*rollup.Builder, error) {
			b := empty()
			for _, s := range rolled {
				b.AddRecord(s.Record, s.Stacks)
			}
			return b, nil
		})
		if err != nil {
			return err
		}
		_, n := b.Views()
		if err := putPage(w, b, page, max(counted[page], uint64(n))); err != nil {
			return err
		}
	}
	if _, err := w.Commit(sum); err != nil {
		return err
	}
	return l.note(name, state)
}

// Hour implements [store.Loader].
func (l *Loader) Hour(start time.Time) (store.HourLoader, error) {
	if err := l.room(); err != nil {
		return nil, err
	}
	name := part.Name(start)
	path := filepath.Join(l.dir, name)
	if err := os.RemoveAll(path); err != nil {
		return nil, err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	out, err := part.NewImporter(path, l.opts.MemTableSize, l.opts.Logger)
	if err != nil {
		return nil, fmt.Errorf("make partition %s: %w", name, err)
	}
	return &hourLoader{l: l, path: path, out: out}, nil
}
