package query

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

// PeoplesTime is the total JavaScript time that users waited for: the mean of the profiled page
// views, times the number of page views that they stand for. It is not extrapolated to other times.
type PeoplesTime struct {
	// Hours is the total user time per day, averaged over Days, if there is at least a day of data,
	// else the total of the selected time.
	Hours float64 `json:"hours"`
	// Days is the length of the selected time with data: from its start, or from the first stored
	// trace of any page, until its end or now.
	Days   float64 `json:"days"`
	PerDay bool    `json:"per_day"`
}

// peoplesTime returns the total time of page views with a mean in ms, for data of days days.
func peoplesTime(mean, pageViews, days float64) *PeoplesTime {
	const hour = 3.6e6 // ms
	return &PeoplesTime{Hours: mean * pageViews / hour / max(days, 1), Days: days, PerDay: days >= 1}
}

// Of returns the hours of a part of p: p has a mean of all ms per page view, and the part a mean of
// part ms over the same page views.
func (p *PeoplesTime) Of(part, all float64) (hours float64) {
	if p == nil || all <= 0 {
		return 0
	}
	return p.Hours * part / all
}

// StandsFor returns the number of page views that the profiled ones of a point represent, at least
// themselves.
func (p *Point) StandsFor() float64 {
	if p.Population == nil {
		return float64(p.Views)
	}
	return p.Population.Value
}

// daysOfAll returns the days with data of a query for a single point, and 0 for a query with steps.
func (l Local) daysOfAll(ctx context.Context, q SeriesQuery) (float64, error) {
	if q.Step > 0 {
		return 0, nil
	}
	return l.daysOf(ctx, q.Selection)
}

// daysOf returns the days with data of a selection.
func (l Local) daysOf(ctx context.Context, sel selection.Selection) (float64, error) {
	whole := sel
	whole.Since = time.Time{}
	catalog, err := l.recentCatalog(ctx, whole) // shared by all queries of a dashboard
	if err != nil || len(catalog.Entries) == 0 {
		return 0, err
	}
	first, end := catalog.Entries[0].First, l.Reader.Now()
	for _, e := range catalog.Entries {
		if e.First.Before(first) {
			first = e.First
		}
	}
	if first.Before(sel.Since) {
		first = sel.Since
	}
	if !sel.Until.IsZero() && sel.Until.Before(end) {
		end = sel.Until
	}
	return max(float64(end.Sub(first))/float64(24*time.Hour), 0), nil
}
