package watch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

const (
	// explained is the part of a change that other changes must explain to make it their
	// consequence.
	explained = 0.8
	// besides is the part of a function's change, relative to the rest of the page view, that
	// changes of this rest must explain to be its cause.
	besides = 0.5
	// mostPages and mostConsequences limit the lists of a change.
	mostPages, mostConsequences = 500, 50
)

// Group returns the new changes at time now: one for all findings with one cause, without changes
// that are only consequences of others. Findings that belong to a known change are added to that
// change.
//
//   - A function found on several pages is one change. Its callers are no changes, because the
//     tests use self time.
//   - A function that only changed relative to other functions, whose time did change, is no
//     change.
//   - The page as a whole, its features and its Web Vitals are consequences of the functions that
//     changed, if the functions explain most of their change, or if the unexplained part is not
//     significant.
//   - Functions between which time moved are one change, Moved.
func Group(findings []Finding, known []Change, now time.Time) []Change {
	g := &grouping{known: known, now: now}
	for _, kind := range []Kind{OfFunction, OfPage, OfFeature, OfVital} {
		var of []Finding
		for _, f := range findings {
			if f.What.Kind == kind {
				of = append(of, f)
			}
		}
		slices.SortStableFunc(of, func(a, b Finding) int {
			return cmp.Or(bySize(a.decisive().Value, b.decisive().Value), cmp.Compare(a.Page, b.Page))
		})
		for i := range of {
			g.add(&of[i])
		}
	}
	for i := range g.found {
		sortPages(g.found[i].Pages)
		g.found[i].identify()
	}
	slices.SortStableFunc(g.found, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.added(), a.added()), cmp.Compare(a.ID, b.ID))
	})
	return g.found
}

type grouping struct {
	found, known []Change
	now          time.Time
}

// added returns the time that a change adds on all pages.
func (c *Change) added() (sum float64) {
	for i := range c.Pages {
		sum += c.Pages[i].added()
	}
	return sum
}

// add turns a finding into a change, or adds it to one.
func (g *grouping) add(f *Finding) {
	if f.What.Kind == OfFunction && g.beside(f) {
		return
	}
	c := f.change(g.now)
	for _, all := range [][]Change{g.found, g.known} {
		for i := range all {
			if all[i].takes(&c) || all[i].follows(f) {
				return
			}
		}
	}
	if f.What.Kind != OfFunction && g.follows(f) {
		return
	}
	g.found = append(g.found, c)
}

// change returns the change of a single finding.
func (f *Finding) change(now time.Time) Change {
	c := Change{State: Open, Direction: directionOf(f.decisive().Value), What: f.What, Detector: f.Detector,
		Release:        f.Release,
		CompareRelease: f.CompareRelease, Begin: f.Begin, Found: now, Checked: now, Pages: []PageChange{f.PageChange},
		Causes: f.Causes}
	if f.Moved {
		c.Direction, c.Moved = Moved, f.With
	}
	return c
}

// takes merges other into c and returns true, if both are the same change.
func (c *Change) takes(other *Change) bool {
	if !c.same(other) || c.State == Resolved && c.Resolution == Back {
		return false
	}
	if c.State == Resolved {
		return true
	}
	p := other.Pages[0]
	i := slices.IndexFunc(c.Pages, func(x PageChange) bool { return x.Page == p.Page })
	switch {
	case i < 0 && len(c.Pages) < mostPages:
		c.Pages = append(c.Pages, p)
	case i >= 0 && math.Abs(p.decisive().Value) > math.Abs(c.Pages[i].decisive().Value):
		c.Pages[i] = p
	}
	return true
}

// at reports whether c has the page and the time of the finding f.
func (c *Change) at(f *Finding) bool {
	if !c.on(f.Page) || c.State == Resolved {
		return false
	}
	if c.Release != "" && f.Release != "" {
		return c.Release == f.Release
	}
	return f.Begin.Sub(c.Begin).Abs() <= near
}

// follows adds f to c and returns true, if f belongs to c whatever its size. Such findings are a
// function that exchanged time with the function of c, a function that explains a known change of a
// whole page, and a Web Vital or a feature of a page that changed as a whole.
func (c *Change) follows(f *Finding) bool {
	if !c.at(f) {
		return false
	}
	k := f.What.key()
	switch {
	case f.What.Kind == OfFunction && c.Direction == Moved:
		return c.What.key() == k || slices.ContainsFunc(c.Moved, func(x Consequence) bool {
			return x.Page == f.Page && x.What.key() == k
		})
	case f.Moved || c.Direction == Moved || directionOf(f.decisive().Value) != c.Direction:
		return false
	case f.What.Kind == OfFunction && c.What.Kind == OfPage:
		p := c.page(f.Page)
		if !explains(f.decisive().Value, 0, p.Change, p.Level) {
			return false
		}
	case f.What.Kind == OfVital && c.What.Kind != OfVital && c.What.Kind != OfFeature, f.What.Kind == OfFeature &&
		c.What.Kind == OfPage:
	default:
		return false
	}
	c.consequence(f)
	return true
}

func (c *Change) page(name string) *PageChange {
	return &c.Pages[slices.IndexFunc(c.Pages, func(p PageChange) bool { return p.Page == name })]
}

func (c *Change) consequence(f *Finding) {
	k := f.What.key()
	if len(c.Consequences) < mostConsequences && !slices.ContainsFunc(c.Consequences, func(x Consequence) bool {
		return x.Page == f.Page && x.What.key() == k
	}) {
		c.Consequences = append(c.Consequences, Consequence{Page: f.Page, What: f.What, Change: f.decisive()})
	}
}

// explains reports whether the sum of other changes, with its variance, explains most of a change,
// or leaves no significant rest.
func explains(others, variance float64, change compare.Estimate, level float64) bool {
	if others/change.Value >= explained {
		return true
	}
	rest := math.Abs(change.Value - others)
	return others/change.Value > 0 && rest <= normal95*math.Sqrt(square(errorOf(change, level))+variance)
}

// functions returns the sum of all known changes of functions that happened together with a
// finding, its variance, and the largest change in the direction of the finding.
func (g *grouping) functions(f *Finding) (sum, variance float64, most *Change) {
	k := f.What.key()
	largest := 0.0
	for _, all := range [][]Change{g.found, g.known} {
		for i := range all {
			c := &all[i]
			if c.What.Kind != OfFunction || c.Direction == Moved || !c.at(f) || c.What.key() == k {
				continue
			}
			p := c.page(f.Page)
			sum += p.decisive().Value
			variance += square(errorOf(p.decisive(), p.Level))
			if size := p.decisive().Value; directionOf(size) == directionOf(f.decisive().Value) &&
				math.Abs(size) > largest {
				largest, most = math.Abs(size), c
			}
		}
	}
	return sum, variance, most
}

// follows adds the change of a page or a feature to the change of a function, if changes of
// functions explain it.
func (g *grouping) follows(f *Finding) bool {
	sum, variance, most := g.functions(f)
	if most == nil || !explains(sum, variance, f.Change, f.Level) {
		return false
	}
	most.consequence(f)
	return true
}

// beside reports whether a function changed only relative to the rest of the page view, because
// other functions in this rest changed.
func (g *grouping) beside(f *Finding) bool {
	if f.Beside == nil || f.Script <= 0 || f.Value.A <= 0 {
		return false
	}
	sum, _, _ := g.functions(f)
	predicted := -sum / f.Script * f.Value.A
	return predicted/f.Beside.Value >= besides
}
