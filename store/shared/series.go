package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// maxRun is how large an object of traces, or of sums, becomes, about. What is more goes into another one, so that it is made in memory
// and sent as a whole.
const maxRun = 32 << 20

// fullTier is the tier of runs that are as large as one becomes: to fold them would only write them again.
const fullTier = -1

// objectWriter makes an object.
type objectWriter interface {
	size() int  // about, of what was added
	count() int // the rows of it
	finish() ([]byte, error)
}

// series stores objects of a kind, one after the other as they fill up, so that one alone is in memory.
type series[W objectWriter] struct {
	r          *roller
	begin      func() W
	key        func(id string) string
	most       int                             // bytes of one
	tier, full int                             // of objects, and of those that are full
	stored     func(f file, body []byte) error // is told of each; may be nil

	w    W
	open bool
	out  []file
}

// runsOf returns a series of runs of an hour.
func (r *roller) runsOf(hour string, tier int) *series[*runWriter] {
	return &series[*runWriter]{r: r, most: maxRun, tier: tier, full: fullTier,
		begin: func() *runWriter { return newRunWriter(r.b.codec) },
		key:   func(id string) string { return runKey(r.shard, hour, id) }}
}

// ofHour returns a series of sums of an hour. What is final is not added to any more.
func (r *roller) ofHour(hour string, final bool, tier int) *series[*sumsWriter] {
	return &series[*sumsWriter]{r: r, most: maxRun, tier: tier, full: tier,
		begin: func() *sumsWriter { return newSumsWriter(r.b.codec, final) },
		key:   func(id string) string { return sumsKey(r.shard, hour, id) }}
}

// ofDay returns a series of sums of a day.
func (r *roller) ofDay(day string) *series[*sumsWriter] {
	return &series[*sumsWriter]{r: r, most: maxRun,
		begin: func() *sumsWriter { return newSumsWriter(r.b.codec, true) },
		key:   func(id string) string { return daySumsKey(r.shard, day, id) }}
}

// next returns the writer of the object that the next thing goes into.
func (s *series[W]) next(ctx context.Context) (w W, err error) {
	if s.open && s.w.size() >= s.most {
		if err := s.store(ctx, s.full); err != nil {
			return w, err
		}
	}
	if !s.open {
		s.w, s.open = s.begin(), true
	}
	return s.w, nil
}

// finish stores what is left, and returns all objects.
func (s *series[W]) finish(ctx context.Context) ([]file, error) {
	if s.open {
		if err := s.store(ctx, s.tier); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

func (s *series[W]) store(ctx context.Context, tier int) error {
	body, err := s.w.finish()
	if err != nil {
		return fmt.Errorf("write an object: %w", err)
	}
	f := file{ID: newID(), Tier: tier, Rows: s.w.count(), Size: int64(len(body))}
	var none W
	s.w, s.open = none, false
	if err := s.r.put(ctx, s.key(f.ID), body); err != nil {
		return err
	}
	s.out = append(s.out, f)
	if s.stored == nil {
		return nil
	}
	return s.stored(f, body)
}

// putRows stores rows as runs, and keeps their keys.
func (r *roller) putRows(ctx context.Context, hour string, rows []row) ([]file, error) {
	runs := r.runsOf(hour, 0)
	left := rows
	runs.stored = func(f file, body []byte) error {
		k := runKey(r.shard, hour, f.ID)
		x, err := r.b.keysOf(k, body, left[:f.Rows])
		if err != nil {
			return err
		}
		r.keys[k], left = x, left[f.Rows:]
		return nil
	}
	for i := range rows {
		w, err := runs.next(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.add(&rows[i]); err != nil {
			return nil, fmt.Errorf("write a run: %w", err)
		}
	}
	return runs.finish(ctx)
}

// putSums stores sums of pages.
func (r *roller) putSums(ctx context.Context, pages map[string]*pageSum, to *series[*sumsWriter]) ([]file, error) {
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		w, err := to.next(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.add(name, pages[name]); err != nil {
			return nil, fmt.Errorf("write sums: %w", err)
		}
	}
	return to.finish(ctx)
}
