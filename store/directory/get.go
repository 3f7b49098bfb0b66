package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/commits"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Get implements [objects.Store].
func (d *Directory) Get(ctx context.Context, key string, most int64, known objects.Tag) (*objects.Object, error) {
	body, err := d.read(ctx, key, most)
	if err != nil {
		return nil, err
	}
	tag := tagOf(body)
	if tag == known {
		return nil, nil
	}
	return &objects.Object{Body: body, Tag: tag}, nil
}

// read returns an object of up to most bytes.
func (d *Directory) read(ctx context.Context, key string, most int64) ([]byte, error) {
	if strings.HasPrefix(key, objects.Fresh) && ctx.Err() == nil {
		if body, err := d.fresh.Get(ctx, key, most); !errors.Is(err, commits.ErrNotFound) {
			d.did.get.Add(1)
			switch {
			case errors.Is(err, commits.ErrDamaged) && len(body) > 0:
				return body, nil // its own checksums will reveal the damage
			case errors.Is(err, commits.ErrDamaged):
				return nil, fmt.Errorf("get %s: %w: %w", key, objects.ErrDamaged, err)
			case err != nil:
				return nil, fmt.Errorf("get %s: %w", key, err)
			}
			return body, nil
		}
	}
	f, size, err := d.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if size > most {
		return nil, fmt.Errorf("get %s: %d bytes, at most %d are allowed", key, size, most)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(f, body); err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	return body, nil
}

// Range implements [objects.Store].
func (d *Directory) Range(ctx context.Context, key string, offset, n int64) (body []byte, size int64, err error) {
	var f io.ReaderAt
	if strings.HasPrefix(key, objects.Fresh) { // parts of fresh objects are not read in practice
		whole, err := d.read(ctx, key, math.MaxInt64)
		if err != nil {
			return nil, 0, err
		}
		f, size = bytes.NewReader(whole), int64(len(whole))
	} else {
		file, n, err := d.open(ctx, key)
		if err != nil {
			return nil, 0, err
		}
		defer func() { _ = file.Close() }() // only read
		f, size = file, n
	}
	if offset < 0 {
		n = min(-offset, size)
		offset = size - n
	}
	if offset+n > size {
		return nil, 0, fmt.Errorf("get a range of %s: it has %d bytes, but %d are needed: %w", key, size, offset+n,
			io.ErrUnexpectedEOF)
	}
	body = make([]byte, n)
	if _, err := f.ReadAt(body, offset); err != nil {
		return nil, 0, fmt.Errorf("get a range of %s: %w", key, err)
	}
	return body, size, nil
}

// open opens an object for reading.
func (d *Directory) open(ctx context.Context, key string) (disk.File, int64, error) {
	d.did.get.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	path, err := d.path(key)
	if err != nil {
		return nil, 0, err
	}
	f, err := disk.Open(d.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("get %s: %w", d.Name()+key, objects.ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("get: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file", objects.ErrNotFound)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("get %s: %w", key, err), f.Close())
	}
	return f, info.Size(), nil
}
