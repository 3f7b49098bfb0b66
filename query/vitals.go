package query

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Vitals has the Web Vitals that page views reported, by page, see https://web.dev/articles/vitals.
// Page views without a profile are included.
type Vitals struct {
	Pages []vital.Page `json:"pages"` // most page views first
	Stats Stats        `json:"stats"`
}

// Vitals implements [Source].
func (l Local) Vitals(ctx context.Context, sel selection.Selection) (Vitals, error) {
	return l.vitals(ctx, sel, sel.Page != "")
}

// vitals returns Web Vitals, with elements if set. Only wide rollups have elements.
func (l Local) vitals(ctx context.Context, sel selection.Selection, elements bool) (Vitals, error) {
	if err := checkVitals(sel); err != nil {
		return Vitals{}, err
	}
	groups := map[string]*vitalGroup{}
	want := sel.Wanted()
	if elements || slices.ContainsFunc(sel.LabelKeys(), rollup.OfVitals) {
		want = store.Wanted{Level: rollup.Wide}
	}
	stats, err := l.eachVital(ctx, sel, want, func(page string, v *rollup.Vital) {
		groupOf(groups, sel, page, v).sums.Add(v)
	})
	if err != nil {
		return Vitals{}, err
	}
	out := Vitals{Pages: []vital.Page{}, Stats: stats}
	for _, g := range groups {
		if vitals := g.sums.Report(elements); len(vitals) > 0 {
			out.Pages = append(out.Pages, vital.Page{Page: g.page, Labels: g.labels, Vitals: vitals})
		}
	}
	slices.SortFunc(out.Pages, func(a, b vital.Page) int {
		return cmp.Or(cmp.Compare(most(b), most(a)), cmp.Compare(a.Page, b.Page), slices.Compare(values(a.Labels),
			values(b.Labels)))
	})
	return out, nil
}

// eachVital calls take for the selected Web Vitals of records.
func (l Local) eachVital(ctx context.Context, sel selection.Selection, want store.Wanted, take func(page string,
	v *rollup.Vital)) (Stats, error) {
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

// most returns the largest number of page views that reported one Web Vital of p.
func most(p vital.Page) (views int64) {
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

// checkVitals returns an error for labels without Web Vitals.
func checkVitals(sel selection.Selection) error {
	if err := selection.CheckTimes(sel.Since, sel.Until); err != nil {
		return err
	}
	if sel.Parts.Given() {
		return selection.Refuse(
			"web vitals belong to page views, not to parts of the code: leave out by and only")
	}
	keys := slices.Clone(sel.GroupBy)
	if sel.Feature != "" {
		keys = append(keys, rollup.KeyFeature)
	}
	for _, m := range sel.Where {
		keys = append(keys, m.Key)
		if m.Key == rollup.KeyNavigation && m.Value != rollup.NavigationSoft {
			return selection.Refuse(
				"web vitals are stored by page, release, environment, device, browser, connection, arm and element, " +
					"and for navigations by navigation=soft and navigation!=soft only")
		}
	}
	for _, key := range keys {
		if key != selection.KeyPage && !rollup.OfVitals(key) && (!rollup.Wide.Has(key) || key == rollup.KeyFeature ||
			key == rollup.KeyPhase || key == rollup.KeyVisibility) {
			return selection.Refuse(
				"web vitals are stored by page, release, environment, device, browser, connection, arm and element, "+
					"and for navigation=soft, not by %s", key)
		}
	}
	return nil
}

// takesVital reports whether the labels of v match the selection.
func takesVital(s selection.Selection, v *rollup.Vital) bool {
	return !slices.ContainsFunc(s.Where, func(m selection.Matcher) bool {
		return m.Key != selection.KeyPage && !m.Takes(v.Labels.Value(m.Key))
	})
}

// vitalGroup has the Web Vitals of a group.
type vitalGroup struct {
	page   string
	labels map[string]string
	sums   vital.Sums
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
	if groups[key] == nil {
		groups[key] = &vitalGroup{page: page, labels: labels}
	}
	return groups[key]
}
