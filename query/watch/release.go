package watch

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// releaseLevel is the probability that the looks at a release find a change where there is none, for each false report that is
// accepted in a day of a page. It is not 1, since a release is looked at for days, and hardly anything of what chance found is
// still there in what comes later, see holds.
const releaseLevel = 10

const (
	waitLeast   = 6 * hour  // how long a change waits until it is tested with what came since: a spike has many views, too
	waitMost    = 12 * hour // if there are few
	waitEnd     = 72 * hour // after which it is forgotten
	waitViews   = 200       // of the release since then, before waitMost; and a third of those that it was found in
	waitFewest  = 100       // and after it
	mostWaiting = 32
	stillThere  = 0.5 // of the change that must be left
)

// reader reads what is needed of one page.
type reader struct {
	o       Observer
	s       Settings
	now     time.Time
	page    string
	traffic table
	days    []series // of the page; nil: not read
}

// release looks at the newest release of the page if it is time to. It returns the changes that an earlier look found and that are
// still there.
func (r *reader) release(ctx context.Context, m *PageMemory) ([]Finding, error) {
	s, ok := r.traffic.newest(r.page, r.now)
	if !ok {
		return nil, nil
	}
	if m.Release != s.after || m.Looked.Before(s.began) {
		m.Release, m.Looked, m.Waiting = s.after, s.began, nil
	}
	found, err := r.confirm(ctx, s, m)
	due := s.due(m.Looked, r.now)
	if err != nil || due == 0 {
		return found, err
	}
	level := due * releaseLevel * r.s.FalseReports
	before, after, _ := s.spans(&r.traffic, s.began, r.now)
	c, err := r.o.Compare(ctx, r.page, before, after, compare.Options{FalseDiscovery: level})
	if err != nil {
		return nil, err
	}
	for _, f := range r.findings(&c, s, level) {
		k := f.What.key()
		if !slices.ContainsFunc(m.Waiting, func(w Waiting) bool { return w.What.key() == k }) && !slices.ContainsFunc(found, func(x Finding) bool { return x.What.key() == k }) {
			m.Waiting = append(m.Waiting, Waiting{What: f.What, Since: r.now, Change: f.decisive().Value, Views: c.Views.B, Level: level})
		}
	}
	slices.SortStableFunc(m.Waiting, func(a, b Waiting) int { return bySize(a.Change, b.Change) })
	m.Waiting = m.Waiting[:min(len(m.Waiting), mostWaiting)]
	m.Looked = r.now
	return found, nil
}

// confirm decides on the changes that have waited long enough.
func (r *reader) confirm(ctx context.Context, s shift, m *PageMemory) (found []Finding, err error) {
	since := map[time.Time][]Waiting{}
	var order []time.Time
	m.Waiting = slices.DeleteFunc(m.Waiting, func(w Waiting) bool {
		views := r.traffic.views(s.after, w.Since, r.now)
		waited := r.now.Sub(w.Since)
		switch {
		case waited >= waitLeast && views >= max(waitViews, w.Views/3), waited >= waitMost && views >= waitFewest:
			if since[w.Since] == nil {
				order = append(order, w.Since)
			}
			since[w.Since] = append(since[w.Since], w)
			return true
		}
		return waited >= waitEnd
	})
	slices.SortFunc(order, time.Time.Compare)
	for _, from := range order {
		still, err := r.still(ctx, s, since[from])
		if err != nil {
			return nil, err
		}
		found = append(found, still...)
	}
	return found, nil
}

// still returns those of the waiting changes, all found by one look, that are there in all page views until now; in those that came
// after that look alone; if the releases did not run at once, also beside an earlier time of the release before; and that are
// larger than what days of this page differ by.
func (r *reader) still(ctx context.Context, s shift, waiting []Waiting) ([]Finding, error) {
	level := waiting[0].Level
	before, after, atOnce := s.spans(&r.traffic, s.began, r.now)
	all, err := r.o.Compare(ctx, r.page, before, after, compare.Options{FalseDiscovery: level})
	if err != nil {
		return nil, err
	}
	found := r.findings(&all, s, level)
	found = slices.DeleteFunc(found, func(f Finding) bool {
		k := f.What.key()
		return !slices.ContainsFunc(waiting, func(w Waiting) bool { return w.What.key() == k })
	})
	if len(found) == 0 {
		return nil, nil
	}
	spans := [][2]Span{{}}
	spans[0][0], spans[0][1], _ = s.spans(&r.traffic, waiting[0].Since, r.now)
	if !atOnce {
		length := s.began.Sub(before.Since).Truncate(day) + day
		earlier := Span{s.before, before.Since.Add(-length), before.Until.Add(-length)}
		if !s.old.After(earlier.Since) && r.traffic.views(s.before, earlier.Since, earlier.Until) >= releaseViews {
			spans = append(spans, [2]Span{earlier, after})
		}
	}
	for _, x := range spans {
		c, err := r.o.Compare(ctx, r.page, x[0], x[1], compare.Options{})
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(f Finding) bool { return !holds(&f, &c) })
	}
	if len(found) > 0 && !atOnce {
		if found, err = r.exceed(ctx, s, found); err != nil {
			return nil, err
		}
	}
	return found, r.explainMoved(ctx, s, &all, found)
}

// holds reports whether most of a change is there in another comparison.
func holds(f *Finding, c *query.Comparison) bool {
	e, ok := estimateIn(f.What, c)
	return ok && e.Value/f.decisive().Value >= stillThere
}

// estimateIn returns the change of a series in a comparison.
func estimateIn(w What, c *query.Comparison) (compare.Estimate, bool) {
	switch w.Kind {
	case OfPage:
		return c.Total.Shown(), true
	case OfFeature:
		for i := range c.Features {
			if c.Features[i].Name == w.Feature {
				return c.Features[i].Shown(), true
			}
		}
	case OfVital:
		for _, v := range c.Vitals {
			if v.Name == w.Metric {
				return vitalEstimate(&v, 0.05), v.Difference.High != 0 || v.Difference.Low != 0
			}
		}
	case OfFunction:
		if i := indexOf(c.Functions, w.Function); i >= 0 {
			return decisiveOf(&c.Functions[i]), true
		}
	}
	return compare.Estimate{}, false
}

// indexOf returns the number of a function: the one at its place, or else the first one with its name and file; -1 if there is none.
func indexOf(functions []compare.FunctionChange, place *compare.Place) int {
	if i := slices.IndexFunc(functions, func(f compare.FunctionChange) bool { return f.Place == *place }); i >= 0 {
		return i
	}
	of := functionOf(place)
	return slices.IndexFunc(functions, func(f compare.FunctionChange) bool { return f.Name == of.name && functionOf(&f.Place) == of })
}
