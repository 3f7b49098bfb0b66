package pyroscope

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
)

// maxColumns limits the steps of a response. If a client requests more, the steps become longer.
const maxColumns = 1000

// steps is a query over time with its result.
type steps struct {
	query.SeriesQuery
	asked time.Duration // requested length of a step
	step  time.Duration // actual length of a step
	end   time.Time
	// groups holds the groups of the result. spreads is the reason if they have no histograms.
	groups  []query.SeriesGroup
	spreads string
}

// bySteps queries a selection step by step. Steps shorter than an hour are only possible for
// few traces, so the steps of the result may be longer than requested.
func (a *backend) bySteps(ctx context.Context, q labelQuery, seconds float64, groupBy []string,
	histogram bool) (steps, error) {
	if !(seconds >= 0.001 && seconds <= 1e9) {
		return steps{}, failure(invalidArgument, "a step of %v s: it must be a millisecond at least", seconds)
	}
	s := steps{asked: time.Duration(seconds * float64(time.Second)), end: a.endOf(q.sel)}
	s.Selection, s.Histogram = q.sel, histogram
	s.GroupBy = groupKeys(groupBy)
	s.Step = wholeStep(max(s.asked, s.end.Sub(s.Since)/maxColumns))
	s.step = s.Step
	s.Since = notBefore1970(s.Since.Truncate(s.Step)) // the first step is a whole one
	if q.empty {
		return s, nil
	}
	answer, err := a.src.Series(ctx, s.SeriesQuery)
	if err != nil {
		return s, err
	}
	s.step, s.groups, s.spreads = time.Duration(answer.Step*float64(time.Second)), answer.Groups, answer.Spreads
	if s.step%(24*time.Hour) == 0 { // single hours are no longer stored: the first day is included as a whole
		s.Since = s.Since.Truncate(24 * time.Hour)
	}
	return s, nil
}

// wholeStep returns a step of at least d that divides an hour, or is a multiple of an hour:
// rollups are hourly, and a step must not cross the end of an hour.
func wholeStep(d time.Duration) time.Duration {
	step := max((d + time.Second - 1).Truncate(time.Second), time.Second)
	for step < time.Hour && time.Hour%step != 0 {
		step += time.Second
	}
	if step > time.Hour {
		step = (step + time.Hour - 1).Truncate(time.Hour)
	}
	return step
}

// scale returns the factor from the sum of a point to the sum of a step of the requested
// length. Clients divide by that length to get a rate. So for a longer point the result is
// the mean over its time up to now.
func (s *steps) scale(p query.Point) float64 {
	if s.step <= s.asked {
		return 1
	}
	begin, end := p.Time, p.Time.Add(s.step)
	if begin.Before(s.Since) {
		begin = s.Since
	}
	if end.After(s.end) {
		end = s.end
	}
	return float64(s.asked) / float64(max(end.Sub(begin), s.asked))
}

// heaviest returns the groups with the largest sums, at most limit of them, heaviest first.
// A nil limit means all.
func (s *steps) heaviest(of func(query.Point) float64, limit *int64) []query.SeriesGroup {
	sum := func(g query.SeriesGroup) (sum float64) {
		for _, p := range g.Points {
			sum += of(p)
		}
		return sum
	}
	groups := slices.Clone(s.groups)
	slices.SortStableFunc(groups, func(a, b query.SeriesGroup) int { return cmp.Compare(sum(b), sum(a)) })
	if limit != nil && *limit > 0 && *limit < int64(len(groups)) {
		groups = groups[:*limit]
	}
	return groups
}

// selectSeries serves the sums of a selection over time. The mean is per page view.
func (a *backend) selectSeries(ctx context.Context, r *querierv1.SelectSeriesRequest) (*querierv1.SelectSeriesResponse,
	error) {
	if len(r.GetStackTraceSelector().GetCallSite()) > 0 || r.GetStackTraceSelector().GetGoPgo() != nil {
		return nil, failure(unimplemented, "series of some stacks are not kept")
	}
	q, t, err := a.askType(r.ProfileTypeID, r.LabelSelector, r.Start, r.End)
	if err != nil {
		return nil, err
	}
	s, err := a.bySteps(ctx, q, r.Step, r.GroupBy, false)
	if err != nil {
		return nil, err
	}
	mean := r.GetAggregation() == typesv1.TimeSeriesAggregationType_TIME_SERIES_AGGREGATION_TYPE_AVERAGE
	out := &querierv1.SelectSeriesResponse{}
	for _, g := range s.heaviest(t.ofPoint, r.Limit) {
		value := func(p query.Point) float64 { return t.ofPoint(p) * s.scale(p) }
		if mean {
			value = func(p query.Point) float64 { return t.ofPoint(p) / float64(max(p.Views, 1)) }
		}
		x := &typesv1.Series{Labels: pairs(a.named(g.Labels, r.GroupBy, t)), Points: s.points(g, value)}
		out.Series = append(out.Series, x)
	}
	return out, nil
}

// points returns the points of a group. Clients draw lines from point to point, so around
// empty steps it adds zeros, after the previous point and before the next.
func (s *steps) points(g query.SeriesGroup, value func(query.Point) float64) (out []*typesv1.Point) {
	add := func(at time.Time, v float64) {
		out = append(out, &typesv1.Point{Timestamp: at.UnixMilli(), Value: v})
	}
	for i, p := range g.Points {
		if i > 0 {
			first, last := g.Points[i-1].Time.Add(s.step), p.Time.Add(-s.step)
			if !first.After(last) {
				add(first, 0)
			}
			if first.Before(last) {
				add(last, 0)
			}
		}
		add(p.Time, value(p))
	}
	return out
}

// selectHeatmap counts page views by their time on the main thread. A page view is the
// closest equivalent of a profile or a span.
func (a *backend) selectHeatmap(ctx context.Context,
	r *querierv1.SelectHeatmapRequest) (*querierv1.SelectHeatmapResponse, error) {
	q, t, err := a.askType(r.ProfileTypeID, r.LabelSelector, r.Start, r.End)
	if err != nil {
		return nil, err
	}
	if !t.isTime() {
		return nil, failure(invalidArgument, "heat maps need the time of page views: use the profile type %s",
			profileTypes()[0].id())
	}
	s, err := a.bySteps(ctx, q, r.Step, r.GroupBy, true)
	if err != nil {
		return nil, err
	}
	if s.spreads != "" {
		return nil, failure(invalidArgument, "%s", s.spreads)
	}
	out := &querierv1.SelectHeatmapResponse{}
	for _, g := range s.heaviest(t.ofPoint, r.Limit) {
		x := &typesv1.HeatmapSeries{Labels: pairs(a.named(g.Labels, r.GroupBy, t))}
		for _, p := range g.Points {
			if slot := slotOf(p, s.step); slot != nil {
				x.Slots = append(x.Slots, slot)
			}
		}
		out.Series = append(out.Series, x)
	}
	return out, nil
}

// rows returns the starts of a column's cells, in ms. They are the same in all columns,
// since clients draw them over each other. They grow by about two fifths, from 1 ms to an
// hour.
func rows() []float64 {
	out := []float64{0}
	for decade := 1.0; decade <= 1e6; decade *= 10 {
		for _, x := range []float64{1, 1.5, 2, 3, 4.5, 7} {
			out = append(out, x*decade)
		}
	}
	return out
}

// slotOf returns the column of a point, or nil if no page view is known. It has no gaps, and
// ends with an empty cell: clients take the start of the next cell for the end of a cell.
func slotOf(p query.Point, step time.Duration) *typesv1.HeatmapSlot {
	begin := rows()
	counts := make([]int64, len(begin))
	first, last := len(begin), -1
	for _, bar := range p.Histogram {
		i, found := slices.BinarySearch(begin, (bar.Low+bar.High)/2)
		if !found {
			i--
		}
		i = min(i, len(begin)-2)
		counts[i] += bar.Count
		first, last = min(first, i), max(last, i)
	}
	if last < 0 {
		return nil
	}
	const perMillisecond = 1000 * perMicrosecond
	slot := &typesv1.HeatmapSlot{Timestamp: p.Time.Add(step).UnixMilli()}
	for i := first; i <= last+1; i++ {
		slot.YMin = append(slot.YMin, begin[i]*perMillisecond)
		slot.Counts = append(slot.Counts, int32(min(counts[i], math.MaxInt32)))
	}
	return slot
}
