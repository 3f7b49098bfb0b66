package read

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// levels returns which of the records of a time a query reads.
func (s *selection) levels() []rollup.Level {
	if s.want.Details {
		return []rollup.Level{s.want.Level, rollup.Details}
	}
	return []rollup.Level{s.want.Level}
}

// readSums reads sums of one file, page by page, since these share a stack table.
func (s *selection) readSums(ctx context.Context, pieces []piece) error {
	pages := []string{s.q.Page}
	if s.q.Page == "" {
		pages = slices.Collect(pieces[0].file.Pages())
	}
	for _, page := range pages {
		if !s.q.Takes(page) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := s.readSumsPage(ctx, page, pieces); err != nil {
			return err
		}
	}
	s.countSums(pieces)
	return nil
}

// readSumsPage hands over the records of one page, each as soon as it is read. Where they
// are damaged, what they were made of is read, if it is still there.
func (s *selection) readSumsPage(ctx context.Context, page string, pieces []piece) error {
	f := pieces[0].file
	stacks, err := f.Stacks(page)
	if err != nil {
		s.bad(f.Name(), []byte(page), err)
	}
	for i := range pieces {
		x := &pieces[i]
		expected, xerr := f.Expected(page, x.sum.Start)
		var got []*rollup.Record
		if err == nil && xerr == nil {
			if got, xerr = s.recordsOf(x, page, stacks); xerr != nil {
				s.bad(x.name(), []byte(page), xerr)
			}
		}
		found := uint64(0)
		for _, rec := range got {
			_, n := rec.Views()
			found += uint64(n) // details have none
			if err := s.rolled(store.Rolled{Page: page, Stacks: stacks, Record: rec}); err != nil {
				return err
			}
		}
		s.stats.RolledUp += found
		switch {
		case len(got) == 0 && (expected > 0 || err != nil || xerr != nil):
			if err := s.readSources(ctx, page, x, expected); err != nil {
				return err
			}
		case s.q.Page != "" && found < expected:
			s.stats.Gaps = append(s.stats.Gaps, store.Gap{Partition: x.name(), Page: page, Expected: expected, Found: found})
		}
	}
	return nil
}

// recordsOf reads the records of one page and time: all that are asked for, or none if one
// of them is damaged.
func (s *selection) recordsOf(x *piece, page string, stacks *trie.Trie) (out []*rollup.Record, err error) {
	for _, level := range s.levels() {
		rec, size, err := x.file.Record(page, x.sum.Start, level, stacks)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			s.stats.Bytes += uint64(size)
			out = append(out, rec)
		}
	}
	return out, nil
}

// readSources reads what a sum was made of, for one page.
func (s *selection) readSources(ctx context.Context, page string, x *piece, expected uint64) error {
	from, unpin := s.r.sourcesOf(x)
	defer unpin()
	if len(from) == 0 {
		s.stats.Gaps = append(s.stats.Gaps, store.Gap{Partition: x.name(), Page: page, Expected: max(expected, 1), Found: 0})
		return nil
	}
	all := s.q.Page
	s.q.Page, s.page = page, page
	defer func() { s.q.Page = all }()
	var ofTraces []part.Info
	for _, y := range from {
		if y.file == nil {
			ofTraces = append(ofTraces, y.p)
			continue
		}
		if err := s.readSumsPage(ctx, page, []piece{y}); err != nil {
			return err
		}
	}
	return s.readAll(ctx, ofTraces)
}

// sourcesOf returns what a sum was made of, as far as it is there: the sums of a day's
// partitions, or the traces. It is kept until unpin is called.
func (r *Reader) sourcesOf(x *piece) (from []piece, unpin func()) {
	there := map[uint32]bool{}
	ofDay := x.file.Span() == rollups.Days
	if ofDay {
		rollups.EachSum(r.o.Sums.Files(), rollups.Hours, func(f *rollups.File, s rollups.Sum) {
			if slices.Contains(x.sum.Sources, s.Start) {
				there[s.Start] = true
				from = append(from, piece{file: f, sum: s})
			}
		})
	}
	parts, unpin := r.o.Parts.Pin(func(p *part.Info) bool {
		start := rollups.Minutes(p.Start)
		return start == x.sum.Start && !ofDay || slices.Contains(x.sum.Sources, start) && !there[start]
	})
	for _, p := range parts {
		from = append(from, piece{p: p})
	}
	return from, unpin
}

func (s *selection) countSums(pieces []piece) {
	for _, x := range pieces {
		if x.file.Span() == rollups.Days {
			s.stats.Days++
		} else {
			s.stats.Hours++
		}
		if x.widened {
			s.stats.Widened = append(s.stats.Widened, store.Widened{First: time.UnixMicro(x.sum.First).UTC(), Last: time.UnixMicro(x.sum.Last).UTC()})
		}
		if s.q.Page == "" && x.sum.Missing > 0 {
			s.stats.Gaps = append(s.stats.Gaps, store.Gap{Partition: x.name(), Page: "", Expected: x.sum.Traces, Found: x.sum.Traces - x.sum.Missing})
		}
	}
}
