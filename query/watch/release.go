package watch

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// releaseLevel is the probability that the tests of a release find a change where there is none,
// for each false report that the settings accept per page and day. It can be larger than 1, because
// a release is tested for days, and a chance finding rarely shows in all parts of that time with a
// size that exceeds the difference between days.
const releaseLevel = 10

const (
	// parts is the number of parts of a release's time that must show a change. Each is at least
	// shortest long, so a spike of six hours is in one or two of them.
	parts    = 3
	shortest = 5 * hour
	// stillThere is the part of a change that the first and the last part of the time must show,
	// within butFor standard errors. A spike of six hours leaves less than that in one of the two.
	stillThere, butFor = 0.35, 0.84
)

// reader reads and tests the data of one page.
type reader struct {
	o        Observer
	s        Settings
	now      time.Time
	page     string
	traffic  table
	days     []series // of the page; nil: not read yet
	versions versionDays
}

// release tests the newest release of the page if a test is due.
func (r *reader) release(ctx context.Context, m *PageMemory) ([]Finding, error) {
	s, ok := r.traffic.newest(r.page, r.now)
	if !ok {
		return nil, nil
	}
	if m.Release != s.after || m.Looked.Before(s.began) {
		m.Release, m.Looked = s.after, s.began
	}
	due := s.due(m.Looked, r.now)
	if due == 0 {
		return nil, nil
	}
	before, after, atOnce, ok := s.spans(&r.traffic, s.began, r.now)
	if !ok || after.Until.Sub(after.Since) < parts*shortest {
		return nil, nil
	}
	m.Looked = r.now
	level := due * releaseLevel * r.s.FalseReports
	all, err := r.o.Compare(ctx, r.page, before, after, compare.Options{FalseDiscovery: level})
	if err != nil {
		return nil, err
	}
	found, err := r.lasting(ctx, s, before, after, r.findings(&all, s, level, atOnce))
	if err != nil {
		return nil, err
	}
	if len(found) > 0 && !atOnce {
		if found, err = r.exceed(ctx, s, found); err != nil {
			return nil, err
		}
	}
	return found, r.explainMoved(ctx, s, &all, found, atOnce)
}

// lasting returns the findings that persist in the first and the last part of the release's time.
// If the releases did not run at the same time, the findings must also persist against an earlier
// time of the release before.
func (r *reader) lasting(ctx context.Context, s shift, before, after Span, found []Finding) ([]Finding, error) {
	pairs := [][2]Span{}
	length := after.Until.Sub(after.Since) / parts
	for _, i := range []time.Duration{0, parts - 1} {
		since := after.Since.Add(i * length).Truncate(hour)
		until := after.Since.Add((i + 1) * length).Truncate(hour)
		if i == parts-1 {
			until = after.Until
		}
		if a, b, _, ok := s.spans(&r.traffic, since, until); ok {
			pairs = append(pairs, [2]Span{a, b})
		}
	}
	if !before.Since.Equal(after.Since) {
		back := s.began.Sub(before.Since).Truncate(day) + day
		earlier := Span{s.before, before.Since.Add(-back), before.Until.Add(-back)}
		if !s.old.After(earlier.Since) && r.traffic.views(s.before, earlier.Since, earlier.Until) >= r.traffic.least {
			pairs = append(pairs, [2]Span{earlier, after})
		}
	}
	for _, x := range pairs {
		if len(found) == 0 {
			return nil, nil
		}
		c, err := r.o.Compare(ctx, r.page, x[0], x[1], compare.Options{})
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(f Finding) bool {
			e, level, ok := estimateIn(f.What, &c)
			part := e.Value/f.decisive().Value + butFor*errorOf(e, level)/math.Abs(f.decisive().Value)
			return !ok || math.IsInf(part, 0) || part < stillThere
		})
	}
	return found, nil
}

// estimateIn returns the change of a series in a comparison, with the level of its interval.
func estimateIn(w What, c *query.Comparison) (e compare.Estimate, level float64, ok bool) {
	switch w.Kind {
	case OfPage:
		return plainOf(&c.Total), c.Total.Level, true
	case OfFeature:
		for i := range c.Features {
			if c.Features[i].Name == w.Feature {
				return plainOf(&c.Features[i].Change), c.Features[i].Level, true
			}
		}
	case OfVital:
		for _, v := range c.Vitals {
			if v.Name == w.Metric {
				return vitalEstimate(&v, 0.05), 0.95, v.Difference.High != 0 || v.Difference.Low != 0
			}
		}
	case OfFunction:
		if i := indexOf(c.Functions, w.Function); i >= 0 {
			return decisiveOf(&c.Functions[i]), c.Functions[i].Level, true
		}
	}
	return compare.Estimate{}, 0, false
}

// indexOf returns the index of the function at the place, or else of the first function with its
// name and file. It returns -1 if there is none.
func indexOf(functions []compare.FunctionChange, place *compare.Place) int {
	if i := slices.IndexFunc(functions, func(f compare.FunctionChange) bool { return f.Place == *place }); i >= 0 {
		return i
	}
	of := functionOf(place)
	return slices.IndexFunc(functions, func(f compare.FunctionChange) bool {
		return f.Name == of.name && functionOf(&f.Place) == of
	})
}
