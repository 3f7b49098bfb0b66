package query

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// PageDay is a day of a page, over all releases.
type PageDay struct {
	sums.Day
	Vitals []vital.Report
}

// PageDays returns the days of a page in [since, until), in order of time. It includes only
// complete days that are over and have page views. A function has the same name in all days.
func (l Local) PageDays(ctx context.Context, page string, since, until time.Time) ([]PageDay, error) {
	if now := l.Reader.Now(); now.Before(until) {
		until = now
	}
	all, err := l.pageSteps(ctx, page, []string{""}, since.Add(day-1).Truncate(day), until.Truncate(day), day)
	return all[0], err
}

// PageHours returns the hours of a page in [since, until) for each of some releases, in order of
// time. It includes only hours with page views, and the current hour. Days without hourly rollups
// have no hours.
func (l Local) PageHours(ctx context.Context, page string, releases []string, since,
	until time.Time) ([][]PageDay, error) {
	if now := l.Reader.Now(); now.Before(until) {
		until = now.Add(time.Hour)
	}
	since, until = since.Truncate(time.Hour), until.Truncate(time.Hour)
	if !l.Reader.HasHours(since, until) {
		return make([][]PageDay, len(releases)), nil
	}
	return l.pageSteps(ctx, page, releases, since, until, time.Hour)
}

// pageSteps returns the steps of a page for each of some releases.
func (l Local) pageSteps(ctx context.Context, page string, releases []string, since, until time.Time,
	step time.Duration) ([][]PageDay, error) {
	n := l.naming(selection.Selection{Page: page})
	type dayOf struct {
		*sums.DaySums
		vitals vital.Sums
	}
	all := make([][]dayOf, len(releases))
	out := make([][]PageDay, len(releases))
	seen := map[sums.ReleasedFrame]int64{} // self time in µs
	for at := since; at.Before(until); at = at.Add(step) {
		for i, release := range releases {
			all[i] = append(all[i], dayOf{DaySums: sums.NewDay(at, release)})
		}
		sel := selection.Selection{Page: page, Since: at, Until: at.Add(step)}
		_, err := l.eachRecord(ctx, sel, store.Wanted{Level: rollup.Wide, Details: true, Vitals: true},
			func(x store.Rolled) error {
				for i, release := range releases {
					d := &all[i][len(all[i])-1]
					d.Add(x, n.ByRelease())
					for k := range x.Record.Vitals {
						if v := &x.Record.Vitals[k]; release == "" || release == v.Labels.Value(rollup.KeyRelease) {
							d.vitals.Add(v)
						}
					}
				}
				return nil
			})
		if err != nil {
			return out, err
		}
		for i := range releases {
			for f, self := range all[i][len(all[i])-1].Self() {
				seen[f] += self
			}
		}
	}
	name := nameOf(n, seen)
	for i := range all {
		for _, d := range all[i] {
			if x := (PageDay{d.Day(name), d.vitals.Report(false)}); x.Views > 0 || len(x.Vitals) > 0 {
				out[i] = append(out[i], x)
			}
		}
	}
	return out, nil
}

// nameOf returns a function that names frames, given all seen frames with their self times.
func nameOf(n *naming.Naming, seen map[sums.ReleasedFrame]int64) func(sums.ReleasedFrame) trie.Frame {
	if n == nil {
		return func(f sums.ReleasedFrame) trie.Frame {
			f.Resource, _ = scripturl.CutDebugID(f.Resource)
			return f.Frame
		}
	}
	for f, self := range seen {
		n.See(f.Release, f.Frame, self)
	}
	names := n.Names()
	return func(f sums.ReleasedFrame) trie.Frame { return names.Of(f.Release, f.Frame) }
}

// ReleaseViews is the number of profiled page views of a page and release.
type ReleaseViews struct {
	Page, Release string
	Views         int64
}

// ReleaseViews returns the profiled page views in an hour, by page and release. It returns nil if
// the hour has no rollups of its own.
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
