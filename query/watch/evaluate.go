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

// Settings say what is looked for. Zero fields mean the defaults.
type Settings struct {
	Pages func(page string) bool // reports whether a page is looked at; nil: all are
	Of    []Kind                 // empty: all kinds
	// Min is the least change of a page, a feature or a function, in ms of a page view: 0.
	Min float64
	// MinShare is the least change of a page, a feature or a Web Vital, as a share of what was before: 0.03.
	MinShare float64
	// MinFunction is the least change of a function's self time, as a share of what was before: 0.04, since what is tested is the least that it may be.
	MinFunction float64
	// MinOfPage is the least change of a function's self time, as a share of the page's JavaScript: 0.001.
	MinOfPage float64
	// MinViews is how many page views both releases must have to be compared: 500.
	MinViews float64
	// FalseReports is how many reports without a change are accepted in a day of a page: 0.001.
	FalseReports float64
	// Edited returns the functions that differ between two releases, in the newer one; nil if nobody knows. Time that moved
	// between them did not change.
	Edited func(ctx context.Context, page, before, after string) ([]compare.Place, error)
}

// Memory is what Evaluate knows of pages from its calls before: a few hundred bytes for a page.
type Memory struct {
	Pages map[string]PageMemory `json:"pages,omitempty"`
}

// PageMemory is what is known of a page.
type PageMemory struct {
	Release string    `json:"release,omitempty"` // that is looked at
	Looked  time.Time `json:"looked,omitzero"`   // when it was
	Day     time.Time `json:"day,omitzero"`      // the last one whose end the time detector has looked at
	// Browsers is what the last days tell about how much browser versions differ.
	Browsers browsers.Evidence `json:"browsers,omitzero"`
}

// Browsers adds up what is known about browser versions on the pages that takes reports.
func (m Memory) Browsers(takes func(page string) bool) (all browsers.Evidence) {
	for _, page := range slices.Sorted(maps.Keys(m.Pages)) {
		if takes(page) {
			all = all.Plus(m.Pages[page].Browsers)
		}
	}
	return all
}

// Evaluation is what Evaluate found.
type Evaluation struct {
	// Found are changes that were not known, and known ones that are there again though they were [Back]: those with the
	// most added time first. Nobody has to be told of those that are [Moved].
	Found []Change
	// Known are the given changes, in their order, with what is known of them now: Checked, further pages and
	// consequences, and, of those that ended, State, Resolved and Resolution. What a person said is kept.
	Known []Change
	// Memory is for the next call.
	Memory Memory
	// Failed says why a page was not looked at. It will be looked at by the next call.
	Failed map[string]error
}

// Evaluate looks at all pages of o for changes, up to now. It is to be called after each hour, with all changes that are not
// resolved, or were within the last 42 days, and the Memory of the last call. It may be called less often: then changes are found
// later, and not more of them. Equal arguments give equal results, so several nodes may call it, if the result of one alone is kept.
//
// The release detector looks at a page 15 hours after the newest release began, and then less and less often for a week; the
// time detector once a day, when the day is over. Pages are read one by one. The error is that of reading the traffic, or that of ctx.
func Evaluate(ctx context.Context, o Observer, now time.Time, s Settings, m Memory, known []Change) (Evaluation, error) {
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

// trafficDays is how many days of traffic are read: those of all looks at a release, and one before it began.
const trafficDays = 8

// look looks at one page.
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
	}{{&s.MinShare, 0.03}, {&s.MinFunction, 0.04}, {&s.MinOfPage, 0.001}, {&s.MinViews, 500}, {&s.FalseReports, 0.001}} {
		if *x.to <= 0 {
			*x.to = x.value
		}
	}
	return s
}

// copied copies changes that lists will be added to.
func copied(known []Change) []Change {
	out := slices.Clone(known)
	for i := range out {
		out[i].Pages, out[i].Consequences = slices.Clone(out[i].Pages), slices.Clone(out[i].Consequences)
	}
	return out
}
