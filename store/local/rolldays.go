package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// rollDays sums up the days that are over.
func (s *Store) rollDays(ctx context.Context, w *waiting) error {
	var open []time.Time
	for _, l := range s.lifetimes(false) {
		if l.kind == traces && (l.needed || l.open) {
			open = append(open, l.start)
		}
	}
	var ofHours, ofDays []rollups.Sum
	files := s.sums.Files()
	rollups.EachSum(files, rollups.Hours, func(_ *rollups.File, x rollups.Sum) { ofHours = append(ofHours, x) })
	rollups.EachSum(files, rollups.Days, func(_ *rollups.File, x rollups.Sum) { ofDays = append(ofDays, x) })
	var errs error
	for _, d := range daysToRoll(ofHours, ofDays, open, s.opts.Now()) {
		// A day begins when its first hour does, so days have times of their own to be tried again.
		again := d.start + dayKey
		if s.opts.Now().Before(s.rolling.notBefore[again]) || s.space.Room(s.space.Rolling(), 0) != nil {
			continue
		}
		if err := s.rollDay(ctx, d, w); err != nil {
			s.rolling.notBefore[again] = s.opts.Now().Add(retryRolling)
			errs = errors.Join(errs, fmt.Errorf("roll up the day %s: %w", rollups.TimeOf(d.start).Format("2006-01-02"), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errs
}

// dayKey tells the start of a day from that of its first hour in rolling.notBefore.
const dayKey = 1 << 31

// rollDay writes the sums of a day, which are made of those of its partitions.
func (s *Store) rollDay(ctx context.Context, d dayToRoll, at *waiting) error {
	name := rollups.Hours.Name(rollups.TimeOf(d.start))
	i := slices.IndexFunc(s.sums.Files(), func(f *rollups.File) bool { return f.Name() == name })
	if i < 0 {
		return nil // deleted meanwhile
	}
	from := s.sums.Files()[i]
	x := rollups.Sum{Start: d.start, Sources: sourcesOf(d.sources), First: math.MaxInt64, Last: math.MinInt64}
	for _, h := range d.sources {
		x.First, x.Last = min(x.First, h.First), max(x.Last, h.Last)
		x.Traces += h.Traces
		x.Missing += h.Missing
	}
	found := uint64(0)
	w, err := s.editSums(rollups.Days, d.start, x.Sources...)
	if err != nil {
		return err
	}
	defer w.Abort()
	counted, err := sumCounts(w, from, x.Sources)
	if err != nil {
		return err
	}
	for page := range from.Pages() {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		at.step(fmt.Sprintf("summing up page %s of the day %s", page, rollups.TimeOf(d.start).Format("2006-01-02")))
		n, err := s.rollDayPage(w, from, page, x.Sources, counted[page])
		if err != nil {
			return err
		}
		found += n
	}
	x.Missing = max(x.Missing, x.Traces-min(x.Traces, found)) // more, if what is damaged was left out
	at.step("writing the sums of a day")
	if err := s.commitSums(w, x); err != nil {
		return err
	}
	s.opts.Logger.Info("day rolled up", "day", rollups.TimeOf(d.start).Format("2006-01-02"), "traces", x.Traces)
	return nil
}

// rollDayPage writes the sums of a page for a day, and returns how many traces are in them.
// What is damaged of the hours is left out; but as long as there are the traces, the file of
// hours is set aside, to be made again.
func (s *Store) rollDayPage(w *rollups.Writer, from *rollups.File, page string, sources []uint32, counted uint64) (traces uint64, err error) {
	var expected uint64
	var damage error
	b, err := buildPage(w, page, s.opts.Rollups, func(empty func() *rollup.Builder) (*rollup.Builder, error) {
		b := empty()
		expected, damage = addHours(b, from, page, sources)
		return b, nil
	})
	if err != nil {
		return 0, err
	}
	if damage != nil && !errors.Is(damage, store.ErrDamaged) {
		return 0, damage
	}
	if damage != nil {
		if s.haveAll(sources) {
			return 0, s.sumsDamaged(from, damage)
		}
		s.opts.Logger.Error("sums are damaged, and can not be made again", "file", from.Name(), "page", page, logErr, damage)
	}
	_, n := b.Views()
	traces = uint64(max(n, 0))
	return traces, putPage(w, b, page, max(expected, counted, traces))
}

// addHours adds the hours of a page to b. It returns how many traces there should be, and what
// is wrong with some of them.
func addHours(b *rollup.Builder, from *rollups.File, page string, starts []uint32) (expected uint64, damage error) {
	stacks, err := from.Stacks(page)
	damage = err
	for _, start := range starts {
		n, err := from.Expected(page, start)
		expected += n
		if err == nil && damage == nil {
			err = addHour(b, from, page, start, stacks)
		}
		damage = errors.Join(damage, err)
	}
	return expected, damage
}

// sumCounts adds up the catalogues of the sources of a day. It returns how many traces of
// each page were counted.
func sumCounts(w *rollups.Writer, from *rollups.File, starts []uint32) (counted map[string]uint64, err error) {
	totals := make(map[store.CatalogEntry]record.Count)
	for _, start := range starts {
		err := from.Counts(start, func(page string, t store.Tag, c record.Count) {
			of := store.CatalogEntry{Page: page, Tag: t}
			totals[of] = totals[of].Plus(c)
		})
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return nil, err
		}
	}
	counted = make(map[string]uint64)
	for e, c := range totals {
		w.Count(e.Page, e.Tag, c)
		if e.Tag == (store.Tag{}) {
			counted[e.Page] = c.Traces
		}
	}
	return counted, nil
}

// addHour adds all levels of an hour of a page to b, or none.
func addHour(b *rollup.Builder, from *rollups.File, page string, start uint32, stacks *trie.Trie) error {
	var recs []*rollup.Record
	for _, level := range []rollup.Level{rollup.Wide, rollup.Details} {
		rec, _, err := from.Record(page, start, level, stacks)
		if err != nil || rec == nil {
			return err
		}
		recs = append(recs, rec)
	}
	for _, rec := range recs {
		b.AddRecord(rec, stacks)
	}
	return nil
}

const minutesOfDay = 24 * 60

// dayToRoll is a day that is to be summed up.
type dayToRoll struct {
	start   uint32 // minutes since the epoch
	sources []rollups.Sum
}

// lateness is how long after its end a day may still get traces, as when the clock is set
// back. A day that changes later than that is made again, as long as there are its hours.
const lateness = 5 * time.Minute

// daysToRoll returns the days that are over and of which there are no sums, or some that
// were made before some of their partitions were there. What sums were made of may be
// gone by now; they are not made again of less. open are the starts of partitions of traces
// that are not rolled up.
func daysToRoll(hours, days []rollups.Sum, open []time.Time, now time.Time) (out []dayToRoll) {
	byDay := map[uint32][]rollups.Sum{}
	for _, h := range hours {
		day := h.Start / minutesOfDay * minutesOfDay
		byDay[day] = append(byDay[day], h)
	}
	for start, sources := range byDay {
		end := rollups.TimeOf(start).Add(24 * time.Hour)
		if now.Before(end.Add(lateness)) || slices.ContainsFunc(open, func(p time.Time) bool {
			return !p.Before(rollups.TimeOf(start)) && p.Before(end)
		}) {
			continue
		}
		i := slices.IndexFunc(days, func(d rollups.Sum) bool { return d.Start == start })
		if starts := sourcesOf(sources); i < 0 || len(starts) > len(days[i].Sources) && containsAll(starts, days[i].Sources) {
			out = append(out, dayToRoll{start, sources})
		}
	}
	slices.SortFunc(out, func(a, b dayToRoll) int { return cmp.Compare(a.start, b.start) })
	return out
}

// containsAll reports whether all of b are in a.
func containsAll(a, b []uint32) bool {
	return !slices.ContainsFunc(b, func(x uint32) bool { return !slices.Contains(a, x) })
}

func sourcesOf(list []rollups.Sum) []uint32 {
	out := make([]uint32, 0, len(list))
	for _, s := range list {
		out = append(out, s.Start)
	}
	slices.Sort(out)
	return out
}
