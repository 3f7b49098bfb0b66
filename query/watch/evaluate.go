package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// Settings configures the detectors. Zero fields mean the defaults.
type Settings struct {
	Pages func(page string) bool // reports whether to test a page; nil: all pages
	Of    []Kind                 // empty: all kinds
	// Min is the least change of a page, a feature or a function, in ms per page view. The default
	// is 0.
	Min float64
	// MinShare is the least change of a page, a feature or a Web Vital, relative to its earlier
	// value. The default is 0.03.
	MinShare float64
	// MinFunction is the least change of a function's self time, relative to its earlier value. The
	// default is 0.04. The test applies to the lower bound of the change.
	MinFunction float64
	// MinOfPage is the least change of a function's self time, as a share of the page's JavaScript.
	// The default is 0.001.
	MinOfPage float64
	// MinViews is the number of page views that both releases need to be compared. The default is
	// 500.
	MinViews float64
	// FalseReports is the accepted number of false reports per page and day. The default is 0.001.
	FalseReports float64
	// Edited returns the functions that differ between two releases, as in the newer one, or nil if
	// they are unknown. Time that moved between edited functions is no change.
	Edited func(ctx context.Context, page, before, after string) ([]compare.Place, error)
}

// Memory is the state that Evaluate keeps between calls: a few hundred bytes per page.
type Memory struct {
	Pages map[string]PageMemory `json:"pages,omitempty"`
}

// PageMemory is the state of one page.
type PageMemory struct {
	Release string    `json:"release,omitempty"` // under test
	Looked  time.Time `json:"looked,omitzero"`   // time of the last test
	Day     time.Time `json:"day,omitzero"`      // last complete day that the time detector has tested
	// Browsers is evidence from the last days of how much browser versions differ.
	Browsers browsers.Evidence `json:"browsers,omitzero"`
}

// Browsers adds up the evidence about browser versions on the pages for which takes returns true.
func (m Memory) Browsers(takes func(page string) bool) (all browsers.Evidence) {
	for _, page := range slices.Sorted(maps.Keys(m.Pages)) {
		if takes(page) {
			all = all.Plus(m.Pages[page].Browsers)
		}
	}
	return all
}

// Evaluation is the result of Evaluate.
type Evaluation struct {
	// Found lists new changes, and known changes that had been [Back] and returned, by added time,
	// largest first. Changes that are [Moved] need no notification.
	Found []Change
	// Known lists the given changes in their order, updated: Checked, more pages and consequences,
	// and State, Resolved and Resolution of changes that ended. Handled is not changed.
	Known []Change
	// Memory is the state to pass to the next call.
	Memory Memory
	// Failed is the error of each page that was not tested. The next call tests it again.
	Failed map[string]error
}

// Evaluate tests all pages of o for changes up to now. The caller should call it after each hour,
// with the Memory of the last call and all changes that are open or ended within the last 42 days.
// Fewer calls delay findings but do not add any. Equal arguments give equal results, so several
// nodes may call Evaluate if only one of them stores the result.
//
// The release detector tests a page 15 hours after the begin of the newest release, and then at
// growing intervals for a week. The time detector tests it once per completed day. Pages are read
// one after the other. Evaluate returns an error if reading the traffic fails or ctx is done.
func Evaluate(ctx context.Context, o Observer, now time.Time, s Settings, m Memory,
	known []Change) (Evaluation, error) {
	traffic, err := o.Traffic(ctx, now.Add(-trafficDays*day), now)
	if err != nil {
		return Evaluation{}, fmt.Errorf("read the traffic: %w", err)
	}
	e := Evaluation{Known: copied(known), Memory: Memory{Pages: map[string]PageMemory{}}, Failed: map[string]error{}}
	var found []Finding
	for _, t := range traffic {
		if s.Pages != nil && !s.Pages(t.Page) {
			continue
		}
		r := &reader{o: o, s: s.withDefaults(), now: now, page: t.Page, traffic: tableOf(t)}
		r.traffic.least = r.s.MinViews
		memory := m.Pages[t.Page]
		of, err := r.look(ctx, &memory, e.Known)
		if ctx.Err() != nil {
			return Evaluation{}, ctx.Err()
		}
		if err != nil {
			e.Failed[t.Page], memory = err, m.Pages[t.Page]
		}
		e.Memory.Pages[t.Page] = memory
		found = append(found, of...)
	}
	for i := range e.Known {
		if c := &e.Known[i]; c.State != Resolved && now.Sub(c.Found) >= newNormal {
			c.State, c.Resolved, c.Resolution = Resolved, now, NewNormal
		}
	}
	e.Found = Group(found, e.Known, now)
	return e, nil
}

// trafficDays is the number of days of traffic that Evaluate reads: the days of all tests of a
// release, and one day before it began.
const trafficDays = 8

// look tests one page with both detectors.
func (r *reader) look(ctx context.Context, m *PageMemory, known []Change) ([]Finding, error) {
	for i := range known {
		if known[i].Pages[0].Page == r.page {
			if err := r.check(ctx, &known[i]); err != nil {
				return nil, fmt.Errorf("check change %s: %w", known[i].ID, err)
			}
		}
	}
	byTime, err := r.byTime(ctx, m, known)
	if err != nil {
		return nil, fmt.Errorf("look at the days: %w", err)
	}
	byRelease, err := r.release(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("compare releases: %w", err)
	}
	return append(byRelease, byTime...), nil
}

func (s Settings) withDefaults() Settings {
	for _, x := range []struct {
		to    *float64
		value float64
	}{{&s.MinShare, 0.03}, {&s.MinFunction, 0.04}, {&s.MinOfPage, 0.001}, {&s.MinViews, 500},
		{&s.FalseReports, 0.001}} {
		if *x.to <= 0 {
			*x.to = x.value
		}
	}
	return s
}

// copied returns a copy of the changes whose lists the caller may extend.
func copied(known []Change) []Change {
	out := slices.Clone(known)
	for i := range out {
		out[i].Pages, out[i].Consequences = slices.Clone(out[i].Pages), slices.Clone(out[i].Consequences)
	}
	return out
}
