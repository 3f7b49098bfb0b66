package vital

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Sums adds up Web Vitals, their parts and elements. The zero value is ready to use.
type Sums struct {
	all       byName
	byElement map[string]byName
}

// byName holds sums by the names of rollup.VitalKinds and of their parts.
type byName map[string]*rollup.Vital

func (m byName) add(v *rollup.Vital) {
	if m[v.Name] == nil {
		m[v.Name] = &rollup.Vital{Name: v.Name}
	}
	m[v.Name].AddAll(v)
}

// Add adds page views with the same labels.
func (s *Sums) Add(v *rollup.Vital) {
	if s.all == nil {
		s.all, s.byElement = byName{}, map[string]byName{}
	}
	s.all.add(v)
	if element := v.Labels.Value(rollup.KeyElement); element != "" {
		if s.byElement[element] == nil {
			s.byElement[element] = byName{}
		}
		s.byElement[element].add(v)
	}
}

// Report returns the reported Web Vitals, in the order of rollup.VitalKinds, with elements or
// without.
func (s *Sums) Report(elements bool) []Report {
	out := []Report{}
	for _, kind := range rollup.VitalKinds() {
		v := s.all[kind.Name]
		if v == nil || v.Weight <= 0 {
			continue
		}
		x := reportOf(kind, v)
		x.Parts = s.all.parts(kind)
		if elements {
			x.Elements, x.MoreElements = s.elements(kind, v.Weight)
		}
		out = append(out, x)
	}
	return out
}

// elements returns the elements of a Web Vital. weight is its number of page views.
func (s *Sums) elements(kind rollup.VitalKind, weight int64) (out []Element, more int) {
	var all []string
	for element, of := range s.byElement {
		if v := of[kind.Name]; v != nil && v.Weight > 0 {
			all = append(all, element)
		}
	}
	views := func(element string) int64 { return s.byElement[element][kind.Name].Weight }
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(views(b), views(a)), cmp.Compare(a, b)) })
	n := min(len(all), MostElements)
	for _, element := range all[:n] {
		of := s.byElement[element]
		x := reportOf(kind, of[kind.Name])
		out = append(out, Element{element, x.Views, x.PageViews, float64(x.PageViews) / float64(weight), x.P75, x.Poor,
			x.Rating, of.parts(kind)})
	}
	return out, len(all) - n
}

func (m byName) parts(kind rollup.VitalKind) (out []Part) {
	for _, name := range kind.Parts {
		if v := m[kind.Part(name)]; v != nil && v.Weight > 0 {
			out = append(out, Part{name, v.Views, v.Weight, quantile(v, 0.5, msEach), quantile(v, 0.75, msEach),
				quantile(v, 0.95, msEach)})
		}
	}
	return out
}

// Units, in units of a rollup.VitalKind.
const (
	msEach    = 1000.0
	scoreEach = 1e6
)

func reportOf(kind rollup.VitalKind, v *rollup.Vital) Report {
	unit, each := "ms", msEach
	if kind.Score {
		unit, each = "score", scoreEach
	}
	n := float64(v.Weight)
	out := Report{
		Name: v.Name, Unit: unit, Views: v.Views, PageViews: v.Weight,
		P50: quantile(v, 0.5, each), P75: quantile(v, 0.75, each), P95: quantile(v, 0.95, each),
		Good: float64(v.Good) / n, Poor: float64(v.Poor) / n,
	}
	out.Rating = kind.Rating(out.P75.Value * each)
	return out
}

// quantile returns a quantile in a unit.
func quantile(v *rollup.Vital, q, each float64) sums.Estimate {
	out := sums.Estimate{Value: v.Histogram.Quantile(q) / each}
	if low, high, ok := v.Interval(q); ok {
		out.Low, out.High = low/each, high/each
	}
	return out
}
