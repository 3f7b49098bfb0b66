package move

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// addition is what an import adds to an hour or a day of a shard.
type addition struct {
	layout.Origin
	hour  string // or
	day   string
	hours []string // of the day, or the one
	// relied is what it was made for: while that is in the manifest, it can be added.
	relied string

	known bool   // it is there already
	why   string // it can not be added
	bad   []string

	runs               []layout.File
	rollups, ofDay     []layout.File
	sealed             bool // if nothing is there yet
	mayGrow            bool
	grown              bool          // there was less of it when it was imported first
	old                layout.Origin // which was that
	traces, duplicates uint64
	near               map[string]bool // hours in which its traces may be as well
	pages              map[string]*layout.Page
	untraced, before   map[string]*layout.Page // what there is beside traces, and was when it was imported first
}

// settled is how long after its end an hour gets nothing any more but from imports.
const settled = time.Hour

// add makes what is added of a stretch, unless made is good still.
func (x *importer) add(ctx context.Context, r *roll.Shard, c *content, made *addition) (*addition, error) {
	if made != nil && made.relied == made.relies(r.Manifest) {
		return made, nil
	}
	a := &addition{Origin: originOf(c.Stretch), near: map[string]bool{}, mayGrow: c.MayGrow, pages: map[string]*layout.Page{}, untraced: map[string]*layout.Page{}}
	if a.Day {
		a.day = c.Start.Format(layout.DayFormat)
		for _, start := range c.Hours {
			a.hours = append(a.hours, layout.HourOf(start))
		}
		return a, x.addDay(ctx, r, c, a)
	}
	a.hour = layout.HourOf(c.Start)
	a.hours = []string{a.hour}
	a.near[layout.HourAfter(a.hour, -1)], a.near[a.hour], a.near[layout.HourAfter(a.hour, 1)] = true, true, true
	return a, x.addHour(ctx, r, c, a)
}

// relies says in words what of a manifest an addition is made for.
func (a *addition) relies(m *layout.Manifest) string {
	out := ""
	start, _ := layout.ParseHour(a.hour) // zero if it is a day
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		if h := m.Hours[name]; a.near[name] || h.MayHave(start) {
			out += fmt.Sprintln(name, h.Sealed, h.Imported, idsOf(h.Runs))
		}
	}
	if day := a.day; day != "" {
		for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
			if layout.DayOf(name) == day {
				out += fmt.Sprintln(name)
			}
		}
		return out + fmt.Sprintln(m.Days[day] != nil)
	}
	if d := m.Days[layout.DayOf(a.hour)]; d != nil {
		out += fmt.Sprintln(d.Sources, d.Imported, d.Whole(m))
	}
	return out
}

// adds reports whether there is something to add.
func (a *addition) adds() bool { return !a.known && a.why == "" }

func idsOf(list []layout.File) (out []string) {
	for _, f := range list {
		out = append(out, f.ID)
	}
	return out
}

// addHour makes what is added of an hour.
func (x *importer) addHour(ctx context.Context, r *roll.Shard, c *content, a *addition) error {
	h, d := r.Manifest.Hours[a.hour], r.Manifest.Days[layout.DayOf(a.hour)]
	var imported []layout.Origin
	if h != nil {
		imported = h.Imported
	}
	if d != nil {
		imported = slices.Concat(imported, d.Imported)
	}
	old, found := layout.FindOrigin(imported, a.Origin)
	a.grown, a.old = found, old
	a.known = found && old.Last >= a.Last
	switch {
	case a.known:
	case h == nil && d != nil && slices.Contains(d.Sources, a.hour):
		a.why = "the bucket has sums of its day alone, so what is there twice can not be told"
	case h != nil && h.Traces > 0 && len(h.Runs) == 0:
		a.why = "the bucket has sums of it alone, so what is there twice can not be told"
	case h != nil && !c.HasTraces:
		a.why = "the bucket has something of that hour, and its traces are gone, so what is there twice can not be told"
	default:
		return x.makeHour(ctx, r, c, a, h, d)
	}
	a.relied = a.relies(r.Manifest)
	return nil
}

// makeHour stores the objects of an hour.
func (x *importer) makeHour(ctx context.Context, r *roll.Shard, c *content, a *addition, h *layout.Hour, d *layout.Day) error {
	a.sealed = h == nil && layout.IsOver(a.hour, settled, x.n.Bucket.Now()) || h != nil && h.Sealed
	if err := x.read(ctx, r, c, a); err != nil {
		return err
	}
	a.relied = a.relies(r.Manifest)
	if a.why != "" {
		return nil
	}
	if len(a.untraced) > 0 {
		to := r.HourRollups(a.hour, false, 0)
		to.Most = math.MaxInt // it has one name
		out, err := r.PutRollups(ctx, a.untraced, to)
		if err != nil {
			return err
		}
		a.Untraced, a.untraced = out[0].ID, nil
	}
	if len(a.pages) == 0 {
		return nil
	}
	var err error
	if a.rollups, err = r.PutRollups(ctx, a.pages, r.HourRollups(a.hour, a.sealed, 0)); err != nil {
		return err
	}
	if d != nil && !d.Whole(r.Manifest) { // it can not be made again, so this is added to it
		if a.ofDay, err = r.PutRollups(ctx, a.pages, r.DayRollups(layout.DayOf(a.hour))); err != nil {
			return err
		}
	}
	a.pages = nil
	return nil
}

// addDay makes what is added of a day whose hours are gone.
func (x *importer) addDay(ctx context.Context, r *roll.Shard, c *content, a *addition) error {
	d := r.Manifest.Days[a.day]
	there := slices.ContainsFunc(slices.Collect(maps.Keys(r.Manifest.Hours)), func(hour string) bool { return layout.DayOf(hour) == a.day })
	a.relied = a.relies(r.Manifest)
	if d != nil {
		_, a.known = layout.FindOrigin(d.Imported, a.Origin)
	}
	if a.known || x.hasHours(r.Manifest, a) {
		a.known = true
		return nil
	}
	if d != nil || there {
		a.why = "the bucket has something of that day, and its hours are gone, so what is there twice can not be told"
		return nil
	}
	if err := x.read(ctx, r, c, a); err != nil || len(a.pages) == 0 {
		return err
	}
	var err error
	a.ofDay, err = r.PutRollups(ctx, a.pages, r.DayRollups(a.day))
	a.pages = nil
	return err
}

// hasHours reports whether the hours of a day were imported when they were there: then the first of them is the
// first of the day.
func (x *importer) hasHours(m *layout.Manifest, a *addition) bool {
	first := func(o layout.Origin) bool { return !o.Day && o.First == a.First }
	for name, h := range m.Hours {
		if layout.DayOf(name) == a.day && slices.ContainsFunc(h.Imported, first) {
			return true
		}
	}
	d := m.Days[a.day]
	return d != nil && slices.ContainsFunc(d.Imported, first)
}

// apply adds an addition to a manifest.
func (a *addition) apply(r *roll.Shard, next *layout.Manifest) {
	if a.Day {
		next.Days[a.day] = a.added(&layout.Day{})
		return
	}
	if d := next.Days[layout.DayOf(a.hour)]; d != nil && d.Whole(next) { // it is made again, of all of its hours
		for _, f := range d.Rollups {
			next.Remove(r.Bucket.Now(), layout.DayKey(r.Number, layout.DayOf(a.hour), f.ID))
		}
		delete(next.Days, layout.DayOf(a.hour))
	} else if d != nil {
		next.Days[layout.DayOf(a.hour)] = a.added(d)
	}
	isNew := next.Hours[a.hour] == nil
	h := next.Hour(a.hour)
	if isNew {
		h.Sealed = a.sealed
	}
	h.Runs, h.Rollups = append(h.Runs, a.runs...), append(h.Rollups, a.rollups...)
	h.Traces += a.traces
	h.Duplicates += a.duplicates
	h.Sees(a.First)
	h.Sees(a.Last)
	if a.old.Untraced != "" {
		next.Remove(r.Bucket.Now(), a.old.UntracedKey(r.Number, a.hour))
	}
	h.Imported = append(slices.DeleteFunc(slices.Clone(h.Imported), a.SameAs), a.Origin)
}

// added returns a day with what is added.
func (a *addition) added(d *layout.Day) *layout.Day {
	out := *d
	out.Rollups, out.Traces = slices.Concat(d.Rollups, a.ofDay), d.Traces+a.traces
	if out.First == 0 || a.First < out.First {
		out.First = a.First
	}
	out.Last = max(out.Last, a.Last)
	out.Sources = slices.Concat(d.Sources, a.hours)
	slices.Sort(out.Sources)
	out.Sources = slices.Compact(out.Sources)
	out.Imported = append(slices.DeleteFunc(slices.Clone(d.Imported), a.SameAs), a.Origin)
	return &out
}
