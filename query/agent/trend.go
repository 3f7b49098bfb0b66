package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
)

type trendIn struct {
	Selection
	Name string `json:"name,omitempty" jsonschema:"a function from top_functions; without it all JavaScript"`
	File string `json:"file,omitempty" jsonschema:"its file, or the end of its path, if several functions have the name"`
	Step string `json:"step,omitempty" jsonschema:"1h or 1d; the default gives some dozens of points"`
}

type trendOut struct {
	What   string       `json:"what"`
	Step   string       `json:"step"`
	Points []trendPoint `json:"points"` // in order of time
}

type trendPoint struct {
	Time  time.Time `json:"time"` // start of the step
	Views int64     `json:"views"`
	Mean  Estimate  `json:"mean_ms"` // per page view
	P75   *Estimate `json:"p75_ms,omitempty"`
}

// mostPoints is the maximum number of points in a trend.
const mostPoints = 200

// ofFunctions is the maximum number of functions that are searched for one.
const ofFunctions = 1000

func (t tools) trend(ctx context.Context, in trendIn) (out trendOut, err error) {
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	end := sel.Until
	if end.IsZero() {
		end = t.Now()
	}
	length := end.Sub(sel.Since)
	step := time.Hour
	switch in.Step {
	case "1h":
	case "1d":
		step = 24 * time.Hour
	case "":
		if length > 72*time.Hour {
			step = 24 * time.Hour
		}
	default:
		return out, fmt.Errorf("step: %.20q is neither 1h nor 1d", in.Step)
	}
	if length/step > mostPoints {
		return out, fmt.Errorf("step: that makes %d points; the most are %d: use 1d, or less time", length/step,
			mostPoints)
	}
	q := query.SeriesQuery{Selection: sel, Step: step}
	if in.Name != "" {
		q.By, q.Limit = "function", ofFunctions
	}
	series, err := t.Source.Series(ctx, q)
	if err != nil {
		return out, err
	}
	if len(series.Groups) == 0 {
		return out, t.nothing(ctx, sel)
	}
	out = trendOut{What: "JavaScript" + name(sel.String()), Step: fmt.Sprintf("%gh", series.Step/3600),
		Points: []trendPoint{}}
	group := series.Groups[0]
	if in.Name != "" {
		var found bool
		if group, found = functionOf(series.Groups, in.Name, in.File); !found {
			return out, fmt.Errorf(
				"function %s%s is not among the %d with the most time; take name and file from top_functions with "+
					"the same selection", name(in.Name), name(sel.String()), ofFunctions)
		}
		out.What = "self time of " + name(group.Labels["function"]) + name(sel.String())
	}
	for _, p := range group.Points {
		x := trendPoint{Time: p.Time, Views: p.Views, Mean: Estimate{Value: rounded(p.Mean)}}
		if p.Spread != nil {
			x.Mean = estimateOf(p.Spread.Mean)
			p75 := estimateOf(p.Spread.P75)
			x.P75 = &p75
		}
		out.Points = append(out.Points, x)
	}
	return out, nil
}

// functionOf returns the group of a function. If several match, it returns the heaviest, because
// groups are in descending order.
func functionOf(groups []query.SeriesGroup, function, file string) (query.SeriesGroup, bool) {
	for _, g := range groups {
		label := g.Labels["function"]
		fn, place := label, ""
		if i := strings.LastIndexByte(label, ' '); i >= 0 && strings.HasPrefix(label, function+" ") {
			fn, place = label[:i], label[i+1:]
		}
		resource := place // without line and column
		for range 2 {
			if i := strings.LastIndexByte(resource, ':'); i >= 0 {
				resource = resource[:i]
			}
		}
		if fn == function && strings.HasSuffix(resource, file) {
			return g, true
		}
	}
	return query.SeriesGroup{}, false
}

func (o trendOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, per page view, in steps of %s:\n", o.What, o.Step)
	for _, p := range o.Points {
		fmt.Fprintf(&b, "%s: mean %s", p.Time.UTC().Format("2006-01-02 15:04"), p.Mean)
		if p.P75 != nil {
			fmt.Fprintf(&b, ", p75 %s", p.P75)
		}
		fmt.Fprintf(&b, ", %d page views\n", p.Views)
	}
	return b.String()
}
