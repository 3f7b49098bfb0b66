package rollups

import (
	"bytes"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store"
)

// Check reads all of the file and returns the first damage that it finds: also in what
// nothing else reads, such as the header. It does not look into blocks whose checksum is
// right.
func (f *File) Check() error {
	if err := f.checkHeader(); err != nil {
		return fmt.Errorf("check %s: %w", f.name, err)
	}
	for _, r := range f.index.runs {
		if _, _, err := f.readRun(r); err != nil {
			return f.wrap(r.page, err)
		}
	}
	for i, s := range f.index.sums {
		for n, c := range f.index.counts[i] {
			if _, err := f.readCounts(s.Start, n, c); err != nil {
				return fmt.Errorf("check %s: %w", f.name, err)
			}
		}
	}
	end := make([]byte, f.indexn+trailerSize)
	if err := f.readAt(end, f.size-int64(len(end))); err != nil {
		return err
	}
	t, err := parseTrailer(end[f.indexn:], f.size)
	if err != nil {
		return fmt.Errorf("check %s: %w", f.name, err)
	}
	return f.check(place{kind: kindIndex}, end[:f.indexn], t.indexSum)
}

// checkHeader returns an error if the header does not say what the end says.
func (f *File) checkHeader() error {
	data := make([]byte, f.header)
	if err := f.readAt(data, 0); err != nil {
		return err
	}
	if _, _, err := parseHeader(data); err != nil {
		return err
	}
	if !bytes.Equal(data, appendHeader(nil, f.identity, f.index.sums)) {
		return fmt.Errorf("%w: the header is of another file", store.ErrDamaged)
	}
	return nil
}

// readRun reads all of a run, as it lies in the file, and its directory with the blocks. An
// error about damage comes with what was read all the same: data is nil only if the bytes
// could not be read, and d only if they could not or the directory is damaged.
func (f *File) readRun(r run) (data []byte, d *directory, err error) {
	data = make([]byte, r.length)
	if err := f.readAt(data, r.offset); err != nil {
		return nil, nil, err
	}
	if err := f.check(place{kind: kindDirectory, page: r.page}, data[:r.directory], r.crc); err != nil {
		return data, nil, err
	}
	if d, err = parseDirectory(data[:r.directory], r.length); err != nil {
		return data, nil, fmt.Errorf("read directory: %w", err)
	}
	d.each(func(p place, l *located) error {
		p.page = r.page
		l.data = data[l.offset:][:l.packed]
		if err == nil {
			err = f.check(p, l.data, l.crc)
		}
		return nil
	})
	return data, d, err
}
