package pyroscope

import (
	"slices"
	"strings"
	"time"

	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
)

// profileType is a kind of weight of stacks.
type profileType struct {
	sample, unit string
	ofWeight     func(trie.Weight) int64
	ofPoint      func(query.Point) float64
}

// The common parts of the ids of profile types.
const (
	typeName   = "wall"
	periodType = "wall"
	periodUnit = "nanoseconds"
)

// perMicrosecond converts the sums of times to nanoseconds.
const perMicrosecond = 1000

// profileTypes returns all profile types, times first.
func profileTypes() []profileType {
	return []profileType{
		{"wall", "nanoseconds",
			func(w trie.Weight) int64 { return w.Self * perMicrosecond },
			func(p query.Point) float64 { return float64(p.Self) * perMicrosecond }},
		{"samples", "count",
			func(w trie.Weight) int64 { return w.Samples },
			func(p query.Point) float64 { return float64(p.Samples) }},
	}
}

func (t profileType) id() string {
	return strings.Join([]string{typeName, t.sample, t.unit, periodType, periodUnit}, ":")
}

func (t profileType) isTime() bool { return t.unit == "nanoseconds" }

// private returns the value of t for a label that begins with "__", one of Pyroscope's own.
func (t profileType) private(key string) string {
	switch key {
	case "__profile_type__":
		return t.id()
	case "__name__":
		return typeName
	case "__type__":
		return t.sample
	case "__unit__":
		return t.unit
	case "__period_type__":
		return periodType
	case "__period_unit__":
		return periodUnit
	}
	return ""
}

func isPrivate(key string) bool { return strings.HasPrefix(key, "__") }

// Labels that are not labels of a query.Selection, or have a special meaning in it.
const (
	labelService = "service_name"
	labelPage    = "page"
)

// labelQuery is the common part of most requests: a selection and its profile types.
type labelQuery struct {
	sel   selection.Selection
	types []profileType // the requested profile types
	empty bool          // the selection is empty
}

// ask parses a label selector and a time range.
func (a *backend) ask(text string, start, end int64) (labelQuery, error) {
	s, err := parseSelector(text)
	if err != nil {
		return labelQuery{}, &failed{invalidArgument, err}
	}
	q := labelQuery{sel: selection.Selection{Lag: a.opts.Lag}, types: profileTypes()}
	if q.sel.Since, q.sel.Until, err = a.times(start, end); err != nil {
		return labelQuery{}, err
	}
	if s.name != "" { // a profile type, or the name of all
		q.types = slices.DeleteFunc(q.types, func(t profileType) bool { return t.id() != s.name && typeName != s.name })
	}
	for _, m := range s.matchers {
		switch {
		case m.Key == labelService:
			q.empty = q.empty || !m.Takes(a.opts.Site)
		case isPrivate(m.Key):
			q.types = slices.DeleteFunc(q.types, func(t profileType) bool { return !m.Takes(t.private(m.Key)) })
		case m.Key == labelPage && m.Op == selection.Equal && m.Value != "" && q.sel.Page == "":
			if err := selection.CheckPage(m.Value); err != nil {
				return labelQuery{}, err
			}
			q.sel.Page = m.Value // faster than a matcher
		case m.Op == selection.Matches && m.Value == ".*": // dashboards send this for all pages
		default:
			q.sel.Where = append(q.sel.Where, m)
		}
	}
	q.empty = q.empty || len(q.types) == 0
	return q, nil
}

// askType is like ask, for a single profile type.
func (a *backend) askType(id, text string, start, end int64) (labelQuery, profileType, error) {
	all := profileTypes()
	i := slices.IndexFunc(all, func(t profileType) bool { return t.id() == id })
	if i < 0 {
		return labelQuery{}, profileType{}, failure(invalidArgument,
			"profile type %q is not known; known are %s and %s", id, all[0].id(), all[1].id())
	}
	q, err := a.ask(text, start, end)
	q.empty = q.empty || !slices.ContainsFunc(q.types, func(t profileType) bool { return t.id() == id })
	return q, all[i], err
}

// askAny parses label selectors, of which one must match; no selectors match everything.
func (a *backend) askAny(texts []string, start, end int64) (all []labelQuery, err error) {
	if len(texts) == 0 {
		texts = []string{"{}"}
	}
	if len(texts) > maxMatchers {
		return nil, failure(invalidArgument, "%d label selectors, the most is %d", len(texts), maxMatchers)
	}
	for _, text := range texts {
		q, err := a.ask(text, start, end)
		if err != nil {
			return nil, err
		}
		if !q.empty {
			all = append(all, q)
		}
	}
	return all, nil
}

const (
	// wholeHours is the length from which on a time range begins at a full hour, as in
	// [query.ParseSince]: rollups serve whole hours.
	wholeHours = 6 * time.Hour
	// fresh is how old an end can be and still mean now: a dashboard that queries up to now
	// wants all data.
	fresh = 2 * time.Minute
	// defaultRange is the length of the time range if no start is given.
	defaultRange = 24 * time.Hour
)

// times returns the bounds of a selection for a time range in ms of the Unix epoch. 0 means
// not given.
func (a *backend) times(start, end int64) (since, until time.Time, err error) {
	for _, ms := range [...]int64{start, end} {
		if !selection.KnownTime(time.UnixMilli(ms)) {
			return since, until, failure(invalidArgument, "%d ms is not a time from 1970 to 9999", ms)
		}
	}
	now := a.opts.Now().UTC()
	last := now
	if end != 0 {
		last = time.UnixMilli(end).UTC()
	}
	since = last.Add(-defaultRange)
	if start != 0 {
		since = time.UnixMilli(start).UTC()
	}
	if since.After(last) {
		return since, until, failure(invalidArgument, "start (%d) is after end (%d)", start, end)
	}
	if last.Sub(since) >= wholeHours {
		since = since.Truncate(time.Hour)
	}
	since = notBefore1970(since)
	if last.Before(now.Add(-fresh)) {
		until = last
		if !since.Before(until) { // a single moment becomes a millisecond
			until = since.Add(time.Millisecond)
		}
	}
	return since, until, nil
}

// notBefore1970 returns t, or the start of 1970 if rounding led to an earlier time: nothing
// is stored before it, and such queries are rejected.
func notBefore1970(t time.Time) time.Time {
	if t.Unix() < 0 {
		return time.Unix(0, 0).UTC()
	}
	return t
}

// endOf returns when a selection ends.
func (a *backend) endOf(sel selection.Selection) time.Time {
	if sel.Until.IsZero() {
		return a.opts.Now().UTC()
	}
	return sel.Until
}

// pairs returns labels in the format of responses, sorted.
func pairs(labels map[string]string) []*typesv1.LabelPair {
	var out []*typesv1.LabelPair
	for k, v := range labels {
		out = append(out, &typesv1.LabelPair{Name: k, Value: v})
	}
	slices.SortFunc(out, func(a, b *typesv1.LabelPair) int { return strings.Compare(a.Name, b.Name) })
	return out
}
