package rollups

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// tmpSuffix is that of a file that is being written.
const tmpSuffix = ".tmp"

// maxPieces is how many pieces a stack table has at most. With one more they become one.
const maxPieces = 8

// ErrBusy is wrapped by the error of [Shelf.Edit] about a file that is being written already.
var ErrBusy = errors.New("is being written")

// Writer makes a file of sums out of the one that there is and one more hour or day. It is
// not for concurrent use. It must be ended with Commit or Abort.
type Writer struct {
	s     *Shelf
	id    identity
	name  string
	base  *File // what is there already, or nil
	sum   Sum   // Start and Sources are set
	had   []run // of base, and not written yet
	stack grown // of the page that is written next

	file    *os.File
	out     *bufio.Writer
	at      int64 // where the next byte goes
	index   index
	entries []entry
	err     error // sticks
	ended   bool

	damaged  map[place]error              // of base: by page, or by the hour of a catalogue
	expected map[uint32]map[string]uint64 // of base: traces by start and page; nil until it is needed
}

// grown is a stack table that Writer.Stacks returned.
type grown struct {
	page  string
	table *trie.Trie // nil before the first call
	anew  bool       // it does not continue the one that is stored, which is damaged
}

// Edit begins to write what was received in the hour or day that begins at start, in minutes
// since the epoch; sources are the starts of the hours that a day was made of. What there is
// of that start already is replaced. Readers see nothing of it before Commit.
//
// A file is written by one Writer at a time: another error wraps [ErrBusy].
func (s *Shelf) Edit(span Span, start uint32, sources ...uint32) (*Writer, error) {
	name := span.Name(TimeOf(start))
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.faulty, func(f Faulty) bool { return f.Name == name }); i >= 0 {
		return nil, s.faulty[i].Err
	}
	if s.writing[name] {
		return nil, fmt.Errorf("%s %w", name, ErrBusy)
	}
	w := &Writer{s: s, name: name, base: s.find(name), sum: Sum{Start: start, Sources: slices.Clone(sources)},
		id: identity{span, Minutes(span.StartOf(TimeOf(start)))}}
	if w.base != nil {
		w.had = w.base.index.runs
		w.index.sums = w.base.index.sums
	}
	w.index.sums = withSum(w.index.sums, w.sum)
	header := len(appendHeader(nil, w.id, w.index.sums))
	if header > headSize+maxTimes+4 {
		return nil, fmt.Errorf("write %s: too many sums", name)
	}
	file, err := os.OpenFile(w.tmp(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write sums: %w", err)
	}
	w.file, w.out = file, bufio.NewWriterSize(file, 1<<18)
	s.writing[name] = true
	w.write(make([]byte, header)) // its place
	return w, nil
}

func (w *Writer) tmp() string { return filepath.Join(w.s.dir, w.name+tmpSuffix) }

// write appends to the file. The first error sticks.
func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.at += int64(len(b))
	}
}

// Stacks returns the stack table of a page, to which the caller adds what its records need,
// and how much of it is stored. It is the caller's own.
//
// If the table that is stored is damaged it is an empty one. Put then leaves out the records
// that need the damaged one, and keeps how many traces they should have.
func (w *Writer) Stacks(page string) (*trie.Trie, rollup.Size, error) {
	w.stack = grown{page: page}
	if w.base != nil {
		t, size, err := w.base.readStacks(page)
		if err == nil {
			w.stack.table = t
			return t, size, nil
		}
		err = w.base.wrap(page, err)
		if !errors.Is(err, store.ErrDamaged) {
			return nil, rollup.Size{}, err
		}
		w.noteDamage(place{page: page}, err)
		w.stack.anew = true
	}
	w.stack.table = trie.New()
	return w.stack.table, rollup.SizeOf(w.stack.table), nil
}

// Put adds what there is of a page: its stack table, which is what Stacks returned last, how
// many traces were counted, and the records by level, narrow, wide and details, without
// those that are empty. Pages must come in ascending order.
func (w *Writer) Put(page string, stacks *trie.Trie, expected uint64, records [3][]byte) error {
	if err := w.ready(page, stacks); err != nil {
		return err
	}
	n, _ := w.search(page)
	w.copyRuns(n)
	if w.err != nil {
		return w.err
	}
	d := w.takeRun(page)
	w.addStacks(d, page, stacks)
	h := hour{start: w.sum.Start, expected: expected}
	for level, record := range records {
		if len(record) > 0 {
			h.records[level] = w.pack(place{kind: kindRecord + kind(level), page: page, start: h.start}, record)
		}
	}
	d.put(h)
	w.writeRun(page, d)
	return w.err
}

// ready returns an error if the page can not be put.
func (w *Writer) ready(page string, stacks *trie.Trie) error {
	switch n := len(w.index.runs); {
	case w.err != nil:
		return w.err
	case w.ended:
		return errors.New("the writer was ended")
	case len(page) > maxText:
		return fmt.Errorf("page of %d bytes is too long", len(page))
	case n > 0 && w.index.runs[n-1].page >= page:
		return fmt.Errorf("page %q comes after %q", page, w.index.runs[n-1].page)
	case w.stack.table != stacks || w.stack.page != page || stacks == nil:
		return fmt.Errorf("the stack table is not what was returned for page %q", page)
	}
	return nil
}

// Count adds an entry to the catalogue of the hour or day, in any order. There must be one
// for each page and tag at most.
func (w *Writer) Count(page string, t store.Tag, c Count) {
	if len(page) > maxText || len(t.Key) > maxText || len(t.Value) > maxText {
		w.err = errors.Join(w.err, fmt.Errorf("count traces of a page of %d bytes: too long", len(page)))
		return
	}
	w.entries = append(w.entries, entry{page, t, c})
}

// Commit puts the new file in the place of the old one and returns it. From then on it
// survives the loss of power. Start and Sources of sum are those that Edit was given.
// What is damaged in the old file is so in the new one, see [Writer.Damaged].
//
// After an error the old file is there as before, but for one about syncing the directory:
// then the new one is there, and may be gone after a loss of power.
func (w *Writer) Commit(sum Sum) (*File, error) {
	f, err := w.commit(sum)
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("write %s: %w", w.name, err)
	}
	return f, nil
}

func (w *Writer) commit(sum Sum) (*File, error) {
	if w.ended {
		return nil, errors.New("the writer was ended")
	}
	sum.Start, sum.Sources = w.sum.Start, w.sum.Sources
	w.index.sums = withSum(w.index.sums, sum)
	w.copyRuns(len(w.had))
	w.writeCounts()
	f, err := w.finish()
	if err != nil {
		return nil, err
	}
	return f, w.replace(f)
}

// finish writes the ends of the file and opens it.
func (w *Writer) finish() (*File, error) {
	data := appendIndex(nil, &w.index)
	if w.err == nil && len(data) > maxIndex {
		w.err = fmt.Errorf("index of %d bytes is too long", len(data))
	}
	header := appendHeader(nil, w.id, w.index.sums)
	t := trailer{identity: w.id, index: uint64(w.at), indexLength: uint32(len(data)),
		indexSum: w.id.checksum(place{kind: kindIndex}, data), header: uint32(len(header))}
	w.write(data)
	w.write(t.append(nil))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	w.s.step("written")
	if w.err == nil {
		_, w.err = w.file.WriteAt(header, 0)
	}
	w.s.step("header written")
	if w.err == nil {
		w.err = w.file.Sync()
	}
	w.s.step("synced")
	if w.err != nil {
		return nil, w.err
	}
	return NewFile(w.file, w.at, w.name, w.s.cache)
}

// replace puts the new file in the place of the old one.
func (w *Writer) replace(f *File) error {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(w.name) != w.base {
		return errors.New("the file that it was made of is not there any more")
	}
	if w.base == nil {
		if _, err := os.Lstat(filepath.Join(s.dir, w.name)); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(errors.New("there is a file that nobody knows of"), err)
		}
	}
	if err := os.Rename(w.tmp(), filepath.Join(s.dir, w.name)); err != nil {
		return err
	}
	s.step("renamed")
	s.files = withFile(s.files, f)
	w.end()
	return disk.SyncDir(s.dir)
}

// end lets others write the file. It is called with the lock held.
func (w *Writer) end() {
	w.ended = true
	delete(w.s.writing, w.name)
}

// Abort gives up what was written. After Commit it does nothing.
func (w *Writer) Abort() {
	if w.ended {
		return
	}
	w.file.Close()
	os.Remove(w.tmp()) // Load does it if this can not
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.end()
}

// String returns what is written.
func (w *Writer) String() string {
	return fmt.Sprintf("%s from %s", w.name, TimeOf(w.sum.Start).Format(time.RFC3339))
}

// Replaces returns the file whose place the new one takes, nil if there is none.
func (w *Writer) Replaces() *File { return w.base }
