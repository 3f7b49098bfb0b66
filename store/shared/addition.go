package shared

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// addition is what an import adds to an hour or a day of a shard.
type addition struct {
	origin
	hour  string // or
	day   string
	hours []string // of the day, or the one
	// relied is what it was made for: while that is in the manifest, it can be added.
	relied string

	known bool   // it is there already
	why   string // it can not be added
	bad   []string

	runs               []file
	sums, ofDay        []file
	sealed             bool // if nothing is there yet
	mayGrow            bool
	grown              bool   // there was less of it when it was imported first
	old                origin // which was that
	traces, duplicates uint64
	near               map[string]bool // hours in which its traces may be as well
	pages              map[string]*pageSum
	untraced, before   map[string]*pageSum // what there is beside traces, and was when it was imported first
}

// settled is how long after its end an hour gets nothing any more but from imports.
const settled = time.Hour

// add makes what is added of a stretch, unless made is good still.
func (x *importer) add(ctx context.Context, r *roller, c *content, made *addition) (*addition, error) {
	if made != nil && made.relied == made.relies(r.m) {
		return made, nil
	}
	a := &addition{origin: originOf(c.Stretch), near: map[string]bool{}, mayGrow: c.MayGrow, pages: map[string]*pageSum{}, untraced: map[string]*pageSum{}}
	if a.Day {
		a.day = c.Start.Format(dayFormat)
		for _, start := range c.Hours {
			a.hours = append(a.hours, hourOf(start))
		}
		return a, x.addDay(ctx, r, c, a)
	}
	a.hour = hourOf(c.Start)
	a.hours = []string{a.hour}
	a.near[hourAfter(a.hour, -1)], a.near[a.hour], a.near[hourAfter(a.hour, 1)] = true, true, true
	return a, x.addHour(ctx, r, c, a)
}

// relies says in words what of a manifest an addition is made for.
func (a *addition) relies(m *manifest) string {
	out := ""
	start, _ := parseHour(a.hour) // zero if it is a day
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		if h := m.Hours[name]; a.near[name] || h.mayHave(start) {
			out += fmt.Sprintln(name, h.Sealed, h.Imported, idsOf(h.Runs))
		}
	}
	if day := a.day; day != "" {
		for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
			if dayOf(name) == day {
				out += fmt.Sprintln(name)
			}
		}
		return out + fmt.Sprintln(m.Days[day] != nil)
	}
	if d := m.Days[dayOf(a.hour)]; d != nil {
		out += fmt.Sprintln(d.Sources, d.Imported, d.whole(m))
	}
	return out
}

// adds reports whether there is something to add.
func (a *addition) adds() bool { return !a.known && a.why == "" }

func idsOf(list []file) (out []string) {
	for _, f := range list {
		out = append(out, f.ID)
	}
	return out
}

// addHour makes what is added of an hour.
func (x *importer) addHour(ctx context.Context, r *roller, c *content, a *addition) error {
	h, d := r.m.Hours[a.hour], r.m.Days[dayOf(a.hour)]
	var imported []origin
	if h != nil {
		imported = h.Imported
	}
	if d != nil {
		imported = slices.Concat(imported, d.Imported)
	}
	old, found := findOrigin(imported, a.origin)
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
	a.relied = a.relies(r.m)
	return nil
}

// makeHour stores the objects of an hour.
func (x *importer) makeHour(ctx context.Context, r *roller, c *content, a *addition, h *hour, d *day) error {
	a.sealed = h == nil && isOver(a.hour, settled, x.n.b.Now()) || h != nil && h.Sealed
	if err := x.read(ctx, r, c, a); err != nil {
		return err
	}
	a.relied = a.relies(r.m)
	if a.why != "" {
		return nil
	}
	if len(a.untraced) > 0 {
		to := r.ofHour(a.hour, false, 0)
		to.most = math.MaxInt // it has one name
		out, err := r.putSums(ctx, a.untraced, to)
		if err != nil {
			return err
		}
		a.Untraced, a.untraced = out[0].ID, nil
	}
	if len(a.pages) == 0 {
		return nil
	}
	var err error
	if a.sums, err = r.putSums(ctx, a.pages, r.ofHour(a.hour, a.sealed, 0)); err != nil {
		return err
	}
	if d != nil && !d.whole(r.m) { // it can not be made again, so this is added to it
		if a.ofDay, err = r.putSums(ctx, a.pages, r.ofDay(dayOf(a.hour))); err != nil {
			return err
		}
	}
	a.pages = nil
	return nil
}

// addDay makes what is added of a day whose hours are gone.
func (x *importer) addDay(ctx context.Context, r *roller, c *content, a *addition) error {
	d := r.m.Days[a.day]
	there := slices.ContainsFunc(slices.Collect(maps.Keys(r.m.Hours)), func(hour string) bool { return dayOf(hour) == a.day })
	a.relied = a.relies(r.m)
	if d != nil {
		_, a.known = findOrigin(d.Imported, a.origin)
	}
	if a.known || x.hasHours(r.m, a) {
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
	a.ofDay, err = r.putSums(ctx, a.pages, r.ofDay(a.day))
	a.pages = nil
	return err
}

// hasHours reports whether the hours of a day were imported when they were there: then the first of them is the
// first of the day.
func (x *importer) hasHours(m *manifest, a *addition) bool {
	first := func(o origin) bool { return !o.Day && o.First == a.First }
	for name, h := range m.Hours {
		if dayOf(name) == a.day && slices.ContainsFunc(h.Imported, first) {
			return true
		}
	}
	d := m.Days[a.day]
	return d != nil && slices.ContainsFunc(d.Imported, first)
}

// apply adds an addition to a manifest.
func (a *addition) apply(r *roller, next *manifest) {
	if a.Day {
		next.Days[a.day] = a.added(&day{})
		return
	}
	if d := next.Days[dayOf(a.hour)]; d != nil && d.whole(next) { // it is made again, of all of its hours
		for _, f := range d.Sums {
			next.remove(r.b.Now(), daySumsKey(r.shard, dayOf(a.hour), f.ID))
		}
		delete(next.Days, dayOf(a.hour))
	} else if d != nil {
		next.Days[dayOf(a.hour)] = a.added(d)
	}
	isNew := next.Hours[a.hour] == nil
	h := next.hour(a.hour)
	if isNew {
		h.Sealed = a.sealed
	}
	h.Runs, h.Sums = append(h.Runs, a.runs...), append(h.Sums, a.sums...)
	h.Traces += a.traces
	h.Duplicates += a.duplicates
	h.sees(a.First)
	h.sees(a.Last)
	if a.old.Untraced != "" {
		next.remove(r.b.Now(), a.old.untracedKey(r.shard, a.hour))
	}
	h.Imported = append(slices.DeleteFunc(slices.Clone(h.Imported), a.sameAs), a.origin)
}

// added returns a day with what is added.
func (a *addition) added(d *day) *day {
	out := *d
	out.Sums, out.Traces = slices.Concat(d.Sums, a.ofDay), d.Traces+a.traces
	if out.First == 0 || a.First < out.First {
		out.First = a.First
	}
	out.Last = max(out.Last, a.Last)
	out.Sources = slices.Concat(d.Sources, a.hours)
	slices.Sort(out.Sources)
	out.Sources = slices.Compact(out.Sources)
	out.Imported = append(slices.DeleteFunc(slices.Clone(d.Imported), a.sameAs), a.origin)
	return &out
}
