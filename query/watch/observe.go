package watch

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Reading is an [Observer] of stored data. It caches the page views of closed hours, so that it
// reads each hour once.
type Reading struct {
	source query.Local
	now    func() time.Time

	mu    sync.Mutex
	texts map[string]string // interned names
	hours map[time.Time][]query.ReleaseViews
}

// Read returns an observer of a source. The source should not cache responses, because each is
// requested once.
func Read(source query.Local) *Reading {
	return &Reading{source: source, now: source.Reader.Now, texts: map[string]string{},
		hours: map[time.Time][]query.ReleaseViews{}}
}

// settledAfter is how long after its end an hour is certain to be closed and can be cached.
const settledAfter = 2 * time.Hour

// maxTexts limits the number of interned names.
const maxTexts = 100_000

// Traffic implements [Observer].
func (r *Reading) Traffic(ctx context.Context, since, until time.Time) ([]Traffic, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := map[string][]ReleaseHour{}
	first := since.Truncate(time.Hour)
	if len(r.texts) > maxTexts {
		clear(r.texts)
	}
	for hour := range r.hours {
		if hour.Before(first) {
			delete(r.hours, hour)
		}
	}
	for at := first; at.Before(until); at = at.Add(time.Hour) {
		list, err := r.hour(ctx, at.UTC())
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			of[x.Page] = append(of[x.Page], ReleaseHour{at.UTC(), x.Release, x.Views})
		}
	}
	var out []Traffic
	for page, hours := range of {
		out = append(out, Traffic{page, hours, r.source.FirstUploads(page)})
	}
	slices.SortFunc(out, func(a, b Traffic) int { return cmp.Compare(a.Page, b.Page) })
	return out, nil
}

// hour returns the page views of an hour, sorted.
func (r *Reading) hour(ctx context.Context, at time.Time) ([]query.ReleaseViews, error) {
	if list, known := r.hours[at]; known {
		return list, nil
	}
	list, err := r.source.ReleaseViews(ctx, at)
	if err != nil {
		return nil, err
	}
	one := func(text string) string {
		if _, known := r.texts[text]; !known {
			r.texts[text] = text
		}
		return r.texts[text]
	}
	for i := range list {
		list[i].Page, list[i].Release = one(list[i].Page), one(list[i].Release)
	}
	slices.SortFunc(list, func(a, b query.ReleaseViews) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Release, b.Release))
	})
	if r.now().Sub(at) > time.Hour+settledAfter {
		r.hours[at] = slices.Clip(list)
	}
	return list, nil
}

// Compare implements [Observer].
func (r *Reading) Compare(ctx context.Context, page string, before, after Span,
	o compare.Options) (query.Comparison, error) {
	side := func(s Span) (sel selection.Selection, err error) {
		sel = selection.Selection{Page: page, Since: s.Since, Until: s.Until}
		m, err := selection.NewMatcher("release", selection.Equal, s.Release)
		sel.Where = []selection.Matcher{m}
		return sel, err
	}
	a, err := side(before)
	if err != nil {
		return query.Comparison{}, err
	}
	b, err := side(after)
	if err != nil {
		return query.Comparison{}, err
	}
	return r.source.Compare(ctx, query.CompareQuery{A: a, B: b, Method: query.MethodSums, Options: o, Brief: true,
		Concurrent: before.Since.Equal(after.Since) && before.Until.Equal(after.Until)})
}

// Days implements [Observer].
func (r *Reading) Days(ctx context.Context, page string, since, until time.Time) ([]Day, error) {
	days, err := r.source.PageDays(ctx, page, since, until)
	return daysOf(days), err
}

// Hours returns the hours of several releases of a page, see [query.Local.PageHours]. The release
// "" means all releases.
func (r *Reading) Hours(ctx context.Context, page string, releases []string, since, until time.Time) ([][]Day, error) {
	all, err := r.source.PageHours(ctx, page, releases, since, until)
	out := make([][]Day, len(releases))
	for i := range all {
		out[i] = daysOf(all[i])
	}
	return out, err
}

func daysOf(days []query.PageDay) []Day {
	out := make([]Day, len(days))
	for i, d := range days {
		out[i] = Day{d.Day.Day, d.Views, d.Time, map[string]DayStratum{}, d.Functions, d.Vitals, d.Versions}
		for name, s := range d.Strata {
			out[i].Strata[name] = DayStratum(s)
		}
	}
	return out
}
