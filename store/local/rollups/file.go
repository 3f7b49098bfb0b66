package rollups

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// File is a file of sums. It never changes and is safe for concurrent use.
//
// Who holds a File can go on reading it after another took its place, and after it was
// removed. Its descriptor is closed when nobody holds it any more, by the garbage
// collector: there is one new file an hour.
type File struct {
	identity
	r      io.ReaderAt
	name   string
	size   int64
	header int64 // length
	index  *index
	indexn int64 // length
	cache  *Cache
	serial uint64 // of the file in the cache
	dec    *zstd.Decoder
}

// Open opens the file at path, of which the name must be one of [Span.Name]. c may be nil.
//
// An error wraps [store.ErrDamaged] if the bytes are not what was written. After any other error
// the file may be fine, and it can be tried again.
func Open(path string, c *Cache) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := openFile(file, c)
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// openFile opens a file whose name must be one of [Span.Name].
func openFile(file *os.File, c *Cache) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	name := filepath.Base(file.Name())
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: it is no file", name)
	}
	f, err := NewFile(file, info.Size(), name, c)
	if err != nil {
		return nil, err
	}
	if of := f.span.Name(TimeOf(f.start)); of != name {
		return nil, fmt.Errorf("open %s: %w: it is %s by another name", name, store.ErrDamaged, of)
	}
	return f, nil
}

// NewFile returns the file of size bytes that r reads. It reads its end alone: the trailer
// and the index. The name is for errors. c may be nil. Errors are those of [Open].
func NewFile(r io.ReaderAt, size int64, name string, c *Cache) (*File, error) {
	f := &File{r: r, name: name, size: size, cache: c}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return f, nil
}

func (f *File) open() error {
	if f.size < int64(headSize+4+trailerSize) {
		return fmt.Errorf("%w: %d bytes are too few", store.ErrDamaged, f.size)
	}
	end := make([]byte, trailerSize)
	if err := f.readAt(end, f.size-trailerSize); err != nil {
		return err
	}
	t, err := parseTrailer(end, f.size)
	if err != nil {
		return err
	}
	f.identity, f.header, f.indexn = t.identity, int64(t.header), int64(t.indexLength)
	data, err := f.read(place{kind: kindIndex}, int64(t.index), f.indexn, t.indexSum)
	if err != nil {
		return err
	}
	if f.index, err = parseIndex(data, f.header, int64(t.index)); err != nil {
		return fmt.Errorf("read index: %w", err)
	}
	if f.cache != nil {
		f.serial, f.dec = f.cache.serial.Add(1), f.cache.dec
		return nil
	}
	f.dec, err = newDecompressor()
	return err
}

// Name returns the name of the file, without its directory.
func (f *File) Name() string { return f.name }

// Size returns the length of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Span returns what the file is of.
func (f *File) Span() Span { return f.span }

// Sums returns what the file has, by start. It must not be changed.
func (f *File) Sums() []Sum { return f.index.sums }

// Pages yields the pages that the file has something of, sorted.
func (f *File) Pages() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, r := range f.index.runs {
			if !yield(r.page) {
				return
			}
		}
	}
}

// Stacks returns the stack table of a page, an empty one if there is none. It is shared:
// nothing may be added to it.
func (f *File) Stacks(page string) (*trie.Trie, error) {
	key := f.key(place{kind: kindStacks, page: page})
	if got, ok := f.cache.get(key); ok {
		return got.stacks, nil
	}
	t, size, err := f.readStacks(page)
	if err != nil {
		return nil, f.wrap(page, err)
	}
	f.cache.put(key, cached{stacks: t}, 16*size.Strings+16*size.Frames+8*size.Nodes)
	return t, nil
}

// Record returns the record of a level of a page and the hour or day that begins at start,
// in minutes since the epoch, and how many bytes it takes, decompressed. The record is nil
// if there is none. stacks must be what Stacks returns. The record must not be changed.
func (f *File) Record(page string, start uint32, level rollup.Level, stacks *trie.Trie) (*rollup.Record, int, error) {
	p := place{kind: kindRecord + kind(level), page: page, start: start}
	key := f.key(p)
	if got, ok := f.cache.get(key); ok {
		return got.record, got.size, nil
	}
	data, err := f.readRecord(p, level)
	if err != nil || data == nil {
		return nil, 0, f.wrap(page, err)
	}
	rec, err := rollup.Decode(data, stacks)
	if err != nil {
		return nil, 0, f.wrap(page, fmt.Errorf("%w: %w", store.ErrDamaged, err))
	}
	f.cache.put(key, cached{record: rec, size: len(data)}, len(data))
	return rec, len(data), nil
}

// Expected returns how many traces of a page were counted in the hour or day that begins at
// start, in minutes since the epoch.
func (f *File) Expected(page string, start uint32) (traces uint64, err error) {
	_, d, err := f.directory(page)
	if err != nil {
		return 0, f.wrap(page, err)
	}
	if h := d.find(start); h != nil {
		traces = h.expected
	}
	return traces, nil
}

// Counts calls fn with the catalogue of the hour or day that begins at start, in minutes
// since the epoch, sorted by page and tag. After an error it is not complete.
func (f *File) Counts(start uint32, fn func(page string, t store.Tag, c Count)) error {
	i, found := slices.BinarySearchFunc(f.index.sums, start, byStart)
	if !found {
		return nil
	}
	for n, c := range f.index.counts[i] {
		data, err := f.readCounts(start, n, c)
		if err == nil {
			data, err = f.decompress(c.block, data)
		}
		if err == nil {
			err = eachCount(data, fn)
		}
		if err != nil {
			return fmt.Errorf("read counts of %s in %s: %w", TimeOf(start).Format("2006-01-02T15:04"), f.name, err)
		}
	}
	return nil
}

// readCounts reads a piece of a catalogue.
func (f *File) readCounts(start uint32, n int, c counted) ([]byte, error) {
	return f.read(place{kind: kindCounts, of: start, start: uint32(n)}, c.offset, int64(c.packed), c.crc)
}

// readStacks reads a stack table.
func (f *File) readStacks(page string) (*trie.Trie, rollup.Size, error) {
	r, d, err := f.directory(page)
	if err != nil {
		return nil, rollup.Size{}, err
	}
	t := trie.New()
	for i, l := range d.stacks {
		data, err := f.readBlock(place{kind: kindStacks, page: page, start: uint32(i)}, r, l)
		if err != nil {
			return nil, rollup.Size{}, err
		}
		if err := rollup.DecodeStacks(t, data); err != nil {
			return nil, rollup.Size{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	if size := rollup.SizeOf(t); size != d.size {
		return nil, rollup.Size{}, fmt.Errorf("%w: stack table has %v, there should be %v", store.ErrDamaged, size, d.size)
	}
	return t, d.size, nil
}

// readRecord reads a record, nil if there is none.
func (f *File) readRecord(p place, level rollup.Level) ([]byte, error) {
	if int(level) >= levels {
		return nil, nil
	}
	r, d, err := f.directory(p.page)
	if err != nil {
		return nil, err
	}
	h := d.find(p.start)
	if h == nil || !h.records[level].there() {
		return nil, nil
	}
	return f.readBlock(p, r, h.records[level])
}

// noRun is the directory of a page that a file does not have.
func noRun() *directory { return &directory{size: rollup.SizeOf(trie.New())} }

// directory returns the directory of a page.
func (f *File) directory(page string) (run, *directory, error) {
	r, found := f.index.find(page)
	if !found {
		return run{}, noRun(), nil
	}
	p := place{kind: kindDirectory, page: page}
	key := f.key(p)
	if got, ok := f.cache.get(key); ok {
		return r, got.directory, nil
	}
	data, err := f.read(p, r.offset, int64(r.directory), r.crc)
	if err != nil {
		return run{}, nil, err
	}
	d, err := parseDirectory(data, r.length)
	if err != nil {
		return run{}, nil, fmt.Errorf("read directory: %w", err)
	}
	f.cache.put(key, cached{directory: d}, len(data))
	return r, d, nil
}

// readBlock reads a block of a run and decompresses it.
func (f *File) readBlock(p place, r run, l located) ([]byte, error) {
	data, err := f.read(p, r.offset+l.offset, int64(l.packed), l.crc)
	if err != nil {
		return nil, err
	}
	return f.decompress(l.block, data)
}

// decompress returns what is in a block whose checksum was right.
func (f *File) decompress(b block, data []byte) ([]byte, error) {
	var head zstd.Header
	if err := head.Decode(data); err != nil || !head.HasFCS || head.FrameContentSize != uint64(b.raw) {
		return nil, fmt.Errorf("%w: a block is not as long as it should be", store.ErrDamaged)
	}
	out, err := f.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", store.ErrDamaged, err)
	}
	if len(out) != int(b.raw) {
		return nil, fmt.Errorf("%w: a block has %d bytes, there should be %d", store.ErrDamaged, len(out), b.raw)
	}
	return out, nil
}

// read reads bytes whose checksum is known. Their length is at most that of the file.
func (f *File) read(p place, offset, length int64, crc uint32) ([]byte, error) {
	data := make([]byte, length)
	if err := f.readAt(data, offset); err != nil {
		return nil, err
	}
	return data, f.check(p, data, crc)
}

// check returns an error if data is not what was written at p.
func (f *File) check(p place, data []byte, crc uint32) error {
	if f.checksum(p, data) != crc {
		return fmt.Errorf("%w: checksum mismatch in the %v", store.ErrDamaged, p.kind)
	}
	return nil
}

// readAt fills data. A file that has become shorter is damaged.
func (f *File) readAt(data []byte, offset int64) error {
	n, err := f.r.ReadAt(data, offset)
	switch {
	case n == len(data):
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file is cut off", store.ErrDamaged)
	}
	return err
}

// wrap says of an error what it is about.
func (f *File) wrap(page string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %q of %s: %w", page, f.name, err)
}

// key returns the key of what f has at p in the cache, "" if there is no cache. Numbers of
// files are never used again, so what was read of a file is never taken for what another
// has that took its name.
func (f *File) key(p place) string {
	if f.cache == nil {
		return ""
	}
	b := make([]byte, 0, 64)
	b = binary.BigEndian.AppendUint64(b, f.serial)
	b = append(b, byte(p.kind))
	b = binary.BigEndian.AppendUint32(b, p.start)
	return string(append(b, p.page...))
}

// get returns what is kept under key.
func (c *Cache) get(key string) (cached, bool) {
	if c == nil {
		return cached{}, false
	}
	return c.of.Get(key)
}

// put keeps what takes size bytes, decompressed.
func (c *Cache) put(key string, x cached, size int) {
	if c != nil {
		c.of.Put(key, x, int64(size)+64)
	}
}

// Start returns the start of the time of the file: a day or a month.
func (f *File) Start() time.Time { return TimeOf(f.identity.start) }

// Bytes reads the file as it is, from its first byte on.
func (f *File) Bytes() *io.SectionReader { return io.NewSectionReader(f.r, 0, f.size) }
