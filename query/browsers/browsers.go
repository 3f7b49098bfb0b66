// Package browsers estimates how much browser versions differ on a page.
//
// Browsers release a new version every few weeks, and a version may run the same code faster or
// slower. Two releases of a page, a fortnight apart, are seen by different versions, so a change of
// the browser looks like a change of the release.
//
// # Model
//
// A page view with version m of a browser family takes µ·(1 + δ_m), with µ the mean of the family
// in a [Cell] and δ_m the effect of the version. Effects are random with mean 0 and variance τ².
// Only contrasts count: differences between versions of one family within a cell, where the
// release, the device and the day are the same. P is the precision matrix of these contrasts, and r
// is P times the measured effects. So r has the mean 0 and the variance P + τ²·P².
//
// # Variance
//
// τ² is estimated by a method of moments, as by DerSimonian and Laird, "Meta-analysis in clinical
// trials", Controlled Clinical Trials 7 (1986). The moment is |M·r|² with M = (1 + τ0²·P)⁻¹, which
// weighs contrasts as the likelihood does at a typical variance τ0². It is linear in τ², so
// [Evidence] of several families and pages adds up. Typical evidence is added as well: with few
// page views the estimate is τ0, with many it is what the page views show. Four contrasts that are
// hardly larger than their noise do not tell 0.2 % from 2 %, so only the evidence of the site's
// other pages makes intervals both right and narrow.
//
// # Effects
//
// Effects are the best linear unbiased predictions (P + 1/τ²)⁻¹·r with the variance (P + 1/τ²)⁻¹.
// A version without contrasts has the effect 0 with the variance τ².
package browsers

import (
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	typical = 0.01 // τ0
	// typicalWeight is how many exactly known contrasts the typical variance counts for.
	typicalWeight = 0.5
	// typicalContrasts is how many contrasts the typical variance would be known from.
	typicalContrasts = 2
	least, most      = 0.002, 0.05 // bounds of τ
	// LeastViews is the minimum page views of a version in a cell for a contrast.
	LeastViews = 30
)

// Sum is the page views of a browser version in a cell.
type Sum struct {
	Views, Time, Squares float64 // Time in ms, Squares in ms²
}

// Plus returns the sum of both.
func (s Sum) Plus(o Sum) Sum { return Sum{s.Views + o.Views, s.Time + o.Time, s.Squares + o.Squares} }

// Cell is page views that differ in the browser alone: those on one device, of one side of a
// comparison and of one day.
type Cell struct {
	Kind     string         // of page views that vary alike, such as a device on a page
	Versions map[string]Sum // by browser with version, such as "Chrome 158"
}

// FamilyOf returns the family of a browser version, such as Chrome.
func FamilyOf(version string) string {
	family, _, _ := strings.Cut(version, " ")
	return family
}

// Evidence is what contrasts tell about τ². It adds up over independent pages.
type Evidence struct {
	// Score is Information times the estimate of τ².
	Score float64 `json:"score"`
	// Information is 1 for an exactly known contrast.
	Information float64 `json:"information"`
	// Squares is the sum of the squared information of each contrast.
	Squares float64 `json:"squares"`
}

// Plus returns the evidence of both.
func (e Evidence) Plus(o Evidence) Evidence {
	return Evidence{e.Score + o.Score, e.Information + o.Information, e.Squares + o.Squares}
}

// variance returns τ² and its degrees of freedom. The typical variance counts as
// additional evidence, with the weight of typicalWeight contrasts.
func (e Evidence) variance() (tau2, freedom float64) {
	e = e.Plus(Evidence{typical * typical * typicalWeight, typicalWeight,
		typicalWeight * typicalWeight / typicalContrasts})
	tau2 = min(max(e.Score/e.Information, least*least), most*most)
	return tau2, e.Information * e.Information / e.Squares
}

// Effects is the effects of browser versions, in the order of Versions.
type Effects struct {
	Versions   []string
	Effect     []float64 // relative: 0.01 is 1 % slower
	Covariance [][]float64
	Contrasted []bool  // whether the version was measured against another one
	Variance   float64 // τ²
	Freedom    float64 // degrees of freedom of Variance
	Evidence   Evidence
}

// Estimate returns the effects of versions by the contrasts in cells. prior is the evidence of
// other pages of the site.
func Estimate(versions []string, cells []Cell, prior Evidence) *Effects {
	e := &Effects{Versions: versions, Effect: make([]float64, len(versions)), Covariance: square(len(versions)),
		Contrasted: make([]bool, len(versions))}
	of := families(versions, cells)
	for _, f := range of {
		e.Evidence = e.Evidence.Plus(f.evidence())
	}
	e.Variance, e.Freedom = e.Evidence.Plus(prior).variance()
	for _, f := range of {
		covariance := f.shrunk(e.Variance)
		effect := multiply(covariance, f.score)
		for i, m := range f.versions {
			e.Effect[m], e.Contrasted[m] = e.Variance*effect[i], f.precision[i][i] > 0
			for k, n := range f.versions {
				e.Covariance[m][n] = e.Variance * covariance[i][k]
			}
		}
	}
	return e
}

// Combine returns the sum of the effects, each multiplied by its share, with its variance.
func (e *Effects) Combine(share []float64) (value, variance float64) {
	for i, x := range share {
		if x == 0 {
			continue
		}
		value += x * e.Effect[i]
		for k, y := range share {
			variance += x * y * e.Covariance[i][k]
		}
	}
	return value, max(variance, 0)
}

// Own returns the variance of the sum of effects that a part of the page has of its own, each
// multiplied by its share. Parts have no contrasts and may vary by more than their sum, the page: τ
// is at least typical.
func (e *Effects) Own(share []float64) (variance float64) {
	for _, x := range share {
		variance += x * x * max(e.Variance, typical*typical)
	}
	return variance
}

// family is the contrasts of the versions of a browser family.
type family struct {
	versions  []int // in Effects.Versions
	precision [][]float64
	score     []float64 // precision times the measured effects
}

// families returns the contrasts of each family.
func families(versions []string, cells []Cell) (out []*family) {
	byName, at := map[string]*family{}, map[string]int{}
	for i, v := range versions {
		f := byName[FamilyOf(v)]
		if f == nil {
			f = &family{}
			byName[FamilyOf(v)] = f
			out = append(out, f)
		}
		at[v] = len(f.versions)
		f.versions = append(f.versions, i)
	}
	for _, f := range out {
		f.precision, f.score = square(len(f.versions)), make([]float64, len(f.versions))
	}
	contrasts := contrastsOf(cells)
	spread := relativeVariances(contrasts)
	for i := range contrasts {
		if c := &contrasts[i]; byName[c.family] != nil && spread[c.kind] > 0 {
			byName[c.family].add(c, at, spread[c.kind])
		}
	}
	return out
}

// kind is page views that vary alike.
type kind struct{ of, family string }

// contrast is several versions of a family in a cell.
type contrast struct {
	kind
	names []string
	sums  []Sum
	mean  float64
}

func contrastsOf(cells []Cell) (out []contrast) {
	for _, cell := range cells {
		of := map[string]*contrast{}
		var order []string
		for _, name := range slices.Sorted(maps.Keys(cell.Versions)) {
			s := cell.Versions[name]
			if !(s.Views >= LeastViews && s.Time > 0 && s.Squares > 0 && !math.IsInf(s.Squares, 0)) {
				continue
			}
			f := FamilyOf(name)
			if of[f] == nil {
				of[f], order = &contrast{kind: kind{cell.Kind, f}}, append(order, f)
			}
			of[f].names, of[f].sums = append(of[f].names, name), append(of[f].sums, s)
		}
		for _, f := range order {
			c := of[f]
			if len(c.names) < 2 {
				continue
			}
			var all Sum
			for _, s := range c.sums {
				all = all.Plus(s)
			}
			c.mean = all.Time / all.Views
			out = append(out, *c)
		}
	}
	return out
}

// relativeVariances returns the variance of page views within versions, divided by the square of
// the mean. The few page views of a cell would not tell it: their mean and their variance go
// together.
func relativeVariances(contrasts []contrast) map[kind]float64 {
	squares, freedom := map[kind]float64{}, map[kind]float64{}
	for _, c := range contrasts {
		for _, s := range c.sums {
			squares[c.kind] += max(s.Squares-s.Time*s.Time/s.Views, 0) / (c.mean * c.mean)
			freedom[c.kind] += s.Views - 1
		}
	}
	for k := range squares {
		squares[k] /= freedom[k]
	}
	return squares
}

// add adds a contrast of page views with a relative variance.
func (f *family) add(c *contrast, at map[string]int, variance float64) {
	var all, mean float64
	weight, effect := make([]float64, len(c.sums)), make([]float64, len(c.sums))
	for i, s := range c.sums {
		weight[i], effect[i] = s.Views/variance, s.Time/s.Views/c.mean
		all, mean = all+weight[i], mean+weight[i]*effect[i]
	}
	for i, name := range c.names {
		to, ok := at[name]
		if !ok {
			continue
		}
		f.score[to] += weight[i] * (effect[i] - mean/all)
		for k, other := range c.names {
			if from, ok := at[other]; ok {
				f.precision[to][from] -= weight[i] * weight[k] / all
			}
		}
		f.precision[to][to] += weight[i]
	}
}

// shrunk returns (1 + tau2·precision)⁻¹.
func (f *family) shrunk(tau2 float64) [][]float64 {
	m := square(len(f.versions))
	for i := range m {
		for k := range m {
			m[i][k] = tau2 * f.precision[i][k]
		}
		m[i][i]++
	}
	return inverse(m)
}

// evidence returns what the contrasts tell about τ².
func (f *family) evidence() (e Evidence) {
	const unit = typical * typical * typical * typical
	m := f.shrunk(typical * typical)
	moment := multiply(m, f.score)
	mp := product(m, f.precision)
	noise, information := product(mp, m), product(mp, transposed(mp))
	for i := range moment {
		e.Score += unit * (moment[i]*moment[i] - noise[i][i])
		e.Information += unit * information[i][i]
		for k := range moment {
			e.Squares += unit * unit * information[i][k] * information[k][i]
		}
	}
	return e
}
