package layout

import (
	"context"
	"errors"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Ranges reads parts of objects, from a store or a cache, like Range of an objects.Store.
type Ranges interface {
	Range(ctx context.Context, key string, offset, n int64) (body []byte, size int64, err error)
}

// Object is a block file in the bucket whose index has been read.
type Object struct {
	key   string
	size  int64
	index *block.Index
	from  Ranges
	tail  []byte // the last bytes of the file, or all of it; nil once released
}

// ObjectError is returned if an object cannot be read.
type ObjectError struct {
	Key string
	Err error
}

func (e *ObjectError) Error() string { return e.Err.Error() }

func (e *ObjectError) Unwrap() error { return e.Err }

// FailedObject returns the key of the object that could not be read, or "" if err concerns no
// object.
func FailedObject(err error) string {
	if e, ok := errors.AsType[*ObjectError](err); ok {
		return e.Key
	}
	return ""
}

// damaged returns an error about the content of an object.
func damaged(key string, err error) error {
	return &ObjectError{key, fmt.Errorf("read %s: %w", key, err)}
}

// tailSize is how many bytes are read to find the index of an object. Many objects are smaller than
// this.
const tailSize = 64 << 10

// maxObject bounds a single read of an object, in bytes.
const maxObject = 1 << 30

// Open reads the index of an object.
func (b *Bucket) Open(ctx context.Context, k string) (*Object, error) {
	return b.OpenFrom(ctx, b, k)
}

// OpenFrom is like [Bucket.Open], but reads the object from another source, such as a cache.
func (b *Bucket) OpenFrom(ctx context.Context, from Ranges, k string) (*Object, error) {
	tail, size, err := from.Range(ctx, k, -tailSize, 0)
	if err != nil {
		return nil, &ObjectError{k, err}
	}
	index, err := b.Codec.ParseIndex(k, tail, size)
	if short, ok := errors.AsType[*block.ShortError](err); ok {
		if tail, size, err = from.Range(ctx, k, -short.Need, 0); err != nil {
			return nil, &ObjectError{k, err}
		}
		index, err = b.Codec.ParseIndex(k, tail, size)
	}
	if err != nil {
		return nil, damaged(k, err)
	}
	return &Object{k, size, index, from, tail}, nil
}

// data returns the content of blocks of o with at most one request, so the blocks should be close
// together.
func (o *Object) data(ctx context.Context, list []block.Entry) ([][]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	from, to := list[0].Offset, int64(0)
	for _, e := range list {
		from, to = min(from, e.Offset), max(to, e.Offset+e.Length)
	}
	var packed []byte
	switch at := o.size - int64(len(o.tail)); {
	case from >= at:
		packed = o.tail[from-at : to-at]
	case to-from > maxObject:
		return nil, fmt.Errorf("read %s: %d bytes in one read, at most %d are allowed", o.key, to-from, maxObject)
	default:
		var err error
		if packed, _, err = o.from.Range(ctx, o.key, from, to-from); err != nil {
			return nil, &ObjectError{o.key, err}
		}
	}
	out := make([][]byte, len(list))
	for i, e := range list {
		data, err := o.index.Data(e, packed[e.Offset-from:][:e.Length])
		if err != nil {
			return nil, damaged(o.key, err)
		}
		out[i] = data
	}
	return out, nil
}

// OpenRollups opens rollups whose pages are read in order: in one request if the object is at most
// share bytes, else in pieces.
func (b *Bucket) OpenRollups(ctx context.Context, x Sized, share int64) (*Object, error) {
	if x.Size <= share {
		return b.whole(ctx, x.Key)
	}
	o, err := b.Open(ctx, x.Key)
	if err != nil {
		return nil, err
	}
	return o.forward(share, o.size, 2), nil
}

// whole reads a complete object.
func (b *Bucket) whole(ctx context.Context, name string) (*Object, error) {
	got, err := b.Get(ctx, name, maxObject, "")
	if err != nil {
		return nil, &ObjectError{name, err}
	}
	index, err := b.Codec.ParseIndex(name, got.Body, int64(len(got.Body)))
	if err != nil {
		return nil, damaged(name, err)
	}
	return &Object{name, int64(len(got.Body)), index, b, got.Body}, nil
}

// Sized is the key and the size of an object.
type Sized struct {
	Key  string
	Size int64
}

// ReadAll reads a complete object, so that reading its blocks needs no more requests. The object
// must be small enough to fit in memory.
func (o *Object) ReadAll(ctx context.Context) (err error) {
	if int64(len(o.tail)) == o.size {
		return nil
	}
	if o.size > maxObject {
		return fmt.Errorf("read %s: %d bytes in one read, at most %d are allowed", o.key, o.size, maxObject)
	}
	if o.tail, _, err = o.from.Range(ctx, o.key, 0, o.size); err != nil {
		return &ObjectError{o.key, err}
	}
	return nil
}
