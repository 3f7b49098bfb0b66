package query

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Cost is the cost of profiling to visitors: the differences of Web Vitals between page views drawn
// for profiling and others.
type Cost struct {
	cost.Report
	Stats Stats `json:"stats"`
}

// hourly is the longest time range that is compared hour by hour. Longer ranges are compared day by
// day.
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
		return out, selection.Refuse("cost: since is required")
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
		stratum := at.Format(time.RFC3339)
		stats, err := l.eachVital(ctx, part, store.Wanted{Level: rollup.Wide}, func(page string, v *rollup.Vital) {
			e.Add(page, stratum, v)
		})
		if err != nil {
			return out, err
		}
		out.Stats.add(stats)
		at = next
	}
	out.Report = e.Report(until.Sub(sel.Since))
	return out, nil
}
