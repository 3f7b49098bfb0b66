package verdict

import (
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/stretch"
)

// recentHours is the number of recent hours from which the pace of page views is measured.
const recentHours = 3

// Foresee sets Wait if page views are missing, or Instead if waiting cannot help. views are the
// compared page views. window is how far back later comparisons look; 0 means as far as this one.
func (v *Verdict) Foresee(ctx context.Context, src query.Source, q query.CompareQuery, views compare.Pair,
	now time.Time, window time.Duration) error {
	if v.Missing == nil {
		return nil
	}
	for _, s := range []selection.Selection{q.A, q.B} {
		if !s.Until.IsZero() && s.Until.Before(now) {
			v.Instead = "no more page views will be compared: take a later --until"
			return nil
		}
	}
	pace, err := paceOf(ctx, src, q, now)
	if err != nil {
		return err
	}
	if q.Concurrent && (window == 0 || window > stretch.Longest) {
		window = stretch.Longest
	}
	v.soon(pace, views, window, q.Concurrent)
	return nil
}

// soon sets Wait or Instead from the page views per hour.
func (v *Verdict) soon(pace, views compare.Pair, window time.Duration, concurrent bool) {
	hours, room := 0.0, window.Hours()
	for _, x := range [][3]float64{{v.Missing.A, pace.A, views.A}, {v.Missing.B, pace.B, views.B}} {
		missing, anHour, have := x[0], x[1], x[2]
		switch {
		case missing <= 0:
		case anHour <= 0 && concurrent:
			v.Instead = fmt.Sprintf(
				"in the last %d hours no hour had page views of both sides: drop --concurrent, or take an earlier "+
					"--since", recentHours)
			return
		case anHour <= 0:
			v.Instead = fmt.Sprintf("in the last %d hours a side that needs them got none", recentHours)
			return
		case room > 0 && anHour*room < have+missing:
			advice := "take an earlier --since"
			if concurrent && window >= stretch.Longest {
				advice = "drop --concurrent"
			} else if concurrent {
				advice += ", or drop --concurrent"
			}
			v.Instead = fmt.Sprintf("at the pace of the last %d hours, %s never have that many: %s", recentHours,
				duration(room), advice)
			return
		default:
			hours = max(hours, missing/anHour)
		}
	}
	v.Wait = &hours
}

// paceOf returns the recent page views per hour of each side, counting only common hours if the
// sides are concurrent.
func paceOf(ctx context.Context, src query.Source, q query.CompareQuery, now time.Time) (compare.Pair, error) {
	since := now.Add(-recentHours * time.Hour).Truncate(time.Hour)
	a, err := hoursOf(ctx, src, q.A, since, now)
	if err != nil {
		return compare.Pair{}, fmt.Errorf("side A: %w", err)
	}
	b, err := hoursOf(ctx, src, q.B, since, now)
	if err != nil {
		return compare.Pair{}, fmt.Errorf("side B: %w", err)
	}
	sum := compare.Pair{}
	for at, n := range a {
		if !q.Concurrent || b[at] > 0 {
			sum.A += float64(n)
		}
	}
	for at, n := range b {
		if !q.Concurrent || a[at] > 0 {
			sum.B += float64(n)
		}
	}
	hours := now.Sub(since).Hours()
	return compare.Pair{A: sum.A / hours, B: sum.B / hours}, nil
}

// hoursOf returns the page views of each hour.
func hoursOf(ctx context.Context, src query.Source, s selection.Selection, since,
	until time.Time) (map[time.Time]int64, error) {
	s.Since, s.Until, s.GroupBy = since, until, nil
	series, err := src.Series(ctx, query.SeriesQuery{Selection: s, Step: time.Hour})
	if err != nil || len(series.Groups) == 0 {
		return nil, err
	}
	hours := map[time.Time]int64{}
	for _, p := range series.Groups[0].Points {
		hours[p.Time.UTC()] += p.Views
	}
	return hours, nil
}
