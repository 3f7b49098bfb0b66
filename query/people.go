package query

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

// PeoplesTime is the JavaScript that people waited for: the mean of the page views that were profiled,
// times all that these stand for. It is never extrapolated.
type PeoplesTime struct {
	// Hours are those of a day, on average over Days, if there is a day of data or more. Otherwise they
	// are all of the time that was asked for.
	Hours float64 `json:"hours"`
	// Days is how long there was data in the time that was asked for: from its beginning, or from the first
	// trace that is stored, of whatever page, to its end or to now.
	Days   float64 `json:"days"`
	PerDay bool    `json:"per_day"`
}

// peoplesTime returns the time of page views with a mean in ms, of so many days of data.
func peoplesTime(mean, pageViews, days float64) *PeoplesTime {
	const hour = 3.6e6 // in ms
	return &PeoplesTime{Hours: mean * pageViews / hour / max(days, 1), Days: days, PerDay: days >= 1}
}

// Of returns how much of p, which is that of page views with a mean of all ms, is of a part with a mean of
// part ms over the same page views.
func (p *PeoplesTime) Of(part, all float64) (hours float64) {
	if p == nil || all <= 0 {
		return 0
	}
	return p.Hours * part / all
}

// StandsFor returns how many page views those of a point stand for; at least they are themselves.
func (p *Point) StandsFor() float64 {
	if p.Population == nil {
		return float64(p.Views)
	}
	return p.Population.Value
}

// daysOfAll returns for how many days of what a query for one point of all asks for there is data: 0 for
// one with steps.
func (l Local) daysOfAll(ctx context.Context, q SeriesQuery) (float64, error) {
	if q.Step > 0 {
		return 0, nil
	}
	return l.daysOf(ctx, q.Selection)
}

// daysOf returns for how many days of what a selection asks for there is data.
func (l Local) daysOf(ctx context.Context, sel selection.Selection) (float64, error) {
	whole := sel
	whole.Since = time.Time{}
	catalog, err := l.recentCatalog(ctx, whole) // one for all queries of a dashboard
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
