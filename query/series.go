package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// SeriesQuery is a query for page views over time.
type SeriesQuery struct {
	selection.Selection
	// Step is the length of a point. It is a whole number of hours, or less if there are few
	// traces, or a whole number of days where only daily rollups are left. Points begin at
	// multiples of Step. 0 returns a single point.
	Step time.Duration
	// Coverage includes page views without a profile.
	Coverage bool
	// Histogram includes the histogram of each point.
	Histogram bool
	// Limit is the maximum number of parts of the code per group, if the query is by parts; the
	// others are "(other)". 0 means 20.
	Limit int
}

// Series is a response to a SeriesQuery.
type Series struct {
	// Step is the step of the response, in seconds. It is at least an hour if there are many
	// traces, because rollups are by hour, and at least a day where only daily rollups are left.
	Step   float64       `json:"step_seconds"`
	Groups []SeriesGroup `json:"groups"` // the most time first
	// Spreads is the reason for missing distributions, which are not stored for every query.
	Spreads string `json:"no_spread,omitempty"`
	Stats   Stats  `json:"stats"`
}

// size returns the approximate size of s in bytes.
func (s Series) size() (n int) {
	for _, g := range s.Groups {
		n += 400
		for _, p := range g.Points {
			n += 500 + 24*len(p.Histogram) // mostly spreads
		}
	}
	return n
}

// SeriesGroup is the part of a Series with one value of each group label.
type SeriesGroup struct {
	Labels map[string]string `json:"labels"`
	Points []Point           `json:"points"` // in order of time; none for times without page views
}

// Point has the page views of a time range.
type Point struct {
	Time       time.Time `json:"time,omitzero"` // start; absent for a single point
	Views      int64     `json:"views"`         // profiled ones, counted once for each hour in which they sent traces
	Traces     int64     `json:"traces"`
	Population *Estimate `json:"population,omitempty"` // page views that these stand for
	Self       int64     `json:"self_us"`              // with a stack on the main thread, in µs
	// part of Self in the profiling script; Mean, Scaled, Spread, LongTasks, Histogram and People
	// exclude it
	Own       int64   `json:"own_us"`
	Samples   int64   `json:"samples"`
	Stackless int64   `json:"stackless_us"`
	Idle      int64   `json:"idle_us"` // known to be idle
	Unsampled int64   `json:"unsampled_us"`
	Mean      float64 `json:"mean_ms"` // Self minus Own, per page view
	// with the estimated time of missing samples, see [rollup.Silence]
	Scaled     float64          `json:"scaled_mean_ms"`
	ScaledLow  float64          `json:"scaled_low_ms,omitempty"`
	ScaledHigh float64          `json:"scaled_high_ms,omitempty"`
	Spread     *Spread          `json:"spread,omitempty"`     // of the time of a page view
	LongTasks  *Spread          `json:"long_tasks,omitempty"` // of stretches of 50 ms or more
	Coverage   map[string]int64 `json:"coverage,omitempty"`   // page views without a profile, by reason
	Histogram  []HistogramBar   `json:"histogram,omitempty"`  // page views by time
	People     *PeoplesTime     `json:"people,omitempty"`     // only for a single point
}

// HistogramBar counts page views whose time, in ms, is in [Low, High).
type HistogramBar struct {
	Low   float64 `json:"low_ms"`
	High  float64 `json:"high_ms"`
	Count int64   `json:"count"`
}

// MaxSeries is the maximum number of groups in a series.
const MaxSeries = 1000

const (
	// day is the length of the longest rollups.
	day = 24 * time.Hour
	// maxPoints is the maximum number of points in a series.
	maxPoints = 2000
	// stepTraces is the maximum number of traces that are read for points of less than an hour.
	stepTraces = 20_000
	// longestStep leaves enough room below the longest Duration to round steps up.
	longestStep = 100 * 365 * day
)

// Series implements [Source].
func (l Local) Series(ctx context.Context, q SeriesQuery) (Series, error) {
	sel, key := recently(q.Selection)
	q.Selection = sel
	key = fmt.Sprint("series ", key, q.Step, q.Coverage, q.Histogram, q.Limit)
	if q.byParts() {
		key += l.Symbols.Generation()
	}
	got, kept, err := cached(ctx, l, key, sel.Lag, func(ctx context.Context) (Series, error) {
		return l.series(ctx, q)
	})
	got.Stats.Age = got.Stats.Age.After(kept)
	return got, err
}

func (l Local) series(ctx context.Context, q SeriesQuery) (Series, error) {
	if err := selection.CheckTimes(q.Since, q.Until); err != nil {
		return Series{}, err
	}
	if whole, _ := q.WithoutOwner(); whole.Wanted().None {
		return Series{}, refuseLabels("series")
	}
	if q.byParts() {
		return l.partSeries(ctx, q)
	}
	since, step, err := l.stepOf(ctx, q)
	if err != nil {
		return Series{}, err
	}
	q.Since = since
	out := Series{Step: step.Seconds(), Groups: []SeriesGroup{}}
	facet, err := sums.FacetOf(q.Selection)
	if err != nil {
		out.Spreads = err.Error()
	}
	all := &seriesSums{q: q, facet: facet, spread: err == nil, groups: map[string]*groupSums{}}
	if all.days, err = l.daysOfAll(ctx, q); err != nil {
		return Series{}, err
	}
	if step > 0 && step < time.Hour {
		out.Stats, err = l.stepSeries(ctx, q.Selection, step, all.addStep)
	} else {
		want := q.Wanted()
		want.Details = q.Coverage
		err = l.eachStep(ctx, q, want, step, all, &out.Stats)
	}
	if err != nil {
		return Series{}, err
	}
	out.Groups, err = all.series()
	return out, err
}

// stepOf returns the start of the first point of a response, and the step. Rollups that cannot be
// divided must not be in several points, because each of these points would count them completely.
func (l Local) stepOf(ctx context.Context, q SeriesQuery) (since time.Time, step time.Duration, err error) {
	if since, step = q.Since, q.Step; step == 0 {
		return since, 0, nil
	}
	if since.IsZero() {
		return since, 0, selection.Refuse("a series with steps needs since")
	}
	if step < 0 || step > longestStep {
		return since, 0, selection.Refuse("step %s: use a duration above 0 and up to 100 years", step)
	}
	if step%time.Hour != 0 {
		fine, err := l.fewTraces(ctx, q.Selection, stepTraces)
		if err != nil {
			return since, 0, err
		}
		if step > time.Hour || !fine {
			step = roundUp(step, time.Hour)
		}
	}
	if !l.hasHours(q.Selection) {
		since, step = since.Truncate(day), roundUp(step, day)
	}
	end := q.Until
	if end.IsZero() {
		end = l.Reader.Now()
	}
	// in seconds, because a Duration cannot be longer than 292 years
	if n := float64(end.Unix()-since.Unix()) / step.Seconds(); n > maxPoints {
		return since, 0, selection.Refuse("%.0f points of %s; the most is %d: use longer steps or less time", n, step,
			maxPoints)
	}
	return since, step, nil
}

// hasHours reports whether all days of sel have hourly rollups. Days without them are read
// completely, even if sel covers a part of the day.
func (l Local) hasHours(sel selection.Selection) bool {
	until := sel.Until
	if !until.IsZero() {
		until = until.Add(day - 1).Truncate(day)
	}
	return l.Reader.HasHours(sel.Since.Truncate(day), until)
}

// roundUp returns the smallest multiple of unit that is at least d.
func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1).Truncate(unit) }

// stepAdder adds up the records of each step.
type stepAdder interface {
	add(at time.Time, x store.Rolled) error
}

// eachStep reads the time range of q step by step, so that each step is read from the coarsest
// rollups possible.
func (l Local) eachStep(ctx context.Context, q SeriesQuery, want store.Wanted, step time.Duration, all stepAdder,
	stats *Stats) error {
	sel := q.Selection
	end := q.Until
	if end.IsZero() {
		end = l.Reader.Now().Add(1)
	}
	for at := q.Since; ; at = sel.Until {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := at
		if step > 0 {
			start = at.Truncate(step)
			sel.Since, sel.Until = at, start.Add(step)
			if !q.Until.IsZero() && sel.Until.After(q.Until) {
				sel.Until = q.Until
			}
		}
		s, err := l.eachRecord(ctx, sel, want, func(r store.Rolled) error { return all.add(start, r) })
		if err != nil {
			return err
		}
		stats.add(s)
		if step == 0 || !sel.Until.Before(end) {
			return nil
		}
	}
}

// seriesSums adds records.
type seriesSums struct {
	q      SeriesQuery
	facet  sums.Facet
	spread bool // facet is set
	groups map[string]*groupSums
	days   float64 // days with data; 0 if there are steps
	own    rollup.Own
}

// groupSums has the sums of a group, by start of the point.
type groupSums struct {
	labels trie.Labels
	points map[time.Time]*pointSums
}

type pointSums struct {
	weight        trie.Weight
	own           int64 // part of weight.Self in the profiling script, in µs
	silence       rollup.Silence
	views, traces int64
	spread        rollup.Distribution
	coverage      map[string]int64
}

func (s *seriesSums) at(l trie.Labels, at time.Time) *pointSums {
	var key strings.Builder
	for _, x := range l {
		fmt.Fprintf(&key, "%q=%q,", x.Key, x.Value)
	}
	g := s.groups[key.String()]
	if g == nil {
		g = &groupSums{labels: l, points: map[time.Time]*pointSums{}}
		s.groups[key.String()] = g
	}
	p := g.points[at]
	if p == nil {
		p = &pointSums{coverage: map[string]int64{}}
		g.points[at] = p
	}
	return p
}

// groupsOf returns the groups that count the time of a cell: one, or one for each feature of the
// cell.
func (s *seriesSums) groupsOf(page string, cell trie.Labels) []trie.Labels {
	sel := s.q.Selection
	by := slices.Index(sel.GroupBy, rollup.KeyFeature)
	if by < 0 {
		return []trie.Labels{sel.CellLabels(page, cell)}
	}
	sel.GroupBy = slices.Delete(slices.Clone(sel.GroupBy), by, by+1)
	base := sel.CellLabels(page, cell)
	var all []trie.Labels
	for f := range selection.ValuesOf(cell, rollup.KeyFeature) {
		if s.takesFeature(f) {
			all = append(all, append(slices.Clone(base), trie.Label{Key: rollup.KeyFeature, Value: f}).Sort())
		}
	}
	return all
}

func (s *seriesSums) takesFeature(f string) bool {
	for _, m := range s.q.Where {
		if m.Key == rollup.KeyFeature && !m.Takes(f) {
			return false
		}
	}
	return s.q.Feature == "" || s.q.Feature == f
}

func (s *seriesSums) add(at time.Time, x store.Rolled) error {
	s.addStep(step{at: at, page: x.Page, stepSums: stepSumsOf(x, &s.own)})
	return nil
}

func (s *seriesSums) addStep(x step) {
	to := make([][]*pointSums, len(x.cells))
	for i, c := range x.cells {
		if !s.q.TakesCell(c.Labels) {
			continue
		}
		for _, l := range s.groupsOf(x.page, c.Labels) {
			p := s.at(l, x.at)
			to[i] = append(to[i], p)
			p.silence.Stackless += c.Stackless
			p.silence.Idle += c.Idle
			p.silence.Unsampled += c.Unsampled
			p.silence.Likely += c.Likely
		}
	}
	for c, w := range x.weights {
		for _, p := range to[c] {
			p.weight.Self += w.Self
			p.weight.Samples += w.Samples
			p.own += x.own[c]
		}
	}
	var set []*pointSums
	for _, t := range x.touches {
		set = set[:0]
		for _, c := range t.Cells {
			for _, p := range to[c] {
				if !slices.Contains(set, p) {
					set = append(set, p)
				}
			}
		}
		for _, p := range set {
			p.views += t.Views
			p.traces += t.Traces
		}
	}
	s.addSpreads(x)
}

// addSpreads adds the distributions and outcomes of a record.
func (s *seriesSums) addSpreads(x step) {
	if s.spread {
		for i := range x.distributions {
			d := &x.distributions[i]
			if s.facet.TakesBase(d) && s.facet.TakesPart(sums.PartOf(d)) {
				s.at(s.facet.Group(x.page, d).Sort(), x.at).spread.AddAll(d)
			}
		}
	}
	byPage := len(s.q.GroupBy) == 0 || slices.Equal(s.q.GroupBy, []string{selection.KeyPage})
	if s.q.Coverage && byPage && s.q.OfPages() { // outcomes have no other labels
		for _, o := range x.outcomes {
			s.at(s.q.CellLabels(x.page, nil), x.at).coverage[o.Reason] += o.Views
		}
	}
}

// series returns the groups, the most time first.
func (s *seriesSums) series() ([]SeriesGroup, error) {
	if n := len(s.groups); n > MaxSeries {
		return nil, selection.Refuse("%d groups; the most is %d: select less time, one page, or fewer labels",
			n, MaxSeries)
	}
	self := map[*groupSums]int64{}
	groups := []*groupSums{}
	for _, g := range s.groups {
		for at, p := range g.points {
			p.coverage = coverageOf(p.coverage, s.q.Step == 0)
			if self[g] += p.weight.Self; p.views == 0 && p.weight == (trie.Weight{}) && p.spread.Time.Count == 0 &&
				len(p.coverage) == 0 {
				delete(g.points, at) // empty, for example after a deletion
			}
		}
		if len(g.points) > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(a, b *groupSums) int {
		return cmp.Or(cmp.Compare(self[b], self[a]), slices.CompareFunc(a.labels, b.labels, func(x, y trie.Label) int {
			return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Value, y.Value))
		}))
	})
	out := []SeriesGroup{}
	for _, g := range groups {
		x := SeriesGroup{Labels: map[string]string{}}
		for _, l := range g.labels {
			x.Labels[l.Key] = l.Value
		}
		for at, p := range g.points {
			x.Points = append(x.Points, s.point(at, p))
		}
		slices.SortFunc(x.Points, func(a, b Point) int { return a.Time.Compare(b.Time) })
		out = append(out, x)
	}
	return out, nil
}

// scaled returns a mean plus its share of the time that is likely missing from the time self, in
// µs. The result is at least 0.
func scaled(mean float64, self, likely int64) float64 {
	if self <= 0 {
		return mean
	}
	return mean * max(1+float64(likely)/float64(self), 0)
}

func (s *seriesSums) point(at time.Time, p *pointSums) Point {
	out := Point{Time: at.UTC(), Views: p.views, Traces: p.traces, Self: p.weight.Self, Own: p.own,
		Samples:   p.weight.Samples,
		Stackless: p.silence.Stackless, Idle: p.silence.Idle, Unsampled: p.silence.Unsampled,
		Mean: float64(p.weight.Self-p.own) / 1000 / float64(max(p.views, 1))}
	out.Scaled = scaled(out.Mean, p.weight.Self-p.own, p.silence.Likely)
	if len(p.coverage) > 0 {
		out.Coverage = p.coverage
	}
	if n := p.spread.Time.Count; s.spread && n > 0 {
		time, long, population := spreadOf(&p.spread.Time, n), spreadOf(&p.spread.Long, n),
			populationOf(&p.spread, p.views)
		out.Spread, out.LongTasks, out.Population = &time, &long, &population
		out.ScaledLow, out.ScaledHigh = widened(time.Mean, out.Scaled)
		if s.q.Histogram {
			for b := range p.spread.Time.Histogram.All() {
				out.Histogram = append(out.Histogram, HistogramBar{float64(b.Low) / 1000,
					float64(b.High) / 1000, b.Count})
			}
		}
	}
	if s.days > 0 {
		out.People = peoplesTime(out.Mean, out.StandsFor(), s.days)
	}
	return out
}
