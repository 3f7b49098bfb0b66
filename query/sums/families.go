package sums

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

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

// VersionTimes adds up page views by browser version and time.
type VersionTimes struct {
	facet    Facet
	unknown  int64
	points   map[time.Time]map[string]int64 // page views by step and version
	versions map[string]*versionSum
	cells    Versions
}

// NewVersionTimes returns empty sums of what a facet selects.
func NewVersionTimes(f Facet) *VersionTimes {
	return &VersionTimes{facet: f, points: map[time.Time]map[string]int64{}, versions: map[string]*versionSum{},
		cells: Versions{}}
}

// Unknown returns the number of page views without a known version.
func (s *VersionTimes) Unknown() int64 { return s.unknown }

type versionSum struct {
	views int64
	time  float64 // ms
}

// Add adds a record of the step that begins at at.
func (s *VersionTimes) Add(at time.Time, x store.Rolled) error {
	for i := range x.Record.Distributions {
		d := &x.Record.Distributions[i]
		if !s.facet.TakesBase(d) || !s.facet.TakesPart(PartOf(d)) {
			continue
		}
		name := VersionOf(d.Labels)
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

// Families returns the versions by family, those with the most page views first. prior is the
// evidence from other pages.
func (s *VersionTimes) Families(prior browsers.Evidence) []BrowserFamily {
	names := slices.Sorted(maps.Keys(s.versions))
	steps := slices.SortedFunc(maps.Keys(s.points), time.Time.Compare)
	effects := browsers.Estimate(names, s.cells.Cells(), prior)
	byName, out := map[string][]int{}, []BrowserFamily{}
	for i, name := range names {
		byName[browsers.FamilyOf(name)] = append(byName[browsers.FamilyOf(name)], i)
	}
	for _, family := range slices.Sorted(maps.Keys(byName)) {
		if f := s.family(family, byName[family], steps, effects); f.Views > 0 {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b BrowserFamily) int { return cmp.Compare(b.Views, a.Views) })
	return out
}

func (s *VersionTimes) family(name string, versions []int, steps []time.Time,
	effects *browsers.Effects) BrowserFamily {
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
		x := s.version(version, versions, steps, effects, map[string]bool{version: true})
		if x.Effect = s.effect(i, versions, effects); x.Effect != nil {
			x.EffectMS = &compare.Estimate{Value: x.Effect.Value * out.Mean, Low: new(*x.Effect.Low * out.Mean),
				High: new(*x.Effect.High * out.Mean)}
		}
		out.Versions = append(out.Versions, x)
	}
	slices.SortStableFunc(out.Versions, func(a, b BrowserVersion) int { return cmp.Compare(b.Views, a.Views) })
	if len(other) > 0 {
		out.Versions = append(out.Versions, s.version(fmt.Sprintf("%s %s", name, trie.FrameOther), versions, steps,
			effects, other))
	}
	return out
}

// version returns the page views of some versions of a family, under one name.
func (s *VersionTimes) version(name string, family []int, steps []time.Time, effects *browsers.Effects,
	of map[string]bool) BrowserVersion {
	out := BrowserVersion{Browser: name, Points: []BrowserPoint{}}
	all := int64(0)
	for _, at := range steps {
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
func (s *VersionTimes) effect(version int, family []int, effects *browsers.Effects) *compare.Estimate {
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
