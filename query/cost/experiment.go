package cost

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Experiment holds page views by arm, in strata: both arms of a stratum have the same page, time,
// device, browser family and connection. So a share of profiled page views that differs between
// these, or changes over time, does not bias the result.
type Experiment struct {
	strata map[string]stratum // by the common labels of the page views
}

// stratum holds the sums of Web Vitals by arm and name.
type stratum map[string]map[string]*rollup.Vital

// stratumKeys returns the labels that all page views of a stratum share.
func stratumKeys() []string {
	return []string{rollup.KeyDevice, rollup.KeyBrowser, rollup.KeyConnection, rollup.KeyNavigation}
}

// Add adds page views of a page and a time, which may be any string. It ignores page views outside
// the experiment.
func (e *Experiment) Add(page, time string, v *rollup.Vital) {
	arm := v.Labels.Value(rollup.KeyArm)
	if !slices.Contains([]string{rollup.ArmProfiled, rollup.ArmHeader, rollup.ArmNone}, arm) {
		return
	}
	key := page + "\x00" + time
	for _, k := range stratumKeys() {
		value := v.Labels.Value(k)
		// arms are drawn, so versions cannot be confounded, and families match more page views
		if k == rollup.KeyBrowser {
			value = browsers.FamilyOf(value)
		}
		key += "\x00" + value
	}
	if e.strata == nil {
		e.strata = map[string]stratum{}
	}
	if e.strata[key] == nil {
		e.strata[key] = stratum{}
	}
	s := e.strata[key]
	if s[arm] == nil {
		s[arm] = map[string]*rollup.Vital{}
	}
	if s[arm][v.Name] == nil {
		s[arm][v.Name] = &rollup.Vital{Name: v.Name}
	}
	s[arm][v.Name].AddAll(v)
}

// Arm describes the page views of an arm.
type Arm struct {
	Name      string `json:"arm"`        // profiled, header or none
	Views     int64  `json:"views"`      // reporting page views, for the Web Vital with the most reports
	PageViews int64  `json:"page_views"` // page views that Views represents
}

// arms returns the arms with page views, the profiled one first.
func (e *Experiment) arms() []Arm {
	out := []Arm{}
	for _, name := range []string{rollup.ArmProfiled, rollup.ArmNone, rollup.ArmHeader} {
		sums := map[string]Arm{}
		for _, s := range e.strata {
			for vital, v := range s[name] {
				x := sums[vital]
				sums[vital] = Arm{name, x.Views + v.Views, x.PageViews + v.Weight}
			}
		}
		if len(sums) > 0 {
			out = append(out, slices.MaxFunc(slices.Collect(maps.Values(sums)), func(a, b Arm) int {
				return cmp.Or(cmp.Compare(a.Views, b.Views), cmp.Compare(a.PageViews, b.PageViews))
			}))
		}
	}
	return out
}

// matched returns the strata in which both arms reported a Web Vital, in a stable order, and their
// share of all page views that reported it.
func (e *Experiment) matched(vital, control string) (out []pair, share float64) {
	all, both := 0.0, 0.0
	for _, key := range slices.Sorted(maps.Keys(e.strata)) {
		s := e.strata[key]
		a, b := s[rollup.ArmProfiled][vital], s[control][vital]
		for _, v := range []*rollup.Vital{a, b} {
			if v != nil {
				all += float64(v.Views)
			}
		}
		if a == nil || b == nil {
			continue
		}
		if p := (pair{sideOf(a), sideOf(b), 0}); p.profiled.n >= leastInStratum && p.control.n >= leastInStratum {
			// This weight minimizes the variance of the difference if the difference is the same in
			// all strata.
			p.weight = p.profiled.n * p.control.n / (p.profiled.n + p.control.n)
			out = append(out, p)
			both += float64(a.Views + b.Views)
		}
	}
	if all > 0 {
		share = both / all
	}
	return out, share
}

// leastInStratum is the number of page views of an arm that are needed for a variance.
const leastInStratum = 2
