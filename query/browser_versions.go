package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// BrowserVersions lists the versions of each browser family over time, and how much they differ in
// speed.
type BrowserVersions struct {
	Step     float64         `json:"step_seconds"` // a day, or an hour for up to two days
	Families []BrowserFamily `json:"families"`     // most page views first
	Unknown  int64           `json:"unknown_views"`
	Stats    Stats           `json:"stats"`
}

// BrowserFamily is a browser in all of its versions, such as Chrome.
type BrowserFamily struct {
	Family string  `json:"family"`
	Views  int64   `json:"views"` // profiled, once for each hour in which they sent traces
	Mean   float64 `json:"mean_ms"`
	// Versions have the most page views first. Those below 1 % of the page views of the family are
	// one entry, the last: "Chrome (other)".
	Versions []BrowserVersion `json:"versions"`
}

// BrowserVersion is a version of a family. Unknown values are null, never 0.
type BrowserVersion struct {
	Browser string  `json:"browser"` // such as "Chrome 158"
	Views   int64   `json:"views"`
	Share   float64 `json:"share"` // of the page views of the family, from 0 to 1
	// Effect is the relative difference between this version and the other versions of the family,
	// on the same page, day, device and release: 0.01 is 1 % slower. EffectMS is the same in ms per
	// page view. Both have the 95 % interval.
	Effect   *compare.Estimate `json:"effect"`
	EffectMS *compare.Estimate `json:"effect_ms"`
	// HalfSince is the beginning of the first step in which the version has at least half of the
	// family's page views. It is null if there is none, and for a version that has half already in
	// the first step of the time.
	HalfSince *time.Time     `json:"half_since"`
	Points    []BrowserPoint `json:"points"` // in order of time, without steps without page views of the family
}

// BrowserPoint is a version in a step.
type BrowserPoint struct {
	Time  time.Time `json:"time"`
	Views int64     `json:"views"`
	Share float64   `json:"share"` // of the page views of the family

	family int64 // page views
}

// leastVersionShare is the least share of a version that is listed separately.
const leastVersionShare = 0.01

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
	all := &versionSums{facet: facet, points: map[time.Time]map[string]int64{}, cells: sums.Versions{},
		versions: map[string]*versionSum{}}
	want := store.Wanted{Level: rollup.Wide}
	if err := l.eachStep(ctx, q, want, q.Step, all, &out.Stats); err != nil {
		return out, err
	}
	out.Step, out.Unknown, out.Families = q.Step.Seconds(), all.unknown, all.families(l.evidence(ctx, sel.Page))
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

// versionSums adds up page views by browser version.
type versionSums struct {
	facet    sums.Facet
	points   map[time.Time]map[string]int64 // page views by step and version
	versions map[string]*versionSum
	cells    sums.Versions
	unknown  int64
}

type versionSum struct {
	views int64
	time  float64 // ms
}

func (s *versionSums) add(at time.Time, x store.Rolled) error {
	for i := range x.Record.Distributions {
		d := &x.Record.Distributions[i]
		if !s.facet.TakesBase(d) || !s.facet.TakesPart(sums.PartOf(d)) {
			continue
		}
		name := sums.VersionOf(d.Labels)
		if name == "" {
			s.unknown += d.Time.Count
			continue
		}
		if s.points[at] == nil {
			s.points[at] = map[string]int64{}
		}
		if s.versions[name] == nil {
			s.versions[name] = &versionSum{}
		}
		s.points[at][name] += d.Time.Count
		s.versions[name].views += d.Time.Count
		s.versions[name].time += float64(d.Time.Sum) / 1e3
		s.cells.Add(x.Page, at, d.Labels, &d.Time)
	}
	return nil
}

// families returns the versions by family. prior is what other pages tell.
func (s *versionSums) families(prior browsers.Evidence) []BrowserFamily {
	names := slices.Sorted(maps.Keys(s.versions))
	effects := browsers.Estimate(names, s.cells.Cells(), prior)
	byName, out := map[string][]int{}, []BrowserFamily{}
	for i, name := range names {
		byName[browsers.FamilyOf(name)] = append(byName[browsers.FamilyOf(name)], i)
	}
	for _, family := range slices.Sorted(maps.Keys(byName)) {
		if f := s.family(family, byName[family], effects); f.Views > 0 {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b BrowserFamily) int { return cmp.Compare(b.Views, a.Views) })
	return out
}

func (s *versionSums) family(name string, versions []int, effects *browsers.Effects) BrowserFamily {
	out := BrowserFamily{Family: name}
	total := 0.0
	for _, i := range versions {
		x := s.versions[effects.Versions[i]]
		out.Views, total = out.Views+x.views, total+x.time
	}
	if out.Views == 0 {
		return out
	}
	out.Mean = total / float64(out.Views)
	other := map[string]bool{}
	for _, i := range versions {
		version := effects.Versions[i]
		if float64(s.versions[version].views) < leastVersionShare*float64(out.Views) {
			other[version] = true
			continue
		}
		x := s.version(version, versions, effects, map[string]bool{version: true})
		if x.Effect = s.effect(i, versions, effects); x.Effect != nil {
			x.EffectMS = &compare.Estimate{Value: x.Effect.Value * out.Mean, Low: new(*x.Effect.Low * out.Mean),
				High: new(*x.Effect.High * out.Mean)}
		}
		out.Versions = append(out.Versions, x)
	}
	slices.SortStableFunc(out.Versions, func(a, b BrowserVersion) int { return cmp.Compare(b.Views, a.Views) })
	if len(other) > 0 {
		out.Versions = append(out.Versions, s.version(fmt.Sprintf("%s %s", name, trie.FrameOther), versions, effects,
			other))
	}
	return out
}

// version returns the page views of some versions of a family, under one name.
func (s *versionSums) version(name string, family []int, effects *browsers.Effects, of map[string]bool) BrowserVersion {
	out := BrowserVersion{Browser: name, Points: []BrowserPoint{}}
	all := int64(0)
	for _, at := range slices.SortedFunc(maps.Keys(s.points), time.Time.Compare) {
		p := BrowserPoint{Time: at.UTC()}
		for _, i := range family {
			n := s.points[at][effects.Versions[i]]
			if p.family += n; of[effects.Versions[i]] {
				p.Views += n
			}
		}
		if p.family == 0 {
			continue
		}
		p.Share = float64(p.Views) / float64(p.family)
		out.Views, all = out.Views+p.Views, all+p.family
		out.Points = append(out.Points, p)
	}
	out.Share = float64(out.Views) / float64(all)
	if len(of) == 1 {
		out.HalfSince = halfSince(out.Points)
	}
	return out
}

// halfSince returns when a version reached half of its family. Few page views of a step do not tell
// a share.
func halfSince(points []BrowserPoint) *time.Time {
	points = slices.DeleteFunc(slices.Clone(points), func(p BrowserPoint) bool {
		return p.family < browsers.LeastViews
	})
	i := slices.IndexFunc(points, func(p BrowserPoint) bool { return p.Share >= 0.5 })
	if i < 1 {
		return nil
	}
	return &points[i].Time
}

// effect returns how a version differs from the others of its family, weighted by their page views.
// It returns nil for a version without contrasts.
func (s *versionSums) effect(version int, family []int, effects *browsers.Effects) *compare.Estimate {
	others := 0.0
	for _, i := range family {
		if i != version {
			others += float64(s.versions[effects.Versions[i]].views)
		}
	}
	if !effects.Contrasted[version] || others == 0 {
		return nil
	}
	share := make([]float64, len(effects.Versions))
	for _, i := range family {
		share[i] = -float64(s.versions[effects.Versions[i]].views) / others
	}
	share[version] = 1
	value, variance := effects.Combine(share)
	half := compare.StudentQuantile(0.05, effects.Freedom) * math.Sqrt(variance)
	if math.IsNaN(half) || math.IsInf(half, 0) {
		return nil
	}
	return &compare.Estimate{Value: value, Low: new(value - half), High: new(value + half)}
}
