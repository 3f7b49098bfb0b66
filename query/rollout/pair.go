package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Pair holds the two releases that are compared by default.
type Pair struct {
	Release string `json:"release,omitempty"` // the newest release; empty if there is none
	Views   int64  `json:"views"`             // page views of Release in the selected time
	// CompareRelease is the earlier release with the most page views from a day before Release
	// began. CompareViews is their number. CompareRelease is empty if no earlier release has page
	// views.
	CompareRelease string `json:"compare_release,omitempty"`
	CompareViews   int64  `json:"compare_views"`
	MinViews       int64  `json:"min_views"` // page views that each release needs for a verdict
	// Missing is the reason, as a sentence, why a verdict is not possible. It is empty if a verdict
	// is possible.
	Missing string `json:"missing,omitempty"`
	// Guess is set to a sentence if the order of the releases is a guess. It is empty if the order
	// is known.
	Guess string      `json:"guess,omitempty"`
	Stats query.Stats `json:"stats"`
}

// Choose chooses the two releases that are compared in a selection: the newest one, or the one that
// the selection names, and an earlier one, see package  Without labels and a feature, the
// newest release may have no page views in the selected time.
func Choose(ctx context.Context, src query.Source, sel selection.Selection) (Pair, error) {
	named, sel := withoutRelease(sel)
	catalog, err := src.Catalog(ctx, time.Time{}, time.Time{}, sel.Lag)
	if err != nil {
		return Pair{}, err
	}
	views, stats, err := releaseViews(ctx, src, sel)
	stats.Age = stats.Age.With(catalog.Age)
	out := Pair{MinViews: MinViews, Stats: stats}
	if err != nil {
		return out, err
	}
	all := candidates(catalog, views, sel)
	order, ok := Newest(all)
	if named != "" {
		order, ok = At(all, named)
	}
	if !ok {
		out.Missing = "No release has page views in this time"
		return out, nil
	}
	out.Release, out.Views = order.Name, views[order.Name]
	if since := order.First.Add(-24 * time.Hour); since.After(sel.Since) {
		sel.Since = since
		if views, _, err = releaseViews(ctx, src, sel); err != nil {
			return out, err
		}
	}
	out.CompareRelease = order.Base(func(release string) int64 { return views[release] })
	out.CompareViews = views[out.CompareRelease]
	out.explain(order)
	return out, nil
}

// Sides returns the two releases as the sides of a comparison. It returns an error if there are
// fewer than two.
func Sides(ctx context.Context, src query.Source, sel selection.Selection) (
	p Pair, before, after selection.Selection, err error,
) {
	if p, err = Choose(ctx, src, sel); err == nil && p.CompareRelease == "" {
		err = errors.New(p.Missing)
	}
	of := func(release string) selection.Selection {
		s := sel
		only := selection.Matcher{Key: rollup.KeyRelease, Op: selection.Equal, Value: release}
		s.Where = selection.Replace(sel.Where, []selection.Matcher{only})
		return s
	}
	return p, of(p.CompareRelease), of(p.Release), err
}

// explain sets Missing and Guess.
func (p *Pair) explain(o Order) {
	switch {
	case p.Views < p.MinViews:
		p.Missing = fmt.Sprintf("%s: %d of %d page views so far", p.Release, p.Views, p.MinViews)
	case p.CompareRelease == "":
		p.Missing = fmt.Sprintf("No release before %s has page views in this time", p.Release)
	case p.CompareViews < p.MinViews:
		p.Missing = fmt.Sprintf("%s, the release before %s: %d of %d page views",
			p.CompareRelease, p.Release, p.CompareViews, p.MinViews)
	}
	if n := len(o.Tied); n > 1 {
		names := strings.Join(o.Tied[:n-1], ", ") + " and " + o.Tied[n-1]
		p.Guess = names + " began at the same time; the order is by version number"
		if o.First.IsZero() {
			p.Guess = "When " + names + " began is unknown; the order is by version number"
		}
	}
}

// withoutRelease removes matchers such as release=x from a selection. It returns the last x, or ""
// if there is none, and the rest.
func withoutRelease(sel selection.Selection) (named string, all selection.Selection) {
	all = sel
	all.Where = slices.DeleteFunc(slices.Clone(sel.Where), func(m selection.Matcher) bool {
		of := m.Key == rollup.KeyRelease && m.Op == selection.Equal
		if of {
			named = m.Value
		}
		return of
	})
	return named, all
}

// candidates returns the releases that began before the end of a selection.
func candidates(c query.Catalog, views map[string]int64, sel selection.Selection) []Release {
	all := releasesOf(c, sel)
	for release := range views { // releases without traces began before the others
		if release != "" && !slices.ContainsFunc(all, func(r Release) bool { return r.Name == release }) {
			all = append(all, Release{Name: release})
		}
	}
	return slices.DeleteFunc(all, func(r Release) bool {
		if sel.Feature != "" || len(sel.Where) > 0 { // the catalog does not list features and labels by release
			return views[r.Name] == 0
		}
		return !sel.Until.IsZero() && !r.First.Before(sel.Until)
	})
}

// releasesOf returns the releases of a page, or of all pages, that have traces.
func releasesOf(c query.Catalog, sel selection.Selection) (all []Release) {
	at := map[string]int{}
	for _, e := range c.Entries {
		if e.Kind != rollup.KeyRelease || e.Name == "" || sel.Page != "" && e.Page != sel.Page {
			continue
		}
		i, known := at[e.Name]
		if !known {
			i, at[e.Name] = len(all), len(all)
			all = append(all, Release{Name: e.Name, First: e.First, Uploaded: e.Uploaded})
		}
		r := &all[i]
		r.First = earliest(r.First, e.First)
		r.Uploaded = earliest(r.Uploaded, e.Uploaded)
	}
	return all
}

// earliest returns the earlier of two times, ignoring a zero time.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// releaseViews returns the page views of each release.
func releaseViews(ctx context.Context, src query.Source, sel selection.Selection) (
	map[string]int64, query.Stats, error,
) {
	sel.GroupBy = []string{rollup.KeyRelease}
	series, err := src.Series(ctx, query.SeriesQuery{Selection: sel})
	views := map[string]int64{}
	for _, g := range series.Groups {
		views[g.Labels[rollup.KeyRelease]] = g.Points[0].Views
	}
	return views, series.Stats, err
}
