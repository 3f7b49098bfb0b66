package query

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// PageDay is what is known of a page in a day, over all releases.
type PageDay struct {
	sums.Day
	Vitals []vital.Report
}

// PageDays returns the days of a page in [since, until), by time: whole ones that are over and have page views alone. Functions have one
// name on all of them.
func (l Local) PageDays(ctx context.Context, page string, since, until time.Time) ([]PageDay, error) {
	if now := l.Reader.Now(); now.Before(until) {
		until = now
	}
	n := l.naming(selection.Selection{Page: page})
	type dayOf struct {
		*sums.DaySums
		vitals vital.Sums
	}
	var all []dayOf
	seen := map[sums.ReleasedFrame]int64{} // self time, µs
	for at := since.Add(day - 1).Truncate(day); !at.Add(day).After(until); at = at.Add(day) {
		d := dayOf{DaySums: sums.NewDay(at)}
		sel := selection.Selection{Page: page, Since: at, Until: at.Add(day)}
		_, err := l.eachRecord(ctx, sel, store.Wanted{Level: rollup.Narrow, Details: true, Vitals: true}, func(x store.Rolled) error {
			d.Add(x, n.ByRelease())
			for i := range x.Record.Vitals {
				d.vitals.Add(&x.Record.Vitals[i])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for f, self := range d.Self() {
			seen[f] += self
		}
		all = append(all, d)
	}
	name := func(f sums.ReleasedFrame) trie.Frame {
		f.Resource, _ = scripturl.CutDebugID(f.Resource)
		return f.Frame
	}
	if n != nil {
		for f, self := range seen {
			n.See(f.Release, f.Frame, self)
		}
		names := n.Names()
		name = func(f sums.ReleasedFrame) trie.Frame { return names.Of(f.Release, f.Frame) }
	}
	var out []PageDay
	for _, d := range all {
		if x := (PageDay{d.Day(name), d.vitals.Report(false)}); x.Views > 0 || len(x.Vitals) > 0 {
			out = append(out, x)
		}
	}
	return out, nil
}

// ReleaseViews are the profiled page views of a release of a page.
type ReleaseViews struct {
	Page, Release string
	Views         int64
}

// ReleaseViews returns the profiled page views of all pages in an hour, by release; of an hour that is kept with its day alone it knows
// nothing.
func (l Local) ReleaseViews(ctx context.Context, hour time.Time) ([]ReleaseViews, error) {
	hour = hour.Truncate(time.Hour)
	sel := selection.Selection{Since: hour, Until: hour.Add(time.Hour)}
	if !l.Reader.HasHours(sel.Since, sel.Until) {
		return nil, nil
	}
	type key struct{ page, release string }
	views := map[key]int64{}
	_, err := l.eachRecord(ctx, sel, store.Wanted{Level: rollup.Narrow}, func(x store.Rolled) error {
		for i := range x.Record.Distributions {
			if d := &x.Record.Distributions[i]; sums.PartOf(d) == (trie.Label{}) {
				views[key{x.Page, d.Labels.Value(rollup.KeyRelease)}] += d.Time.Count
			}
		}
		return nil
	})
	var out []ReleaseViews
	for k, n := range views {
		if n > 0 {
			out = append(out, ReleaseViews{k.page, k.release, n})
		}
	}
	return out, err
}
