package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/rules/feature"
)

// Evaluate returns the status of each budget of f, in order. A budget that cannot be
// evaluated has the verdict [Failed] and does not affect others: Evaluate fails only if ctx
// ends. Budgets for the same page views share the queries to src.
func Evaluate(ctx context.Context, src query.Source, f *File, now time.Time) ([]Status, error) {
	e := evaluation{ctx: ctx, src: src, now: now, points: map[string]cached[pointResult]{},
		tops: map[string]cached[query.Top]{}, vitals: map[string]cached[query.Vitals]{}}
	out := []Status{}
	for i := range f.Budgets {
		b := &f.Budgets[i]
		s := statusOf(b)
		m, err := e.measure(b)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.Verdict, s.Text = Failed, err.Error()
		} else {
			s.Value, s.Views, s.Text, s.Warnings = m.value, m.views, m.text, m.warnings
			s.Judge()
		}
		out = append(out, s)
	}
	return out, nil
}

// evaluation caches the results of queries.
type evaluation struct {
	ctx    context.Context
	src    query.Source
	now    time.Time
	points map[string]cached[pointResult]
	tops   map[string]cached[query.Top]
	vitals map[string]cached[query.Vitals]
}

// cached is a result, or the error of its query.
type cached[T any] struct {
	result T
	err    error
}

// measured is the value of a budget with its evidence. value is nil if it is unknown.
type measured struct {
	value    *query.Estimate
	views    int64
	text     string
	warnings []string
}

// pointResult is the result for the page views of a selection.
type pointResult struct {
	query.Point
	noSpread string
	warnings []string
}

// selection returns the selection of page views and functions for a budget.
func (e *evaluation) selection(b *Budget) (sel selection.Selection, err error) {
	sel = selection.Selection{Page: b.Page, Feature: b.Feature, Where: slices.Clone(b.Where)}
	if base, below := strings.CutSuffix(b.Page, "/**"); below {
		m, err := selection.NewMatcher("page", selection.Matches, regexp.QuoteMeta(base)+"(/.*)?")
		if err != nil {
			return sel, err
		}
		sel.Page, sel.Where = "", append(sel.Where, m)
	}
	sel.Since, err = selection.ParseSince(b.Since, e.now)
	return sel, err
}

// keyOf returns the cache key of a selection.
func keyOf(sel selection.Selection) string {
	return fmt.Sprintf("%q %q %q %s %s", sel.Page, sel.Feature, sel.Where, sel.Since, sel.By)
}

// point queries all page views of a selection as one point.
func (e *evaluation) point(sel selection.Selection) (pointResult, error) {
	key := keyOf(sel)
	x, known := e.points[key]
	if !known {
		var series query.Series
		series, x.err = e.src.Series(e.ctx, query.SeriesQuery{Selection: sel})
		x.result = pointResult{noSpread: series.Spreads, warnings: series.Stats.Warnings}
		if len(series.Groups) > 0 && len(series.Groups[0].Points) > 0 {
			x.result.Point = series.Groups[0].Points[0]
		}
		e.points[key] = x
	}
	return x.result, x.err
}

// mostFunctions limits the search for a function to the functions with the most self time.
const mostFunctions = 10_000

func (e *evaluation) top(sel selection.Selection) (query.Top, error) {
	key := keyOf(sel)
	x, known := e.tops[key]
	if !known {
		x.result, x.err = e.src.Top(e.ctx, query.TopQuery{Selection: sel, Limit: mostFunctions})
		e.tops[key] = x
	}
	return x.result, x.err
}

// measure queries the value of a budget.
func (e *evaluation) measure(b *Budget) (measured, error) {
	sel, err := e.selection(b)
	switch {
	case err != nil:
		return measured{}, err
	case b.Function != nil:
		return e.ofFunction(b, sel)
	case b.Code != nil:
		return e.ofCode(b, sel)
	case b.Metric == Reach:
		return e.ofReach(sel)
	}
	if vital, _ := b.vital(); vital {
		return e.ofVital(b, sel)
	}
	return e.ofTime(b, sel)
}

// ofTime measures the time of a page or a feature.
func (e *evaluation) ofTime(b *Budget, sel selection.Selection) (measured, error) {
	p, err := e.point(sel)
	out := measured{views: p.Views, warnings: p.warnings}
	if err != nil || p.Views == 0 {
		return out, err
	}
	spread := p.Spread
	if b.Of == LongTasks {
		spread = p.LongTasks
	}
	switch {
	case spread != nil:
		out.value = metricOf(spread, b.Metric)
	case b.Of == Time && b.Metric == Mean:
		out.value = &query.Estimate{Value: p.Mean}
	default:
		return out, errors.New("no percentiles and long tasks: " + p.noSpread)
	}
	return out, nil
}

// ofVital measures a Web Vital of a page.
func (e *evaluation) ofVital(b *Budget, sel selection.Selection) (measured, error) {
	key := keyOf(sel)
	x, known := e.vitals[key]
	if !known {
		x.result, x.err = e.src.Vitals(e.ctx, sel)
		e.vitals[key] = x
	}
	out := measured{warnings: x.result.Stats.Warnings}
	if x.err != nil || len(x.result.Pages) == 0 {
		return out, x.err
	}
	v := x.result.Pages[0].Of(string(b.Of))
	if v == nil {
		return out, nil
	}
	out.views = v.Views
	out.value = map[Metric]*query.Estimate{P50: &v.P50, P75: &v.P75, P95: &v.P95}[b.Metric]
	return out, nil
}

// metricOf returns one figure of a spread.
func metricOf(s *query.Spread, m Metric) *query.Estimate {
	switch m {
	case P50:
		return &s.P50
	case P75:
		return &s.P75
	case P95:
		return &s.P95
	}
	return &s.Mean
}

// ofReach measures the share of page views with a feature.
func (e *evaluation) ofReach(sel selection.Selection) (measured, error) {
	with, err := e.point(sel)
	if err != nil {
		return measured{}, err
	}
	sel.Feature = ""
	all, err := e.point(sel)
	out := measured{views: all.Views, warnings: all.warnings}
	if all.Views > 0 {
		share := shareOf(with.Views, all.Views)
		out.value = &share
	}
	if with.Views == 0 && all.Views > 0 {
		out.text = "the feature was not seen"
	}
	return out, err
}

// ofFunction measures the functions with the name of the budget in matching scripts. There can be
// several, because each release has its own scripts.
func (e *evaluation) ofFunction(b *Budget, sel selection.Selection) (measured, error) {
	top, err := e.top(sel)
	out := measured{views: top.Views, warnings: top.Stats.Warnings}
	if err != nil || top.Views == 0 {
		return out, err
	}
	var found []query.TopFunction
	for _, f := range top.Functions {
		if f.Name == b.Function.Name && feature.FitsText(b.Function.Resource, f.Resource) {
			found = append(found, f)
		}
	}
	var one *query.Spread // of the only function
	if len(found) == 1 {
		if one = found[0].SelfSpread; b.Of == Total {
			one = found[0].TotalSpread
		}
	}
	switch {
	case len(found) == 0 && top.Others.Count > 0:
		return out, fmt.Errorf("the function is not among the %d that took the most time, or has another name",
			mostFunctions)
	case len(found) == 0:
		out.text = "the function was not seen"
		if b.Metric == Mean || b.Metric == Reach {
			out.value = &query.Estimate{}
		}
	case b.Metric == Reach:
		out.value = reachOf(found, top.Views)
	case b.Metric == Mean && one != nil:
		out.value = &one.Mean
	case b.Metric == Mean:
		out.value = &query.Estimate{Value: meanOf(found, b.Of, top.Views)}
	case len(found) > 1:
		return out, fmt.Errorf(
			"%d functions have this name, and percentiles do not add up: give a resource or a release, or use mean",
			len(found))
	case one == nil && top.Spreads != "":
		return out, errors.New("no percentiles: " + top.Spreads)
	case one == nil:
		return out, errors.New(
			"no percentiles: there are hours in which it was not among the functions that they are kept for; use mean")
	default: // percentiles are over the page views with the function
		out.value, out.views = metricOf(one, b.Metric), found[0].Reach
	}
	if len(found) > 1 {
		out.text = sumOf(len(found), "functions with this name")
	}
	return out, nil
}

// sumOf explains that a value is a sum over n parts.
func sumOf(n int, what string) string { return fmt.Sprintf("sum of %d %s", n, what) }

// meanOf returns the time that functions take together, in milliseconds per page view. If
// the total of one includes another, the sum is too high, but a page view rarely has two of
// them.
func meanOf(functions []query.TopFunction, of Kind, views int64) float64 {
	sum := int64(0)
	for _, f := range functions {
		if of == Total {
			sum += f.Total
		} else {
			sum += f.Self
		}
	}
	return float64(sum) / 1000 / float64(views)
}

// reachOf returns the share of page views with one of the functions. It has no interval if
// it is not exact: a page view with two of them counts twice, and without a spread of the
// function only a lower bound is known.
func reachOf(functions []query.TopFunction, views int64) *query.Estimate {
	sum := int64(0)
	for _, f := range functions {
		sum += f.Reach
	}
	share := shareOf(min(sum, views), views)
	if len(functions) > 1 || functions[0].TotalSpread == nil {
		share.Low, share.High = 0, 0
	}
	return &share
}

// shareOf returns k of n in percent, with Wilson's interval: the normal approximation would
// be empty for k equal to 0 or n.
func shareOf(k, n int64) query.Estimate {
	const z = 1.96
	count, p := float64(n), float64(k)/float64(n)
	center := (p + z*z/(2*count)) / (1 + z*z/count)
	half := z / (1 + z*z/count) * math.Sqrt(p*(1-p)/count+z*z/(4*count*count))
	return query.Estimate{Value: 100 * p, Low: 100 * max(center-half, 0), High: 100 * min(center+half, 1)}
}
