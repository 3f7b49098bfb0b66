package roll

import (
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// maxRun is the approximate maximum size of an object of traces or rollups, in bytes. Larger data
// is split, because each object is built in memory and written in one request.
const maxRun = 32 << 20

// Tiers of runs that are not compacted.
const (
	fullTier   = -1 // of the maximum size: compaction would only rewrite it
	PackedTier = -2 // packed, in an hour to which no data is added any more
)

// objectWriter builds an object.
type objectWriter interface {
	Size() int // approximate size so far, in bytes
	Rows() (n int, first, last int64)
	Finish(key string) ([]byte, error)
}

// Series writes objects of one kind one after the other, starting a new one whenever the current
// one is full, so that only one of them is in memory.
type Series[W objectWriter] struct {
	r          *Shard
	begin      func() W
	key        func(id string) string
	Most       int                                    // maximum size of an object, in bytes
	tier, full int                                    // tier of the last object, and of full ones
	stored     func(f layout.File, body []byte) error // called after each object was stored; may be nil

	w    W
	open bool
	out  []layout.File
}

// Runs returns a series of runs of an hour. tier is the tier of the last run; full runs have
// fullTier.
func (r *Shard) Runs(hour string, tier int) *Series[*layout.RunWriter] {
	return &Series[*layout.RunWriter]{r: r, Most: maxRun, tier: tier, full: fullTier,
		begin: func() *layout.RunWriter { return layout.NewRunWriter(r.Bucket.Codec) },
		key:   func(id string) string { return layout.RunKey(r.Number, hour, id) }}
}

// PackedRuns returns a series of packed runs of a closed hour. All of them have [PackedTier].
func (r *Shard) PackedRuns(hour string) *Series[*layout.RunWriter] {
	out := r.Runs(hour, PackedTier)
	out.full = PackedTier
	out.begin = func() *layout.RunWriter { return layout.NewPackedWriter(r.Bucket.Codec) }
	return out
}

// HourRollups returns a series of rollups of an hour. If final is set, no data will be added to
// them later.
func (r *Shard) HourRollups(hour string, final bool, tier int) *Series[*layout.RollupWriter] {
	return &Series[*layout.RollupWriter]{r: r, Most: maxRun, tier: tier, full: tier,
		begin: func() *layout.RollupWriter { return layout.NewRollupWriter(r.Bucket.Codec, final) },
		key:   func(id string) string { return layout.HourKey(r.Number, hour, id) }}
}

// DayRollups returns a series of rollups of a day. They are final: no data will be added later.
func (r *Shard) DayRollups(day string) *Series[*layout.RollupWriter] {
	return &Series[*layout.RollupWriter]{r: r, Most: maxRun,
		begin: func() *layout.RollupWriter { return layout.NewRollupWriter(r.Bucket.Codec, true) },
		key:   func(id string) string { return layout.DayKey(r.Number, day, id) }}
}

// Next returns the writer for the next item. It starts a new object if the current one is full.
func (s *Series[W]) Next(ctx context.Context) (w W, err error) {
	if s.open && s.w.Size() >= s.Most {
		if err := s.store(ctx, s.full); err != nil {
			return w, err
		}
	}
	if !s.open {
		s.w, s.open = s.begin(), true
	}
	return s.w, nil
}

// Finish writes the last object, and returns all of them.
func (s *Series[W]) Finish(ctx context.Context) ([]layout.File, error) {
	if s.open {
		if err := s.store(ctx, s.tier); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

func (s *Series[W]) store(ctx context.Context, tier int) error {
	f := layout.File{ID: layout.NewID(), Tier: tier}
	body, err := s.w.Finish(s.key(f.ID))
	if err != nil {
		return fmt.Errorf("write an object: %w", err)
	}
	f.Size = int64(len(body))
	f.Rows, f.First, f.Last = s.w.Rows()
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

// putRows writes rows as runs, and caches their keys.
func (r *Shard) putRows(ctx context.Context, hour string, rows []layout.Row) ([]layout.File, error) {
	runs := r.Runs(hour, 0)
	left := rows
	runs.stored = func(f layout.File, body []byte) error {
		k := layout.RunKey(r.Number, hour, f.ID)
		x, err := r.Bucket.KeysOf(k, body, left[:f.Rows])
		if err != nil {
			return err
		}
		r.keys[k], left = x, left[f.Rows:]
		return nil
	}
	for i := range rows {
		w, err := runs.Next(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.Add(&rows[i]); err != nil {
			return nil, fmt.Errorf("write a run: %w", err)
		}
	}
	return runs.Finish(ctx)
}

// AddPage adds a page to the current object of a series, or to a new one if it is full.
func AddPage(ctx context.Context, to *Series[*layout.RollupWriter], page string, p *layout.Page) error {
	w, err := to.Next(ctx)
	if err != nil {
		return err
	}
	if err := w.Add(page, p); err != nil {
		return fmt.Errorf("write rollups: %w", err)
	}
	return nil
}
