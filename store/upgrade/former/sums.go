package former

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Suffixes of files of rollups: of the hours of a day, 20261120.hours.sums, and of the days of a month, 202611.days.sums.
const (
	hoursSuffix = ".hours.sums"
	daysSuffix  = ".days.sums"
)

// parseSumsName returns what the file of rollups of that name is of.
func parseSumsName(name string) (id identity, ok bool) {
	for span, x := range []struct{ suffix, layout string }{{hoursSuffix, "20060102"}, {daysSuffix, "200601"}} {
		if text, found := strings.CutSuffix(name, x.suffix); found {
			t, err := time.Parse(x.layout, text)
			return identity{byte(span), uint32(t.Unix() / 60)}, err == nil
		}
	}
	return id, false
}

// stacksMemory bounds the stack tables that are kept: those of a day are the same for all of its hours.
const stacksMemory = 32 << 20

// sumsReader is what files of rollups are read with.
type sumsReader struct {
	dec    *zstd.Decoder
	stacks *lru.Cache[*trie.Trie]
}

func newSumsReader() (*sumsReader, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return &sumsReader{dec, lru.New[*trie.Trie](stacksMemory, nil)}, nil
}

// sumsFile is a file of rollups.
type sumsFile struct {
	identity
	with *sumsReader
	name string
	r    io.ReaderAt
	*index
}

// openSums opens a file of rollups. An error wraps [store.ErrDamaged] if the bytes are not what was written.
func openSums(path string, with *sumsReader) (_ *sumsFile, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it was not written to
		}
	}()
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is no file", store.ErrDamaged)
	}
	f, err := newSumsFile(file, fi.Size(), filepath.Base(path), with)
	if err != nil {
		return nil, err
	}
	if id, ok := parseSumsName(f.name); !ok || id != f.identity {
		return nil, fmt.Errorf("%w: it is another file by that name", store.ErrDamaged)
	}
	return f, nil
}

// newSumsFile returns the file of size bytes that r reads.
func newSumsFile(r io.ReaderAt, size int64, name string, with *sumsReader) (*sumsFile, error) {
	f := &sumsFile{r: r, name: name, with: with}
	if size < headSize+4+trailerSize {
		return nil, fmt.Errorf("%w: %d bytes are too few", store.ErrDamaged, size)
	}
	end := make([]byte, trailerSize)
	if err := f.readAt(end, size-trailerSize); err != nil {
		return nil, err
	}
	t, err := parseTrailer(end, size)
	if err != nil {
		return nil, err
	}
	f.identity = t.identity
	data, err := f.read(place{kind: ofIndex}, t.index, int64(t.indexLength), t.indexSum)
	if err == nil {
		f.index, err = parseIndex(data, t.header, t.index)
	}
	return f, err
}

func (f *sumsFile) close() error {
	c, ok := f.r.(io.Closer)
	if !ok {
		return nil
	}
	return c.Close()
}

// readAt fills data. A file that has become shorter is damaged.
func (f *sumsFile) readAt(data []byte, offset int64) error {
	n, err := f.r.ReadAt(data, offset)
	if n == len(data) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the file is cut off", store.ErrDamaged)
	}
	return asDamage(err)
}

// read reads bytes whose checksum is known, and whose length is at most that of the file.
func (f *sumsFile) read(p place, offset, length int64, crc uint32) ([]byte, error) {
	data := make([]byte, length)
	if err := f.readAt(data, offset); err != nil {
		return nil, err
	}
	if f.checksum(p, data) != crc {
		return nil, fmt.Errorf("%w: checksum mismatch in the %v", store.ErrDamaged, p.kind)
	}
	return data, nil
}

// readBlock reads a block that lies at an offset, and decompresses it.
func (f *sumsFile) readBlock(p place, at int64, b block) ([]byte, error) {
	data, err := f.read(p, at+b.offset, int64(b.packed), b.crc)
	if err != nil {
		return nil, err
	}
	var head zstd.Header
	if err := head.Decode(data); err != nil || !head.HasFCS || head.FrameContentSize != uint64(b.raw) {
		return nil, fmt.Errorf("%w: a block is not as long as it should be", store.ErrDamaged)
	}
	out, err := f.with.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: decompress the %v: %w", store.ErrDamaged, p.kind, err)
	}
	if len(out) != int(b.raw) {
		return nil, fmt.Errorf("%w: the %v has %d bytes, there should be %d", store.ErrDamaged, p.kind, len(out), b.raw)
	}
	return out, nil
}

// addTo adds what the file has of a page and the time that begins at start: all of it, or nothing.
func (f *sumsFile) addTo(page string, start uint32, to Adder) error {
	r, found := f.find(page)
	if !found {
		return nil
	}
	data, err := f.read(place{kind: ofDirectory, page: page}, r.offset, int64(r.directory), r.crc)
	if err != nil {
		return err
	}
	d, err := parseDirectory(data, r.length)
	if err != nil || d.hours[start] == nil {
		return err
	}
	stacks, err := f.stacksOf(r, d)
	if err != nil {
		return err
	}
	var records []*rollup.Record
	for _, level := range []rollup.Level{rollup.Wide, rollup.Details} {
		b := d.hours[start][level]
		if b.packed == 0 {
			continue
		}
		data, err := f.readBlock(place{kind: ofRecord + kind(level), page: page, start: start}, r.offset, b)
		if err != nil {
			return err
		}
		rec, err := rollup.Decode(data, stacks)
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
		records = append(records, rec)
	}
	for _, rec := range records {
		to.AddRecord(rec, stacks)
	}
	return nil
}

// stacksOf returns the stack table of a page, which must not be changed.
func (f *sumsFile) stacksOf(r run, d *runDirectory) (*trie.Trie, error) {
	key := f.name + "\x00" + r.page
	if t, ok := f.with.stacks.Get(key); ok {
		return t, nil
	}
	t, bytes := trie.New(), int64(0)
	for i, b := range d.stacks {
		bytes += int64(b.raw)
		data, err := f.readBlock(place{kind: ofStacks, page: r.page, start: uint32(i)}, r.offset, b)
		if err != nil {
			return nil, err
		}
		if err := rollup.DecodeStacks(t, data); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	if size := rollup.SizeOf(t); size != d.size {
		return nil, fmt.Errorf("%w: stack table has %v, there should be %v", store.ErrDamaged, size, d.size)
	}
	f.with.stacks.Put(key, t, bytes+int64(64+16*d.size.Strings+16*d.size.Frames+8*d.size.Nodes))
	return t, nil
}

// countsOf calls fn with the catalogue of the time that begins at start. After an error it is not complete.
func (f *sumsFile) countsOf(start uint32, fn func(page string, t store.Tag, c Count)) error {
	i := slices.IndexFunc(f.sums, func(s sum) bool { return s.start == start })
	if i < 0 {
		return nil
	}
	for n, b := range f.index.counts[i] {
		data, err := f.readBlock(place{kind: ofCounts, of: start, start: uint32(n)}, 0, b)
		if err == nil {
			err = eachCount(data, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
