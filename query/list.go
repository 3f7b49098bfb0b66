package query

import "github.com/fieldtrie/fieldtrie/trie/rollup"

// List has the values of a label, the most time first.
type List struct {
	Key    string     `json:"key"`
	Values []ListItem `json:"values"`
	More   int        `json:"more,omitempty"` // number of values that are not listed
	// of all values, including unlisted ones; only with coverage
	All     *ListSum `json:"all,omitempty"`
	Spreads string   `json:"no_spread,omitempty"`
	Stats   Stats    `json:"stats"`
}

// ListItem is a value of the label. Time without the label has the value "".
type ListItem struct {
	Value string `json:"value"`
	Point
}

// ListSum is the sum over all values.
type ListSum struct {
	Views int64 `json:"views"` // profiled ones
	// Population is the number of page views that the profiled ones stand for, plus the page views
	// without a profile.
	Population float64          `json:"population"`
	Missing    map[string]int64 `json:"missing"` // page views without a profile, by the reason
	Self       int64            `json:"self_us"`
	Own        int64            `json:"own_us"` // part of Self in the profiling script
	Samples    int64            `json:"samples"`
}

// ListOf returns the groups of a series of one step, grouped by key alone, as a list of at most
// limit values, or all if limit is 0. With coverage it includes the total.
func ListOf(key string, s Series, limit int, coverage bool) List {
	out := List{Key: key, Values: []ListItem{}, Spreads: s.Spreads, Stats: s.Stats}
	for i, g := range s.Groups {
		if limit > 0 && i >= limit {
			out.More = len(s.Groups) - limit
			break
		}
		out.Values = append(out.Values, ListItem{g.Labels[key], g.Points[0]})
	}
	if coverage {
		out.All = allOf(s)
	}
	return out
}

// allOf sums all groups of a series with one step and coverage.
func allOf(s Series) *ListSum {
	out := &ListSum{Missing: map[string]int64{}}
	for i := range s.Groups {
		p := &s.Groups[i].Points[0]
		out.Views, out.Self, out.Own, out.Samples = out.Views+p.Views, out.Self+p.Self, out.Own+p.Own,
			out.Samples+p.Samples
		for reason, views := range p.Coverage {
			out.Missing[reason] += views
		}
		out.Population += p.All()
	}
	return out
}

// All returns the total number of page views: the number that a point stands for or, if larger, the
// number of page views that were profiled or have a reason for not being profiled.
func (p *Point) All() float64 {
	known := p.Views
	for _, views := range p.Coverage {
		known += views
	}
	return max(float64(known), p.StandsFor())
}

// OutcomeLost is the outcome of page views that reported Web Vitals and announced a profile of
// which no trace arrived. Reports have no id, so their number is the difference of two counts: each
// page view with a profile and without a report hides a lost one.
const OutcomeLost = "lost"

// coverageOf returns page views without a profile, by reason. Lost ones are counted for the whole
// time range only, because a profile and its report may arrive in different hours.
func coverageOf(outcomes map[string]int64, whole bool) map[string]int64 {
	out := make(map[string]int64, len(outcomes))
	for reason, views := range outcomes {
		if reason != rollup.OutcomeProfiled && reason != rollup.OutcomeReported {
			out[reason] = views
		}
	}
	if lost := outcomes[rollup.OutcomeReported] - outcomes[rollup.OutcomeProfiled]; whole && lost > 0 {
		out[OutcomeLost] = lost
	}
	return out
}
