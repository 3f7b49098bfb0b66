package watch

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// releaseLevel is the probability that the looks at a release find a change where there is none, for each false report that is
// accepted in a day of a page. It is not 1, since a release is looked at for days, and what chance found is hardly ever in all
// parts of its time, and larger than what days differ by.
const releaseLevel = 10

const (
	// parts is how many parts of the time of a release must have a change, of shortest at least: a spike of six hours is in
	// one or two of them.
	parts    = 3
	shortest = 5 * hour
	// stillThere is how much of a change the first and the last part must have, but for such a number of standard errors: what a spike
	// of six hours leaves in one of both is less.
	stillThere, butFor = 0.35, 0.84
)

// reader reads what is needed of one page.
type reader struct {
	o        Observer
	s        Settings
	now      time.Time
	page     string
	traffic  table
	days     []series // of the page; nil: not read
	versions versionDays
}

// release looks at the newest release of the page if it is time to.
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

// lasting returns the findings that are in the first and the last part of the time of the release and, if the releases did not run at once, also beside an
// earlier time of the one before.
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

// indexOf returns the number of a function: the one at its place, or else the first one with its name and file; -1 if there is none.
func indexOf(functions []compare.FunctionChange, place *compare.Place) int {
	if i := slices.IndexFunc(functions, func(f compare.FunctionChange) bool { return f.Place == *place }); i >= 0 {
		return i
	}
	of := functionOf(place)
	return slices.IndexFunc(functions, func(f compare.FunctionChange) bool { return f.Name == of.name && functionOf(&f.Place) == of })
}
