package main

import (
	"context"
	"errors"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// filled is an object store filled with traces up to a point in time.
type filled struct {
	now   time.Time
	place objects.Store
	node  *shared.Node
	roll  float64 // CPU time of the rollup in s, including the store
}

func (f *filled) clock() time.Time { return f.now }

// open opens a node that fills place. It flushes after 1 ms, so that append does not wait for more.
func (f *filled) open(ctx context.Context, place objects.Store) (err error) {
	f.place = place
	f.node, err = shared.Open(ctx, place, shared.Options{Flush: time.Millisecond})
	return err
}

// perSegment is how many traces share a segment.
const perSegment = 64

// append stores copies of traces of r.
func (f *filled) append(ctx context.Context, r *replay, which []int) error {
	var recs []store.Record
	for i, at := range which {
		rec, err := r.record(at)
		if err != nil {
			return err
		}
		if recs = append(recs, rec); len(recs) == perSegment || i == len(which)-1 {
			if _, err := f.node.Append(ctx, recs); err != nil {
				return err
			}
			recs = recs[:0]
		}
	}
	return nil
}

// rollUp rolls up all received traces.
func (f *filled) rollUp(ctx context.Context) {
	before := cpuTime()
	f.node.RollUp(ctx)
	f.roll += cpuTime() - before
}

// settle lets the hour end: it closes the hour and deletes unneeded objects.
func (f *filled) settle(ctx context.Context) {
	for range 2 {
		f.now = f.now.Add(20 * time.Minute)
		f.rollUp(ctx)
	}
}

// weigh returns how many bytes the objects of some kinds have.
func (f *filled) weigh(ctx context.Context, kinds ...string) (bytes float64, err error) {
	for _, kind := range kinds {
		for e, err := range f.place.List(ctx, kind, "") {
			if err != nil {
				return 0, err
			}
			bytes += float64(e.Size)
		}
	}
	return bytes, nil
}

// field is a filled directory of objects.
type field struct {
	filled
	dir   string
	bytes float64 // of rollups
}

// fillDirectory makes a directory of objects and has work fill it.
func fillDirectory(ctx context.Context, dir string, work func(*field) error) (f *field, err error) {
	f = &field{dir: dir, filled: filled{now: filling()}}
	place, err := directory.Open(dir, directory.Options{Now: f.clock})
	if err != nil {
		return nil, err
	}
	if err := f.open(ctx, place); err != nil {
		return nil, errors.Join(err, place.Close())
	}
	err = work(f)
	if err == nil {
		f.bytes, err = f.weigh(ctx, "hours/", "days/")
	}
	return f, errors.Join(err, f.node.Close(ctx))
}

// reader opens the directory read-only. Its clock is the clock of f.
func (f *field) reader(ctx context.Context) (*shared.Reader, error) {
	place, err := directory.Open(f.dir, directory.Options{ReadOnly: true, Now: f.clock})
	if err != nil {
		return nil, err
	}
	return shared.OpenReader(ctx, place, shared.Options{})
}
