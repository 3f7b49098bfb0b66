package move

import (
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// The newest hour of a directory may have more the next time that it is imported. Traces have ids, but page views without
// one and Web Vitals are counts. So what was imported of them is kept beside the hour, to add what came since.

// untraced makes of page views without a trace, and Web Vitals, what is added to a page: all of them, or what came
// since they were imported first.
func (w *importWriter) untraced(ctx context.Context, page string, rollups []store.Rolled) (*layout.Page, error) {
	all := w.r.Bucket.NewPage(page)
	for _, s := range rollups {
		all.AddRecord(s.Record, s.Stacks)
	}
	if w.a.mayGrow && !all.Empty() {
		w.a.untraced[page] = all
	}
	if !w.a.grown || all.Empty() {
		return all, nil
	}
	if w.a.before == nil {
		w.a.before = map[string]*layout.Page{}
		if w.a.old.Untraced != "" {
			if err := w.r.Bucket.AddRollups(ctx, w.a.old.UntracedKey(w.r.Number, w.a.hour), w.a.before); err != nil {
				return nil, fmt.Errorf("read what was imported first: %w", w.r.Missing(err))
			}
		}
	}
	before := w.a.before[page]
	if before == nil {
		return all, nil
	}
	return w.less(page, all, before)
}

// less returns the page views without a trace, and Web Vitals, that are in all and were not before.
func (w *importWriter) less(page string, all, before *layout.Page) (*layout.Page, error) {
	out := w.r.Bucket.NewPage(page)
	now, err := all.Record()
	if err != nil {
		return nil, err
	}
	old, err := before.Record()
	if err != nil {
		return nil, err
	}
	for _, o := range now.Outcomes {
		if i := slices.IndexFunc(old.Outcomes, func(x rollup.Outcome) bool { return x.Reason == o.Reason }); i >= 0 {
			o.Views -= old.Outcomes[i].Views
		}
		if o.Views > 0 {
			out.AddOutcome(o.Reason, o.Views)
		}
	}
	for i := range now.Vitals {
		v := &now.Vitals[i]
		same := func(x rollup.Vital) bool {
			return x.Name == v.Name && slices.EqualFunc(x.Labels, v.Labels, func(a, b trie.Label) bool { return a == b })
		}
		if i := slices.IndexFunc(old.Vitals, same); i >= 0 {
			v = vitalLess(v, &old.Vitals[i])
		}
		if v.Views > 0 {
			out.AddVital(v)
		}
	}
	return out, nil
}

// vitalLess returns v without what was before.
func vitalLess(v, before *rollup.Vital) *rollup.Vital {
	out := &rollup.Vital{Labels: v.Labels, Name: v.Name}
	out.AddAll(v)
	minus := rollup.Vital{Views: -before.Views, Weight: -before.Weight, WeightSquares: -before.WeightSquares, Good: -before.Good, Poor: -before.Poor}
	for bar := range before.Histogram.All() {
		minus.Histogram.Add(bar.Low, -bar.Count)
	}
	out.AddAll(&minus)
	return out
}
