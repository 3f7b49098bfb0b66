package query

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Cost says what profiling costs visitors: how Web Vitals of page views that were drawn to be profiled differ from those of others.
type Cost struct {
	cost.Report
	Stats Stats `json:"stats"`
}

// hourly is up to how much time page views are compared hour by hour. More is compared day by day.
const hourly = 8 * 24 * time.Hour

// Cost implements [Source].
func (l Local) Cost(ctx context.Context, sel selection.Selection) (out Cost, err error) {
	if err := checkVitals(sel); err != nil {
		return out, err
	}
	until := sel.Until
	if now := l.Reader.Now(); until.IsZero() || until.After(now) {
		until = now
	}
	if sel.Since.IsZero() || !sel.Since.Before(until) {
		return out, selection.Refuse("cost: a time is needed, since when page views are compared")
	}
	step := time.Hour
	if until.Sub(sel.Since) > hourly {
		step = 24 * time.Hour
	}
	var e cost.Experiment
	for at := sel.Since; at.Before(until); {
		next := at.Truncate(step).Add(step)
		part := sel
		part.Since, part.Until = at, next
		if !next.Before(until) {
			part.Until = sel.Until
		}
		stats, err := l.eachRecord(ctx, part, store.Wanted{Level: rollup.Wide, Vitals: true}, func(x store.Rolled) error {
			for i := range x.Record.Vitals {
				if v := &x.Record.Vitals[i]; takesVital(sel, v) {
					e.Add(x.Page, at.Format(time.RFC3339), v)
				}
			}
			return nil
		})
		if err != nil {
			return out, err
		}
		out.Stats.addTime(stats)
		at = next
	}
	out.Report = e.Report(until.Sub(sel.Since))
	return out, nil
}

// addTime adds what was read of another time.
func (s *Stats) addTime(o Stats) {
	s.Days, s.Hours, s.Partitions = s.Days+o.Days, s.Hours+o.Hours, s.Partitions+o.Partitions
	s.RolledUp, s.Traces, s.Bytes, s.Folded = s.RolledUp+o.RolledUp, s.Traces+o.Traces, s.Bytes+o.Bytes, s.Folded+o.Folded
	s.Age = o.Age
	for _, w := range o.Warnings {
		if len(s.Warnings) < maxWarnings && !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
}
