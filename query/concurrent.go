package query

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/stretch"
)

// stretches returns the time ranges of a comparison, in order: the selected range or, for a
// concurrent comparison, the ranges in which both sides have page views. The warning reports
// excluded page views.
func (l Local) stretches(ctx context.Context, q CompareQuery) (a, b []stretch.Stretch, warning string, err error) {
	if !q.Concurrent {
		return []stretch.Stretch{{Since: q.A.Since, Until: q.A.Until}}, []stretch.Stretch{{Since: q.B.Since,
			Until: q.B.Until}}, "", nil
	}
	viewsA, allA, err := l.viewsByHour(ctx, q.A)
	if err != nil {
		return nil, nil, "", fmt.Errorf("side A: %w", err)
	}
	viewsB, allB, err := l.viewsByHour(ctx, q.B)
	if err != nil {
		return nil, nil, "", fmt.Errorf("side B: %w", err)
	}
	common := stretch.Common(viewsA, viewsB)
	enough := int64(min(cmp.Or(q.Options.MinViews, stretch.Enough), stretch.Enough))
	pools := stretch.Pool(common, enough)
	var comparedA, comparedB int64
	hours := 0
	for _, p := range pools {
		a, b := stretch.Sum(p)
		comparedA, comparedB, hours = comparedA+a, comparedB+b, hours+len(p)
	}
	switch {
	case len(common) == 0:
		warning = "no hour has page views of both sides: compare without --concurrent (concurrent), " +
			"or from an earlier time on (since)"
	case hours == 0:
		a, b := stretch.Sum(common)
		warning = fmt.Sprintf(
			"in the hours with page views of both sides, A has %d and B %d: up to a week is pooled until both "+
				"have %d, in a ratio that does not change: wait, or compare without --concurrent (concurrent)",
			a, b, enough)
	case comparedA < allA || comparedB < allB:
		warning = fmt.Sprintf(
			"%d hours are compared, pooled until both sides have at least %d page views; %d of A's %d page views "+
				"and %d of B's %d are in other hours",
			hours, enough, allA-comparedA, allA, allB-comparedB, allB)
	}
	joined := stretch.Join(pools)
	return stretch.Within(joined, q.A.Since, q.A.Until), stretch.Within(joined, q.B.Since, q.B.Until), warning, nil
}

// viewsByHour returns the page views by hour, and their total.
func (l Local) viewsByHour(ctx context.Context, s selection.Selection) (hours map[time.Time]int64, all int64,
	err error) {
	s.GroupBy = nil
	now := l.Reader.Now()
	if s.Until.After(now) { // HTTP requests have the first and last time for open ends
		s.Until = time.Time{}
	}
	if s.Since.Unix() <= 0 {
		s.Since = now.Add(-stretch.Longest).Truncate(time.Hour)
	}
	series, err := l.Series(ctx, SeriesQuery{Selection: s, Step: time.Hour})
	if err != nil || len(series.Groups) == 0 {
		return nil, 0, err
	}
	hours = map[time.Time]int64{}
	for _, p := range series.Groups[0].Points {
		all += p.Views
		hours[p.Time.UTC()] += p.Views
	}
	return hours, all, nil
}
