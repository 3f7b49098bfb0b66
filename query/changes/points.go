package changes

import (
	"context"
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Series is the changed value over time, on one page.
type Series struct {
	Page string `json:"page"`
	Unit string `json:"unit"` // "ms" per page view, or "" for a score
	// Points are days with page views, in order of time.
	Points   []Point   `json:"points"`
	Releases []Release `json:"releases"` // that began on these days, in order of time
	// Hours has the hours around the change, including the current one: for the release with the
	// change and the release before it, or for all page views if no release explains the change. It
	// is empty if hourly rollups have expired.
	Hours []Line `json:"hours,omitempty"`
}

// Line has the hours of a release, or of all page views if Release is "".
type Line struct {
	Release string  `json:"release"`
	Points  []Point `json:"points"` // in order of time, without hours that have no page views
}

// Point is a day or hour: the mean over page views, or the 75th percentile of a Web Vital, with a
// 95 % interval.
type Point struct {
	Time  time.Time        `json:"time"`
	Views float64          `json:"views"` // profiled ones, or for a Web Vital those that reported it
	Value compare.Estimate `json:"value"`
}

// Release is a release and the time of its first page view.
type Release struct {
	Release string    `json:"release"`
	Begin   time.Time `json:"begin"`
}

// Range of a series around its change.
const (
	seriesBefore = 21 * 24 * time.Hour
	seriesAfter  = 21 * 24 * time.Hour
	day          = 24 * time.Hour
	// Range of hours around the change.
	hoursBefore = 1 * day
	hoursAfter  = 3 * day
)

// byTheHour is an observer with hourly data, see [watch.Reading.Hours].
type byTheHour interface {
	Hours(ctx context.Context, page string, releases []string, since, until time.Time) ([][]watch.Day, error)
}

// series returns the series of a change on its first page.
func (b *Board) series(ctx context.Context, c *watch.Change) (*Series, error) {
	page := c.Pages[0].Page
	now := b.o.Now()
	since, until := c.Begin.Add(-seriesBefore).Truncate(day), c.Begin.Add(seriesAfter).Truncate(day)
	if until.After(now) {
		until = now
	}
	days, err := b.observer.Days(ctx, page, since, until)
	if err != nil || len(days) == 0 {
		return nil, err
	}
	out := &Series{Page: page, Unit: Unit(c.What), Points: []Point{}, Releases: []Release{}}
	for i := range days {
		if p, ok := pointOf(&days[i], &c.What); ok {
			out.Points = append(out.Points, p)
		}
	}
	if b.o.Releases != nil {
		if out.Releases, err = b.o.Releases(ctx, page, since, until); err != nil {
			return nil, err
		}
	}
	out.Hours, err = b.hours(ctx, c)
	return out, err
}

// hours returns the hours around a change.
func (b *Board) hours(ctx context.Context, c *watch.Change) (lines []Line, err error) {
	of, ok := b.observer.(byTheHour)
	if !ok {
		return nil, nil
	}
	releases := []string{""}
	if c.Release != "" {
		releases = []string{c.CompareRelease, c.Release}
	}
	all, err := of.Hours(ctx, c.Pages[0].Page, releases, c.Begin.Add(-hoursBefore), c.Begin.Add(hoursAfter))
	for i := range all {
		line := Line{Release: releases[i], Points: []Point{}}
		for k := range all[i] {
			if p, ok := pointOf(&all[i][k], &c.What); ok {
				line.Points = append(line.Points, p)
			}
		}
		if len(line.Points) > 0 {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// pointOf returns the value of a series on a day, if any.
func pointOf(d *watch.Day, w *watch.What) (p Point, ok bool) {
	p = Point{Time: d.Day, Views: d.Views}
	switch w.Kind {
	case watch.OfPage:
		p.Value, ok = mean(d.Time, d.Views), d.Views > 0
	case watch.OfFeature:
		var sum compare.Amount
		for _, s := range d.Strata {
			a, there := s.Features[w.Feature]
			ok = ok || there
			sum = plus(sum, []compare.Amount{a})
		}
		p.Value, ok = mean(sum, d.Views), ok && d.Views > 0
	case watch.OfVital:
		for _, v := range d.Vitals {
			if v.Name == w.Metric {
				p.Views, ok = float64(v.Views), true
				p.Value.Value = v.P75.Value
				if v.P75.High != 0 {
					p.Value.Low, p.Value.High = new(v.P75.Low), new(v.P75.High)
				}
			}
		}
	case watch.OfFunction:
		// a day on which the function was not seen has no time in it
		var sum compare.Amount
		for i := range d.Functions {
			if f := &d.Functions[i]; isFunction(f, w.Function) {
				sum = plus(sum, f.Self)
			}
		}
		p.Value, ok = mean(sum, d.Views), d.Views > 0
	}
	return p, ok
}

// isFunction reports whether f is the function at a place, judged by name and file.
func isFunction(f *compare.Function, p *compare.Place) bool {
	return f.Frame.Name == p.Name && compare.StableURL(f.Frame.Resource) == compare.StableURL(p.Resource)
}

// plus adds the amounts of strata.
func plus(a compare.Amount, list []compare.Amount) compare.Amount {
	for _, x := range list {
		a.Seen, a.Sum, a.Squares = a.Seen+x.Seen, a.Sum+x.Sum, a.Squares+x.Squares
	}
	return a
}

// mean returns the mean over page views, with its interval if known.
func mean(a compare.Amount, views float64) (e compare.Estimate) {
	if views == 0 {
		return e
	}
	e.Value = a.Sum / views
	if views < 2 || a.Sum > 0 && a.Squares == 0 {
		return e
	}
	const z = 1.959963984540054
	half := z * math.Sqrt(max(a.Squares/views-e.Value*e.Value, 0)/(views-1))
	e.Low, e.High = new(max(e.Value-half, 0)), new(e.Value+half)
	return e
}
