package watch

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

const (
	seriesDays = 35 // that the time detector reads
	// timeLevel is the probability of a false detection per page and day, for each false report
	// that the settings accept per page and day.
	timeLevel = 0.5
	// lessBeside is the least ratio of a function's plain change to its change relative to the rest
	// of the page view. If the ratio is smaller, the rest changed and not the function.
	lessBeside = 0.3
)

// kindShares returns how the level of the time detector is divided among the kinds.
func kindShares() map[Kind]float64 {
	return map[Kind]float64{OfPage: 0.15, OfFeature: 0.1, OfVital: 0.15, OfFunction: 0.6}
}

// byTime looks for a step in the daily series of the page, once per completed day. Days before a
// known change belong to another level and are left out.
func (r *reader) byTime(ctx context.Context, m *PageMemory, known []Change) ([]Finding, error) {
	last := r.now.UTC().Truncate(day).Add(-day)
	if !m.Day.Before(last) {
		return nil, nil
	}
	all, err := r.series(ctx)
	if err != nil {
		return nil, err
	}
	m.Day, m.Browsers = last, r.versions.effects.Evidence
	if page := all[0].points; len(page) == 0 || page[len(page)-1].day.Before(last) {
		return nil, nil
	}
	return r.steps(all, known), nil
}

// series returns the daily series of the page until today.
func (r *reader) series(ctx context.Context) ([]series, error) {
	if r.days == nil {
		until := r.now.UTC().Truncate(day)
		days, err := r.o.Days(ctx, r.page, until.Add(-seriesDays*day), until)
		if err != nil {
			return nil, err
		}
		r.days, r.versions = seriesOf(days), versionsOf(days)
	}
	return r.days, nil
}

// viewsADay estimates the page views of all visitors per day from the Web Vitals of the last week.
// It returns 0 if the number is unknown.
func viewsADay(all []series) (most float64) {
	for _, x := range all {
		if n := len(x.views); x.what.Kind == OfVital && n > 0 {
			week := x.views[max(0, n-7):]
			sum := 0.0
			for _, v := range week {
				sum += v
			}
			most = max(most, sum/float64(len(week)))
		}
	}
	return most
}

// steps returns the steps in all series of a page.
func (r *reader) steps(all []series, known []Change) (out []Finding) {
	uncut := all
	all = slices.Clone(all)
	views := viewsADay(all)
	number := map[Kind]float64{}
	share := 0.0
	between := map[Kind][]float64{}
	for i := range all {
		x := &all[i]
		k := x.what.key()
		*x = x.after(func(p point) bool {
			return slices.ContainsFunc(known, func(c Change) bool { return c.hides(r.page, k, p.day) })
		})
		if s, ok := best(x.points, -1); ok && r.wanted(x.what.Kind) {
			number[x.what.Kind]++
			share += x.share
			between[x.what.Kind] = append(between[x.what.Kind], square(s.between))
		}
	}
	test := func(x *series) (s step, level float64, ok bool) {
		kind := x.what.Kind
		if number[kind] == 0 || !r.wanted(kind) {
			return s, 0, false
		}
		s, ok = best(x.points, median(between[kind]))
		level = timeLevel * r.s.FalseReports * kindShares()[kind] / number[kind]
		if kind == OfFunction { // half of the level is for plain times, as in comparisons
			level = timeLevel * r.s.FalseReports * kindShares()[kind] * (0.5/number[kind] + 0.5*x.share/share)
		}
		return s, level, ok && s.p() <= level && s.lasts(x.points)
	}
	add := func(x *series, s step, level float64) {
		if f, ok := r.stepped(x, s, level/float64(s.tried), all[0]); ok {
			f.ViewsADay = views
			out = append(out, f)
		}
	}
	var functions []series
	var whole []*series
	for i := range all {
		x := &all[i]
		if x.what.Kind == OfFunction {
			functions = append(functions, *x)
			whole = append(whole, &uncut[i])
		} else if s, level, ok := test(x); ok {
			add(x, s, level)
		}
	}
	r.functionSteps(functions, whole, known, test, add)
	markMoved(out)
	return out
}

// functionSteps returns the steps of functions, the most significant first. The time of a changed
// function is subtracted from the rest of the page view of the others: otherwise one slower
// function would make all others look smaller. whole holds the functions with all their days.
func (r *reader) functionSteps(functions []series, whole []*series, known []Change, test func(*series) (step, float64,
	bool), add func(*series, step, float64)) {
	taken := map[time.Time]float64{}
	take := func(x *series) {
		for i, p := range x.points {
			taken[p.day] += x.own[i]
		}
	}
	var left []int
	for i := range functions {
		x := &functions[i]
		k := x.what.key()
		if slices.ContainsFunc(known, func(c Change) bool { return c.changed(r.page, k) }) {
			take(whole[i])
			if s, level, ok := test(x); ok { // again, without the changed functions
				add(x, s, level)
			}
			continue
		}
		left = append(left, i)
	}
	for len(left) > 0 {
		first, clearest := -1, 0.0
		var of series
		var found step
		var at float64
		for i, k := range left {
			x := functions[k].without(taken)
			s, level, ok := test(&x)
			if z := math.Abs(s.size) / s.err; ok && z > clearest {
				first, clearest, of, found, at = i, z, x, s, level
			}
		}
		if first < 0 {
			return
		}
		add(&of, found, at)
		take(whole[left[first]])
		left = slices.Delete(left, first, first+1)
	}
}

// markMoved marks functions of one file that changed at the same time in opposite directions, with
// a sum that hardly changed.
func markMoved(found []Finding) {
	for i := range found {
		f := &found[i]
		if f.What.Kind != OfFunction {
			continue
		}
		sum, file := 0.0, functionOf(f.What.Function).file
		var with []Consequence
		for k := range found {
			g := &found[k]
			if g.What.Kind != OfFunction || functionOf(g.What.Function).file != file ||
				g.Begin.Sub(f.Begin).Abs() > near {
				continue
			}
			sum += g.decisive().Value
			if g.decisive().Value*f.decisive().Value < 0 {
				with = append(with, Consequence{Page: g.Page, What: g.What, Change: g.decisive()})
			}
		}
		if len(with) > 0 && math.Abs(sum) <= movedShare*math.Abs(f.decisive().Value) {
			f.Moved, f.With = true, with[:min(len(with), mostMoved)]
		}
	}
}

// changed reports whether c includes a change of the series k on the page.
func (c *Change) changed(page string, k key) bool {
	if c.on(page) && c.What.key() == k {
		return true
	}
	return slices.ContainsFunc(c.Moved, func(x Consequence) bool { return x.Page == page && x.What.key() == k })
}

// hides reports whether the day lies before c changed the series of the page, or before c ended.
func (c *Change) hides(page string, k key, of time.Time) bool {
	since := c.Begin
	if c.State == Resolved && c.Resolution == Back {
		since = c.Resolved
	}
	if of.After(since) {
		return false
	}
	if c.on(page) && (c.What.key() == k || k.kind != OfFunction && c.Direction != Moved) {
		return true
	}
	concerns := func(x Consequence) bool { return x.Page == page && x.What.key() == k }
	return slices.ContainsFunc(c.Consequences, concerns) || slices.ContainsFunc(c.Moved, concerns)
}

// stepped returns the finding of a step. ok is false if the step is shown to be smaller than the
// least change that the settings ask for.
func (r *reader) stepped(x *series, s step, level float64, page series) (f Finding, ok bool) {
	n := len(x.points)
	before, after := x.mean(max(0, s.at-mostAfter), s.at), x.mean(s.at, n)
	f = Finding{What: x.what, Detector: ByTime, Begin: x.points[s.at].day}
	f.PageChange = PageChange{Page: r.page, Value: compare.Pair{A: before, B: after}, Change: s.estimate(before, level),
		Level: 1 - level}
	for i, v := range x.views {
		if i < s.at {
			f.Views.A += v
		} else {
			f.Views.B += v
		}
	}
	if len(page.value) > 0 {
		f.Script = page.mean(0, len(page.value))
	}
	least := r.s.MinShare * before
	if x.what.Kind == OfFunction {
		least = max(r.s.MinFunction*before, r.s.MinOfPage*f.Script)
		f.Beside = new(f.Change)
		plain, ok := fit(x.plain, s.at)
		if !ok || plain.size/s.size < lessBeside {
			return f, false
		}
		f.Change = plain.estimate(before, level)
	}
	if x.what.Kind != OfVital {
		least = max(least, r.s.Min)
	}
	f.Relative = new(math.Expm1(s.size))
	if x.what.Kind == OfPage || x.what.Kind == OfFeature {
		least := math.Expm1(s.size - math.Copysign(1.6448536269514722*s.err, s.size))
		if cause, ok := r.versions.cause(f.Begin, *f.Relative, least); ok {
			f.Causes = []Cause{cause}
		}
	}
	size := max(math.Abs(math.Expm1(s.size+1.6448536269514722*s.err)),
		math.Abs(math.Expm1(s.size-1.6448536269514722*s.err)))
	return f, size*before >= least
}

// fit returns the step at the given point.
func fit(points []point, at int) (step, bool) {
	if at < leastBefore || len(points)-at < leastAfter {
		return step{}, false
	}
	days := daysOfWeek(points)
	y := make([]float64, len(points))
	for i := range points {
		y[i] = points[i].value
		points[i].weight = 1 / square(points[i].err)
	}
	s := stepAt(points, y, at, days)
	rest := residuals(points, y, s, days)
	freedom := max(len(points)-days-1, 1)
	scale := square(spread(rest)) * float64(len(points)) / float64(freedom)
	mean := 0.0
	for i := range points {
		mean += square(points[i].err) / float64(len(points))
	}
	between := max(scale-mean, 0)
	for i := range points {
		points[i].weight = 1 / (square(points[i].err) + between)
	}
	s = stepAt(points, y, at, days)
	s.freedom = float64(freedom)
	return s, true
}
