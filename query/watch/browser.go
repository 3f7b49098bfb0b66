package watch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
)

const (
	// rolloutTime is the most days in which a browser version goes from few to many of the page views of
	// its family: versions reach 20 % after three days and 80 % after nine.
	rolloutTime = 7 * day
	// few and many are shares of the page views of a family.
	few, many = 0.2, 0.8
	// ofStep is the least part of a step that the effect of a version must be able to be.
	ofStep = 0.5
)

// versionDays is the page views of a page by day and browser version.
type versionDays struct {
	days    []time.Time
	shares  map[string][]float64 // of the page views of the family, by day
	ofAll   map[string]float64   // share of the family of a version in all page views
	effects *browsers.Effects
}

// versionsOf returns the browser versions of days of a page.
func versionsOf(days []Day) versionDays {
	v := versionDays{shares: map[string][]float64{}, ofAll: map[string]float64{}}
	var cells []browsers.Cell
	views, families, all := make([]map[string]float64, len(days)), map[string]float64{}, 0.0
	for i, d := range days {
		v.days, cells = append(v.days, d.Day), append(cells, d.Versions...)
		views[i] = map[string]float64{}
		for _, c := range d.Versions {
			for name, x := range c.Versions {
				views[i][name] += x.Views
				families[browsers.FamilyOf(name)] += x.Views
				all += x.Views
				v.shares[name] = make([]float64, len(days))
			}
		}
	}
	for i := range days {
		ofFamily := map[string]float64{}
		for name, n := range views[i] {
			ofFamily[browsers.FamilyOf(name)] += n
		}
		for name, n := range views[i] {
			v.shares[name][i] = n / max(ofFamily[browsers.FamilyOf(name)], 1)
		}
	}
	for name := range v.shares {
		v.ofAll[name] = families[browsers.FamilyOf(name)] / max(all, 1)
	}
	v.effects = browsers.Estimate(slices.Sorted(maps.Keys(v.shares)), cells, browsers.Evidence{})
	return v
}

// rolledOut returns when a version went from few to many of the page views of its family. ok is false
// if it did not, or took too long.
func (v *versionDays) rolledOut(name string) (since, until time.Time, ok bool) {
	shares := v.shares[name]
	to := slices.IndexFunc(shares, func(share float64) bool { return share >= many })
	if to < 0 {
		return since, until, false
	}
	for from := to - 1; from >= 0; from-- {
		if shares[from] <= few {
			since, until = v.days[from], v.days[to]
			return since, until, until.Sub(since) <= rolloutTime
		}
	}
	return since, until, false
}

// mayBe reports whether the effect of a version may be a large part of a relative change of the page.
func (v *versionDays) mayBe(name string, size float64) bool {
	i := slices.Index(v.effects.Versions, name)
	effect := v.ofAll[name] * v.effects.Effect[i]
	half := normal95 * v.ofAll[name] * math.Sqrt(v.effects.Covariance[i][i])
	if size < 0 {
		effect = -effect
	}
	return effect+half >= ofStep*math.Abs(size)
}

// cause returns the browser version that was rolled out when a series of the page changed by a relative
// size, the one of the largest family first.
func (v *versionDays) cause(at time.Time, kind Kind, size float64) (Cause, bool) {
	var found string
	var since, until time.Time
	for _, name := range slices.Sorted(maps.Keys(v.shares)) {
		from, to, ok := v.rolledOut(name)
		if !ok || at.Before(from) || at.After(to) || kind == OfPage && !v.mayBe(name, size) {
			continue
		}
		if found == "" || v.ofAll[name] > v.ofAll[found] {
			found, since, until = name, from, to
		}
	}
	if found == "" {
		return Cause{}, false
	}
	const date = "2 January"
	text := fmt.Sprintf("%s went from %.0f %% to %.0f %% of its family's page views between %s and %s, and no release began then",
		found, 100*few, 100*many, since.Format(date), until.Format(date))
	return Cause{Kind: CauseBrowser, Text: text, Label: &Label{Key: "browser", Value: found}}, true
}

// began reports whether a release began within a day of a time, or may have begun before the traffic
// that is known.
func (t *table) began(at time.Time) bool {
	if len(t.hours) == 0 || t.hours[0].After(at.Add(-day)) {
		return true
	}
	for release := range t.of {
		if began, known, ok := t.begin(release); ok && known && !began.Before(at.Add(-day)) && began.Before(at.Add(2*day)) {
			return true
		}
	}
	return false
}
