package watch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// ofStep is the part of a step that browser versions must explain to be named as its cause. It
// applies to the lower end of the interval, because detection overestimates the size of steps.
const ofStep = 0.5

// versionDays holds the page views of a page by day and browser version.
type versionDays struct {
	days    []time.Time
	views   []map[string]float64 // by day and version
	effects *browsers.Effects
}

// versionsOf returns the browser versions of the given days of a page.
func versionsOf(days []Day) versionDays {
	var v versionDays
	var cells []browsers.Cell
	names := map[string]bool{}
	for _, d := range days {
		views := map[string]float64{}
		for _, c := range d.Versions {
			for name, x := range c.Versions {
				views[name] += x.Views
				names[name] = true
			}
		}
		v.days, v.views, cells = append(v.days, d.Day), append(v.views, views), append(cells, d.Versions...)
	}
	v.effects = browsers.Estimate(slices.Sorted(maps.Keys(names)), cells, browsers.Evidence{})
	return v
}

// between adds up the page views in [since, until), by version and by family.
func (v *versionDays) between(since, until time.Time) (versions, families map[string]float64, all float64) {
	versions, families = map[string]float64{}, map[string]float64{}
	for i, day := range v.days {
		if day.Before(since) || !day.Before(until) {
			continue
		}
		for name, n := range v.views[i] {
			versions[name] += n
			families[browsers.FamilyOf(name)] += n
			all += n
		}
	}
	return versions, families, all
}

// cause returns the browser version that explains a step of the page by the relative size. The step
// may be as small as least. Versions are compared within a day, device and release, so a release
// cannot be mistaken for a version.
func (v *versionDays) cause(at time.Time, size, least float64) (Cause, bool) {
	before, familiesBefore, _ := v.between(at.Add(-mostAfter*day), at)
	after, familiesAfter, all := v.between(at, at.Add(seriesDays*day))
	names := v.effects.Versions
	differs, shares := make([]float64, len(names)), make([]compare.Pair, len(names))
	newest, most := -1, 0.0
	for i, name := range names {
		f := browsers.FamilyOf(name)
		if familiesBefore[f] == 0 || familiesAfter[f] == 0 {
			continue
		}
		shares[i] = compare.Pair{A: before[name] / familiesBefore[f], B: after[name] / familiesAfter[f]}
		differs[i] = (shares[i].B - shares[i].A) * familiesAfter[f] / all
		if part := differs[i] * v.effects.Effect[i] * math.Copysign(1, size); differs[i] > 0 && part > most {
			newest, most = i, part
		}
	}
	value, variance := v.effects.Combine(differs)
	if newest < 0 || value/least < ofStep || math.Abs(value) < normal95*math.Sqrt(variance) {
		return Cause{}, false
	}
	text := fmt.Sprintf("%s has %.0f %% of the page views of its family, and had %.0f %% before: page views of the "+
		"same day, device and release tell that browser versions explain %.0f %% of the change",
		names[newest], 100*shares[newest].B, 100*shares[newest].A, 100*min(value/size, 1))
	return Cause{Kind: CauseBrowser, Text: text, Label: &Label{Key: "browser", Value: names[newest]}}, true
}
