package roll

import (
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// maxRun is how large an object of traces, or of rollups, becomes, about. What is more goes into another one, so that it is made in memory
// and sent as a whole.
const maxRun = 32 << 20

// Tiers of runs that are not compacted.
const (
	fullTier   = -1 // as large as one becomes: to compact it would only write it again
	PackedTier = -2 // of an hour to which nothing is added any more, with traces that share their tables
)

// objectWriter makes an object.
type objectWriter interface {
	Size() int // about, of what was added
	Rows() (n int, first, last int64)
	Finish(key string) ([]byte, error)
}

// Series stores objects of a kind, one after the other as they fill up, so that one alone is in memory.
type Series[W objectWriter] struct {
	r          *Shard
	begin      func() W
	key        func(id string) string
	Most       int                                    // bytes of one
	tier, full int                                    // of objects, and of those that are full
	stored     func(f layout.File, body []byte) error // is told of each; may be nil

	w    W
	open bool
	out  []layout.File
}

// Runs returns a series of runs of an hour.
func (r *Shard) Runs(hour string, tier int) *Series[*layout.RunWriter] {
	return &Series[*layout.RunWriter]{r: r, Most: maxRun, tier: tier, full: fullTier,
		begin: func() *layout.RunWriter { return layout.NewRunWriter(r.Bucket.Codec) },
		key:   func(id string) string { return layout.RunKey(r.Number, hour, id) }}
}

// PackedRuns returns a series of runs of an hour to which nothing is added any more.
func (r *Shard) PackedRuns(hour string) *Series[*layout.RunWriter] {
	out := r.Runs(hour, PackedTier)
	out.full = PackedTier
	out.begin = func() *layout.RunWriter { return layout.NewPackedWriter(r.Bucket.Codec) }
	return out
}

// HourRollups returns a series of rollups of an hour. What is final is not added to any more.
func (r *Shard) HourRollups(hour string, final bool, tier int) *Series[*layout.RollupWriter] {
	return &Series[*layout.RollupWriter]{r: r, Most: maxRun, tier: tier, full: tier,
		begin: func() *layout.RollupWriter { return layout.NewRollupWriter(r.Bucket.Codec, final) },
		key:   func(id string) string { return layout.HourKey(r.Number, hour, id) }}
}

// DayRollups returns a series of rollups of a day.
func (r *Shard) DayRollups(day string) *Series[*layout.RollupWriter] {
	return &Series[*layout.RollupWriter]{r: r, Most: maxRun,
		begin: func() *layout.RollupWriter { return layout.NewRollupWriter(r.Bucket.Codec, true) },
		key:   func(id string) string { return layout.DayKey(r.Number, day, id) }}
}

// Next returns the writer of the object that the next thing goes into.
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

// Finish stores what is left, and returns all objects.
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

// putRows stores rows as runs, and keeps their keys.
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

// AddPage adds a page to a series of rollups.
func AddPage(ctx context.Context, to *Series[*layout.RollupWriter], page string, p *layout.Page) error {
	w, err := to.Next(ctx)
	if err != nil {
		return err
	}
	if err := w.Add(page, p); err != nil {
		return fmt.Errorf("write sums: %w", err)
	}
	return nil
}
