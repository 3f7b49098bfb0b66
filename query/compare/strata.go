package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// both is a number for each side.
type both struct{ a, b float64 }

// comparison has the data for all estimates: the strata and their use.
type comparison struct {
	o         Options
	cellOf    []int     // by stratum: the cell that it is in, -1 if it is left out
	views     []both    // by cell
	weight    []float64 // by cell: its share of A's page views in cells
	viewsB    []float64 // by stratum
	covered   both      // page views in cells
	all       both
	uncovered float64
	pooled    []bool    // by cell: several strata
	few       []bool    // by stratum: left out because even its pool is too small
	cells     []amounts // scratch
	// mixOfVersions is nil if browser versions are unknown.
	mixOfVersions *versionMix
}

const (
	// ownViews is the number of page views that a stratum needs on each side to be compared on its
	// own. With fewer, the variance is not usable.
	ownViews = 30
	// similar is the maximum factor between the shares of a small stratum for it to be
	// pooled. More would bring the traffic mix back through the pool.
	similar = 3
)

// KeyPage is the label for the page of a stratum.
const KeyPage = "page"

// newComparison decides the use of each stratum. A stratum with enough views on both sides is a
// cell. A stratum that is small on both sides or has similar shares joins the other small strata of
// its page. The remaining strata of all pages are then pooled by the same rule. A stratum that is
// large on one side and almost missing on the other cannot be compared.
func newComparison(in Input, o Options) *comparison {
	n := max(len(in.Strata), len(in.A.Views), len(in.B.Views))
	c := &comparison{o: o, cellOf: make([]int, n), few: make([]bool, n)}
	c.all = both{sum(in.A.Views), sum(in.B.Views)}
	pages := map[string]*pool{} // all of a page
	for s := range n {
		page := ""
		if s < len(in.Strata) {
			page = in.Strata[s].Value(KeyPage)
		}
		if pages[page] == nil {
			pages[page] = new(pool)
		}
		v := both{at(in.A.Views, s), at(in.B.Views, s)}
		pages[page].add(pool{[]int{s}, v})
		c.viewsB = append(c.viewsB, v.b)
	}
	var rest pool
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		var small pool // of the page
		for _, s := range pages[page].strata {
			of := pool{[]int{s}, both{at(in.A.Views, s), c.viewsB[s]}}
			if !c.cell(of) && c.joins(of.views, pages[page].views) {
				small.add(of)
			}
		}
		if !c.cell(small) && c.joins(small.views, c.all) {
			rest.add(small)
		}
	}
	if !c.cell(rest) {
		for _, s := range rest.strata {
			c.few[s] = true
		}
	}
	for _, v := range c.views {
		c.covered = both{c.covered.a + v.a, c.covered.b + v.b}
	}
	for _, v := range c.views {
		c.weight = append(c.weight, v.a/c.covered.a)
	}
	c.cells = make([]amounts, len(c.views))
	c.mixOfVersions = c.versionMixOf(in)
	if c.all.a > 0 {
		c.uncovered = 1 - c.covered.a/c.all.a
	}
	return c
}

// enough reports whether both sides have the required number of page views.
func (c *comparison) enough() bool {
	return min(c.covered.a, c.covered.b) >= float64(c.o.MinViews)
}

// pool is a set of strata that are compared as one.
type pool struct {
	strata []int
	views  both
}

func (p *pool) add(o pool) {
	p.strata = append(p.strata, o.strata...)
	p.views = both{p.views.a + o.views.a, p.views.b + o.views.b}
}

// cell makes a pool a cell if it has enough page views on both sides. Otherwise its strata are left
// out until they join another pool.
func (c *comparison) cell(p pool) bool {
	least := c.least()
	to := -1
	if p.views.a >= least && p.views.b >= least {
		to = len(c.views)
		c.views, c.pooled = append(c.views, p.views), append(c.pooled, len(p.strata) > 1)
	}
	for _, s := range p.strata {
		c.cellOf[s] = to
	}
	return to >= 0
}

// least is the number of page views that a cell needs on each side.
func (c *comparison) least() float64 { return float64(min(ownViews, c.o.MinViews)) }

// joins reports whether a pool that is too small for a cell may join others; all is the result.
func (c *comparison) joins(v, all both) bool {
	shareA, shareB := ratio(v.a, all.a), ratio(v.b, all.b)
	return max(v.a, v.b) < c.least() || max(shareA, shareB) <= similar*min(shareA, shareB)
}

func (c *comparison) report(in Input) []Stratum {
	out := make([]Stratum, len(c.cellOf))
	for s, cell := range c.cellOf {
		v := Pair{at(in.A.Views, s), at(in.B.Views, s)}
		x := Stratum{
			Labels: map[string]string{}, Views: v, Use: StratumOwn,
			Share: Pair{ratio(v.A, c.all.a), ratio(v.B, c.all.b)},
			Mean:  Pair{ratio(amountAt(in.A.Time, s).Sum, v.A), ratio(amountAt(in.B.Time, s).Sum, v.B)},
		}
		if s < len(in.Strata) {
			x.Labels = labelMap(in.Strata[s])
		}
		switch {
		case c.few[s]:
			x.Use = StratumTooFew
		case cell < 0:
			x.Use = StratumLeftOut
		case c.pooled[cell]:
			x.Use = StratumPooled
		}
		if cell >= 0 {
			x.Browser = c.mixOfVersions.effect(cell)
		}
		out[s] = x
	}
	return out
}

func labelMap(labels trie.Labels) map[string]string {
	out := make(map[string]string, len(labels))
	for _, l := range labels {
		out[l.Key] = l.Value
	}
	return out
}

// positive returns v, or 0 if it is negative, not a number or too large to be squared.
func positive(v float64) float64 {
	if v > 0 && v < 1e100 {
		return v
	}
	return 0
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// ratio returns v/n, or 0 if n is not positive, v is negative or at least 1e100, or the
// quotient is not finite.
func ratio(v, n float64) float64 {
	if n <= 0 {
		return 0
	}
	return finite(positive(v) / n)
}

func at(v []float64, i int) float64 {
	if i < len(v) {
		return positive(v[i])
	}
	return 0
}

func amountAt(v []Amount, i int) Amount {
	if i < len(v) {
		return Amount{positive(v[i].Seen), positive(v[i].Sum), positive(v[i].Squares), positive(v[i].Product)}
	}
	return Amount{}
}

func sum(v []float64) (total float64) {
	for i := range v {
		total += at(v, i)
	}
	return total
}
