package query

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Vitals says how page views were for visitors, page by page: the Web Vitals that they reported, see
// https://web.dev/articles/vitals. Those of views that are not profiled are among them.
type Vitals struct {
	Pages []PageVitals `json:"pages"` // those of the most page views first
	Stats Stats        `json:"stats"`
}

// PageVitals are the Web Vitals of a page, or of a group of its page views.
type PageVitals struct {
	Page   string            `json:"page"`
	Labels map[string]string `json:"labels,omitempty"` // those of the group, if groups were asked for
	Vitals []VitalReport     `json:"vitals"`           // in the order of rollup.VitalKinds; those that nobody reported are not there
}

// VitalReport is a Web Vital over page views. Values are in the unit; intervals are those of 95 %.
type VitalReport struct {
	Name string `json:"name"` // lcp, inp, cls, fcp or ttfb
	Unit string `json:"unit"` // ms, or score
	// Views are the page views that reported it, and PageViews those that these stand for.
	Views     int64    `json:"views"`
	PageViews int64    `json:"page_views"`
	P50       Estimate `json:"p50"`
	P75       Estimate `json:"p75"`
	P95       Estimate `json:"p95"`
	Good      float64  `json:"good"` // share of the page views, from 0 to 1
	Poor      float64  `json:"poor"`
	Rating    string   `json:"rating"` // of P75: good, needs improvement or poor
}

// Of returns a Web Vital by its name, nil if nobody reported it.
func (p *PageVitals) Of(name string) *VitalReport {
	if i := slices.IndexFunc(p.Vitals, func(v VitalReport) bool { return v.Name == name }); i >= 0 {
		return &p.Vitals[i]
	}
	return nil
}

// Vitals implements [Source].
func (l Local) Vitals(ctx context.Context, sel selection.Selection) (Vitals, error) {
	if err := checkVitals(sel); err != nil {
		return Vitals{}, err
	}
	groups := map[string]*vitalGroup{}
	want := sel.Wanted()
	if keys := sel.LabelKeys(); slices.Contains(keys, rollup.KeyNavigation) || slices.Contains(keys, rollup.KeyArm) { // sums have it of vitals
		want = store.Wanted{Level: rollup.Wide}
	}
	stats, err := l.eachVital(ctx, sel, want, func(page string, v *rollup.Vital) { groupOf(groups, sel, page, v).add(v) })
	if err != nil {
		return Vitals{}, err
	}
	out := Vitals{Pages: []PageVitals{}, Stats: stats}
	for _, g := range groups {
		out.Pages = append(out.Pages, g.report())
	}
	slices.SortFunc(out.Pages, func(a, b PageVitals) int {
		return cmp.Or(cmp.Compare(most(b), most(a)), cmp.Compare(a.Page, b.Page), slices.Compare(values(a.Labels), values(b.Labels)))
	})
	return out, nil
}

// eachVital calls take for the sums that sel asks for, at a level.
func (l Local) eachVital(ctx context.Context, sel selection.Selection, want store.Wanted, take func(page string, v *rollup.Vital)) (Stats, error) {
	want.Vitals = true
	return l.eachRecord(ctx, sel, want, func(x store.Rolled) error {
		for i := range x.Record.Vitals {
			if v := &x.Record.Vitals[i]; takesVital(sel, v) {
				take(x.Page, v)
			}
		}
		return nil
	})
}

// most returns how many page views reported the vital of p that the most reported.
func most(p PageVitals) (views int64) {
	for _, v := range p.Vitals {
		views = max(views, v.PageViews)
	}
	return views
}

func values(labels map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, labels[key])
	}
	return out
}

// checkVitals refuses what Web Vitals are not kept by.
func checkVitals(sel selection.Selection) error {
	if err := selection.CheckTimes(sel.Since, sel.Until); err != nil {
		return err
	}
	if sel.Parts.Given() {
		return selection.Refuse("web vitals are those of page views, and not of the code that runs in them: leave out the parts")
	}
	keys := slices.Clone(sel.GroupBy)
	if sel.Feature != "" {
		keys = append(keys, rollup.KeyFeature)
	}
	for _, m := range sel.Where {
		keys = append(keys, m.Key)
		if m.Key == rollup.KeyNavigation && m.Value != rollup.NavigationSoft {
			return selection.Refuse("web vitals are kept by page, release, environment, device, browser, connection and arm, and of navigations by navigation=soft and navigation!=soft alone")
		}
	}
	for _, key := range keys {
		if key != selection.KeyPage && key != rollup.KeyNavigation && key != rollup.KeyArm && (!rollup.Wide.Has(key) || key == rollup.KeyFeature || key == rollup.KeyPhase || key == rollup.KeyVisibility) {
			return selection.Refuse("web vitals are kept by page, release, environment, device, browser, connection and arm, and for navigation=soft, not by %s", key)
		}
	}
	return nil
}

// takesVital reports whether the labels of v are those that are asked for.
func takesVital(s selection.Selection, v *rollup.Vital) bool {
	return !slices.ContainsFunc(s.Where, func(m selection.Matcher) bool { return m.Key != selection.KeyPage && !m.Takes(v.Labels.Value(m.Key)) })
}

// vitalGroup sums up the Web Vitals of a group.
type vitalGroup struct {
	page   string
	labels map[string]string
	of     map[string]*rollup.Vital // by name
}

func groupOf(groups map[string]*vitalGroup, sel selection.Selection, page string, v *rollup.Vital) *vitalGroup {
	key := page
	labels := map[string]string{}
	for _, k := range sel.GroupBy {
		if k != selection.KeyPage {
			labels[k] = v.Labels.Value(k)
			key += "\x00" + labels[k]
		}
	}
	g := groups[key]
	if g == nil {
		g = &vitalGroup{page, labels, map[string]*rollup.Vital{}}
		groups[key] = g
	}
	return g
}

func (g *vitalGroup) add(v *rollup.Vital) {
	if g.of[v.Name] == nil {
		g.of[v.Name] = &rollup.Vital{Name: v.Name}
	}
	g.of[v.Name].AddAll(v)
}

func (g *vitalGroup) report() PageVitals {
	out := PageVitals{Page: g.page, Labels: g.labels, Vitals: []VitalReport{}}
	for _, kind := range rollup.VitalKinds() {
		if v := g.of[kind.Name]; v != nil && v.Weight > 0 {
			out.Vitals = append(out.Vitals, reportVital(kind, v))
		}
	}
	return out
}

func reportVital(kind rollup.VitalKind, v *rollup.Vital) VitalReport {
	unit, each := "ms", 1000.0
	if kind.Score {
		unit, each = "score", 1e6
	}
	quantile := func(q float64) Estimate {
		out := Estimate{Value: v.Histogram.Quantile(q) / each}
		if low, high, ok := v.Interval(q); ok {
			out.Low, out.High = low/each, high/each
		}
		return out
	}
	n := float64(v.Weight)
	return VitalReport{
		Name: v.Name, Unit: unit, Views: v.Views, PageViews: v.Weight,
		P50: quantile(0.5), P75: quantile(0.75), P95: quantile(0.95),
		Good: float64(v.Good) / n, Poor: float64(v.Poor) / n,
		Rating: kind.Rating(quantile(0.75).Value * each),
	}
}
