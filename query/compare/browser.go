package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
)

// BrowserVersion is a version of a browser family, such as "Chrome 158".
type BrowserVersion struct {
	Browser string `json:"browser"`
	// ShareA and ShareB are the version's shares in the page views of its family.
	ShareA float64 `json:"share_a"`
	ShareB float64 `json:"share_b"`
	// Effect is the relative difference between the page's time in this version and in its family:
	// 0.01 is 1 % slower. Low and High are the 95 % interval.
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// leastShare is the least share, on one side, of a listed browser version.
const leastShare = 0.01

// versionMix is the difference in browser versions between B and A, and its effect.
type versionMix struct {
	effects  *browsers.Effects
	ofFamily []both      // by version: its share of the page views of its family
	differs  [][]float64 // by cell and version: share of B's page views in the cell, minus the share with A's versions
}

// versionMixOf returns the mix of versions, or nil if the versions of a side are unknown.
func (c *comparison) versionMixOf(in Input) *versionMix {
	all := [2]map[string]float64{versionViews(in.A.Versions), versionViews(in.B.Versions)}
	if len(all[0]) == 0 || len(all[1]) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, side := range all {
		for name := range side {
			names[name] = true
		}
	}
	versions := slices.Sorted(maps.Keys(names))
	v := &versionMix{effects: browsers.Estimate(versions, slices.Concat(in.A.Cells, in.B.Cells), in.Browsers)}
	cells := make([][2]map[string]float64, len(c.views))
	for s, cell := range c.cellOf {
		if cell >= 0 {
			cells[cell] = [2]map[string]float64{plusVersions(cells[cell][0], in.A.Versions, s),
				plusVersions(cells[cell][1], in.B.Versions, s)}
		}
	}
	a, b := familyShares(all[0]), familyShares(all[1])
	for _, name := range versions {
		v.ofFamily = append(v.ofFamily, both{a[name], b[name]})
	}
	for i, cell := range cells {
		v.differs = append(v.differs, differing(versions, cell[0], cell[1], c.views[i].b))
	}
	return v
}

// versionViews adds up the page views by version over strata.
func versionViews(versions []map[string]float64) (out map[string]float64) {
	for s := range versions {
		out = plusVersions(out, versions, s)
	}
	return out
}

// plusVersions adds the page views of a stratum by version.
func plusVersions(to map[string]float64, versions []map[string]float64, stratum int) map[string]float64 {
	if stratum >= len(versions) {
		return to
	}
	for name, n := range versions[stratum] {
		if n = positive(n); n > 0 {
			if to == nil {
				to = map[string]float64{}
			}
			to[name] += n
		}
	}
	return to
}

// familyShares returns the share of each version in the page views of its family.
func familyShares(views map[string]float64) map[string]float64 {
	all := familyViews(views)
	out := make(map[string]float64, len(views))
	for name, n := range views {
		out[name] = n / all[browsers.FamilyOf(name)]
	}
	return out
}

func familyViews(views map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for name, n := range views {
		out[browsers.FamilyOf(name)] += n
	}
	return out
}

// differing returns the differences between the shares of versions in a cell, given its number of
// page views in B. Differences between families belong to the mix effect, so only families on both
// sides contribute.
func differing(versions []string, a, b map[string]float64, views float64) []float64 {
	out := make([]float64, len(versions))
	shareA, shareB, inA, inB := familyShares(a), familyShares(b), familyViews(a), familyViews(b)
	for i, name := range versions {
		if f := browsers.FamilyOf(name); inA[f] > 0 && inB[f] > 0 {
			out[i] = (shareB[name] - shareA[name]) * min(inB[f]/views, 1)
		}
	}
	return out
}

// shares returns, by version, the additional time in ms of B compared with A's versions, given B's
// means and the weights of cells.
func (v *versionMix) shares(means, weight []float64) []float64 {
	out := make([]float64, len(v.ofFamily))
	for i, mean := range means {
		if mean == 0 || weight[i] == 0 {
			continue
		}
		for m, d := range v.differs[i] {
			out[m] += weight[i] * mean * d
		}
	}
	return out
}

// effect returns the relative effect of B's browser versions on the time in a cell.
func (v *versionMix) effect(cell int) (value float64) {
	if v == nil {
		return 0
	}
	for i, d := range v.differs[cell] {
		value += d * v.effects.Effect[i]
	}
	return value
}

// versions returns the versions of both sides, the largest difference first.
func (v *versionMix) versions() (out []BrowserVersion) {
	if v == nil {
		return nil
	}
	for i, name := range v.effects.Versions {
		x := BrowserVersion{Browser: name, ShareA: v.ofFamily[i].a, ShareB: v.ofFamily[i].b}
		half := studentQuantile(0.05, v.effects.Freedom) * math.Sqrt(v.effects.Covariance[i][i])
		x.Effect, x.Low, x.High = v.effects.Effect[i], v.effects.Effect[i]-half, v.effects.Effect[i]+half
		if max(x.ShareA, x.ShareB) >= leastShare {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y BrowserVersion) int {
		return cmp.Compare(math.Abs(y.ShareB-y.ShareA), math.Abs(x.ShareB-x.ShareA))
	})
	return out
}

// versionWarning returns a warning if browser versions may explain half of the width of the total's
// interval, or "".
func (r *Result) versionWarning() string {
	browser, total := r.Total.Browser, r.Total.Shown
	if browser == nil || browser.Low == nil || total.Low == nil {
		return ""
	}
	most := max(-*browser.Low, *browser.High)
	if most < (*total.High-*total.Low)/4 {
		return ""
	}
	return fmt.Sprintf("browser versions differ between A and B: they may explain up to ±%.3g ms; the change "+
		"excludes their known effects", most)
}

// withoutVersions subtracts the effect of B's browser versions from a change, whose amounts are in
// c.cells. part is set if the change affects a part of the page only.
func (c *comparison) withoutVersions(out *Change, e *estimate, part bool) {
	if c.mixOfVersions == nil {
		return
	}
	means := make([]float64, len(c.cells))
	for i, x := range c.cells {
		means[i] = ratio(x.b.Sum, c.views[i].b)
	}
	effects, shares := c.mixOfVersions.effects, c.mixOfVersions.shares(means, c.weight)
	value, variance := effects.Combine(shares)
	if part {
		variance += effects.Own(shares)
	}
	d := deviation{math.Sqrt(variance), effects.Freedom, true}
	out.Browser, out.browser = &Estimate{Value: finite(value)}, d
	e.difference -= value
	e.add(d)
}

// besides sets the deviation of a function relative to the rest of the page view. The rest contains
// the effect on the whole page, so only the function's own effect is left.
func (v *versionMix) besides(of *beside) {
	if v == nil {
		return
	}
	means, weight := make([]float64, len(v.differs)), make([]float64, len(v.differs))
	even := make([]float64, len(v.differs))
	for i, x := range of.cells {
		means[x.cell], weight[x.cell], even[x.cell] = x.meanB, x.weight, of.even[i]
	}
	for i, w := range [...][]float64{weight, even} {
		of.versions[i] = deviation{math.Sqrt(v.effects.Own(v.shares(means, w))), v.effects.Freedom, true}
	}
}

// add adds the variance of an independent estimate, with the degrees of freedom of Welch and
// Satterthwaite.
func (e *estimate) add(d deviation) {
	sum := deviation{e.err, e.freedom, true}.plus(d)
	e.err, e.freedom = sum.err, sum.freedom
}

// plus returns the deviation of the sum of two independent estimates.
func (d deviation) plus(o deviation) deviation {
	a, b := square(d.err), square(o.err)
	if b == 0 {
		return d
	}
	return deviation{math.Sqrt(a + b), square(a+b) / (square(a)/d.freedom + square(b)/o.freedom), d.known && o.known}
}
