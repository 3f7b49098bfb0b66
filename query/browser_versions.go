package query

import (
	"cmp"
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// BrowserVersions lists the versions of each browser family over time, and how much they differ in
// speed.
type BrowserVersions struct {
	Step     float64              `json:"step_seconds"` // a day, or an hour for up to two days
	Families []sums.BrowserFamily `json:"families"`     // most page views first
	Unknown  int64                `json:"unknown_views"`
	Stats    Stats                `json:"stats"`
}

// hourlyFor is the longest time with points of an hour.
const hourlyFor = 48 * time.Hour

// size returns about how many bytes v takes.
func (v BrowserVersions) size() (n int) {
	for _, f := range v.Families {
		for _, x := range f.Versions {
			n += 400 + 60*len(x.Points)
		}
	}
	return n
}

// BrowserVersions implements [Source].
func (l Local) BrowserVersions(ctx context.Context, sel selection.Selection) (BrowserVersions, error) {
	sel, key := recently(sel)
	got, kept, err := cached(ctx, l, "browsers "+key, sel.Lag, func(ctx context.Context) (BrowserVersions, error) {
		return l.browserVersions(ctx, sel)
	})
	got.Stats.Age = got.Stats.Age.After(kept)
	return got, err
}

func (l Local) browserVersions(ctx context.Context, sel selection.Selection) (out BrowserVersions, err error) {
	if err := selection.CheckTimes(sel.Since, sel.Until); err != nil {
		return out, err
	}
	if sel.Parts.Given() || len(sel.GroupBy) > 0 {
		return out, selection.Refuse("browser versions are those of page views: leave out parts of the code and groups")
	}
	facet, err := sums.FacetOf(sel)
	if err != nil {
		return out, err
	}
	step, until := day, cmp.Or(sel.Until, l.Reader.Now())
	if !sel.Since.IsZero() && until.Sub(sel.Since) <= hourlyFor {
		step = time.Hour
	}
	q := SeriesQuery{Selection: sel, Step: step}
	if q.Since, q.Step, err = l.stepOf(ctx, q); err != nil {
		return out, err
	}
	all := sums.NewVersionTimes(facet)
	want := store.Wanted{Level: rollup.Wide}
	if err := l.eachStep(ctx, q, want, q.Step, versionAdder{all}, &out.Stats); err != nil {
		return out, err
	}
	out.Step, out.Unknown, out.Families = q.Step.Seconds(), all.Unknown(), all.Families(l.evidence(ctx, sel.Page))
	return out, nil
}

// evidence returns what the other pages of the site tell about browser versions. It is none for all
// pages.
func (l Local) evidence(ctx context.Context, page string) browsers.Evidence {
	if l.Browsers == nil || page == "" {
		return browsers.Evidence{}
	}
	return l.Browsers(ctx, func(other string) bool { return other != page && siteOf(other) == siteOf(page) })
}

// versionAdder adds the records of each step.
type versionAdder struct{ *sums.VersionTimes }

func (a versionAdder) add(at time.Time, x store.Rolled) error { return a.Add(at, x) }
