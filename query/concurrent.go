package query

import (
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

const (
	// sharedViews is how many page views both sides of a concurrent comparison have in each hour that counts.
	sharedViews = 30
	// mostShared bounds the hours: the latest ones count. Without a time since when, they are those until now.
	mostShared = 14 * 24
	// mostBlocks is how many strata the hours become at most: each has to have page views of all devices and browsers.
	mostBlocks = 8
)

// stretch is a part of the time of a comparison, and the stratum that its page views are of. Zero times are
// open ends, and without a name it is none.
type stretch struct {
	since, until time.Time
	stratum      string
}

// stretches returns the time of a comparison: all that was selected or, of a concurrent one, the hours in which both sides have
// page views, in order. The warning says what is left out.
func (l Local) stretches(ctx context.Context, q CompareQuery) (a, b []stretch, warning string, err error) {
	if !q.Concurrent {
		return []stretch{{q.A.Since, q.A.Until, ""}}, []stretch{{q.B.Since, q.B.Until, ""}}, "", nil
	}
	viewsA, allA, err := l.viewsByHour(ctx, q.A)
	if err != nil {
		return nil, nil, "", fmt.Errorf("side A: %w", err)
	}
	viewsB, allB, err := l.viewsByHour(ctx, q.B)
	if err != nil {
		return nil, nil, "", fmt.Errorf("side B: %w", err)
	}
	var hours []Point // that both have, with the page views of the side that has fewer
	for _, p := range viewsA {
		p.Time = p.Time.UTC()
		for _, other := range viewsB { // at most mostShared
			if other.Time.Equal(p.Time) {
				p.Views = min(p.Views, other.Views)
				hours = append(hours, p)
			}
		}
	}
	leftA, leftB := allA-sumOf(viewsA, hours), allB-sumOf(viewsB, hours)
	if leftA+leftB > 0 {
		warning = fmt.Sprintf("hours in which both sides have at least %d page views: %d, and these alone are compared; %d of A's %d page views are of other hours, and %d of B's %d",
			sharedViews, len(hours), leftA, allA, leftB, allB)
	}
	if len(hours) == 0 {
		warning = fmt.Sprintf("there is no hour in which both sides have at least %d page views: wait, or compare without --concurrent (concurrent)", sharedViews)
	}
	joined := joinHours(hours)
	return within(joined, q.A), within(joined, q.B), warning, nil
}

// within returns the parts of stretches that a selection takes: its time may begin or end within an hour.
func within(all []stretch, s selection.Selection) (out []stretch) {
	for _, x := range all {
		if s.Since.After(x.since) {
			x.since = s.Since
		}
		if !s.Until.IsZero() && s.Until.Before(x.until) {
			x.until = s.Until
		}
		out = append(out, x)
	}
	return out
}

// viewsByHour returns the last hours that have enough page views, and how many page views all have.
func (l Local) viewsByHour(ctx context.Context, s selection.Selection) (hours []Point, all int64, err error) {
	s.GroupBy = nil
	now := l.Reader.Now()
	if s.Until.After(now) { // who asks by HTTP writes open ends as the first and the last time
		s.Until = time.Time{}
	}
	if s.Since.Unix() <= 0 {
		s.Since = now.Add(-mostShared * time.Hour).Truncate(time.Hour)
	}
	series, err := l.Series(ctx, SeriesQuery{Selection: s, Step: time.Hour})
	if err != nil || len(series.Groups) == 0 {
		return nil, 0, err
	}
	for _, p := range series.Groups[0].Points {
		all += p.Views
		if p.Views >= sharedViews {
			hours = append(hours, p)
		}
	}
	return hours[max(0, len(hours)-mostShared):], all, nil
}

// sumOf returns the page views of those points whose time is one of hours.
func sumOf(points, hours []Point) (n int64) {
	for _, p := range points {
		for _, h := range hours {
			if h.Time.Equal(p.Time) {
				n += p.Views
			}
		}
	}
	return n
}

// joinHours returns the hours as strata of about as many page views. A stratum need not be one stretch.
func joinHours(hours []Point) (out []stretch) {
	var total, before int64
	for _, h := range hours {
		total += h.Views
	}
	stratum, number := "", int64(-1)
	for _, h := range hours {
		if n := before * mostBlocks / total; n != number {
			stratum, number = "from "+h.Time.Format("2006-01-02 15:04"), n
		}
		if last := len(out) - 1; last >= 0 && out[last].stratum == stratum && out[last].until.Equal(h.Time) {
			out[last].until = h.Time.Add(time.Hour)
		} else {
			out = append(out, stretch{h.Time, h.Time.Add(time.Hour), stratum})
		}
		before += h.Views
	}
	return out
}
