package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// CompareQuery asks what changed from A to B.
type CompareQuery struct {
	A, B    selection.Selection
	Method  Method
	Options compare.Options
	// Plain compares the page views as they are, whatever devices and browsers they are of: two traffics that have none in
	// common, such as that of a lab and that of users, can not be compared otherwise.
	Plain bool
	// Concurrent compares the hours alone in which both sides have 30 page views and more, with B's page views in A's mix of
	// them: then neither the time of the day nor what happened on a day is taken for a change, as in a roll-out in steps.
	Concurrent bool
}

// Method says what a comparison rests on.
type Method string

// The methods of comparisons.
const (
	// MethodAuto is MethodViews where there are few traces, and else MethodSums.
	MethodAuto Method = ""
	// MethodViews reads the traces of each page view again. Variances are exact.
	MethodViews Method = "views"
	// MethodSums reads what is summed up. Means are exact; the variance of the page and of
	// features is, too, and that of functions by release. By device and browser, and within
	// a feature or phase, the variance of a function is estimated from that of the whole, see [compare.Divide].
	MethodSums Method = "sums"
)

// Comparison is a response to a CompareQuery.
type Comparison struct {
	Method Method `json:"method_of_sums"`
	Note   string `json:"note"` // what that means
	compare.Result
	// Names says how much of the time of both sides has readable names, see [Stats].
	Names  *naming.Coverage `json:"names,omitempty"`
	StatsA Stats            `json:"stats_a"`
	StatsB Stats            `json:"stats_b"`
	// Vitals and Slow are there if one page is compared, and its page views reported Web Vitals.
	Vitals []VitalChange     `json:"vitals,omitempty"`
	Slow   *SlowInteractions `json:"slow_interactions,omitempty"`
}

// viewsTraces is how many traces a side may have to be read one by one.
const viewsTraces = 10_000

// Compare implements [Source].
func (l Local) Compare(ctx context.Context, q CompareQuery) (Comparison, error) {
	out, err := l.compareTime(ctx, q)
	if err != nil {
		return out, err
	}
	return out, l.compareVitals(ctx, q, &out)
}

// compareTime compares the time of the main thread.
func (l Local) compareTime(ctx context.Context, q CompareQuery) (out Comparison, err error) {
	out.Method = q.Method
	if q.Method == MethodAuto {
		if out.Method, err = l.methodFor(ctx, q.A, q.B); err != nil {
			return out, err
		}
	}
	if q.B.Only != "" {
		return out, selection.Refuse("only: what is compared are all functions; take --by owner or by=owner to sum up those of others")
	}
	timeA, timeB, warning, err := l.stretches(ctx, q)
	if err != nil {
		return out, err
	}
	n := l.naming(q.B) // one for both, so that a function has one name
	a, err := l.side(ctx, q.A, timeA, q.Plain, out.Method, n, &out.StatsA)
	if err != nil {
		return out, fmt.Errorf("side A: %w", err)
	}
	b, err := l.side(ctx, q.B, timeB, q.Plain, out.Method, n, &out.StatsB)
	if err != nil {
		return out, fmt.Errorf("side B: %w", err)
	}
	var names *naming.Names
	if n != nil {
		a.see()
		b.see()
		names = n.Names()
		out.Names = names.Coverage()
	}
	parts := q.B.Parts.Renamer(naming.Finder(l.Owners, names))
	a.finish(names, parts)
	b.finish(names, parts)
	var in compare.Input
	strata := slices.Sorted(maps.Keys(a.strata))
	for s := range b.strata {
		if a.strata[s] == nil {
			strata = append(strata, s)
		}
	}
	slices.Sort(strata)
	for _, s := range strata {
		in.Strata = append(in.Strata, cmp.Or(a.strata[s], b.strata[s]).labels)
	}
	in.A, in.B = a.input(strata), b.input(strata)
	out.Result = compare.Compare(in, q.Options)
	out.Note = noteOf(out.Method, a, b)
	for _, w := range []string{warning, unsampledOf(a, b), lengthsOf(a, b)} {
		if w != "" {
			out.Warnings = append(out.Warnings, w)
		}
	}
	return out, nil
}

// unsampledOf warns of sides of which the browser took so different shares of the samples that it matters to a change.
func unsampledOf(a, b *sideSums) string {
	x, y := a.unsampled(), b.unsampled()
	if math.Abs(x-y) < output.WorthSaying {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the time of A and %.0f %% of that of B was not sampled, and is in no mean: as much of a change may be missing time", 100*x, 100*y)
}

// lengthsOf warns of sides whose page views were profiled for so different times that it matters to functions: those that run
// once take less of a longer visit. B is in A's mix.
func lengthsOf(a, b *sideSums) string {
	if a.facet.part != "" || b.facet.part != "" {
		return ""
	}
	x, y := a.lengths(), b.lengths()
	var ofA, ofB, viewsA, viewsB float64
	for key, at := range a.strata {
		other := b.strata[key]
		if other == nil || at.time.Count == 0 || other.time.Count == 0 {
			continue
		}
		n, m := float64(at.time.Count), float64(other.time.Count)
		ofA, ofB = ofA+x[key], ofB+n*y[key]/m
		viewsA, viewsB = viewsA+n, viewsB+m
	}
	// Lengths vary by about as much as they are long.
	if ofA == 0 || math.Abs(ofB/ofA-1) < max(0.1, 3*math.Sqrt(1/viewsA+1/viewsB)) {
		return ""
	}
	return fmt.Sprintf("page views of B were profiled for %.3g s each and those of A for %.3g s: a longer or shorter visit may be what looks like a change of functions that do not take a part of each second",
		ofB/viewsA/1e6, ofA/viewsA/1e6)
}

// lengths returns by stratum how long its page views were profiled together, in µs.
func (s *sideSums) lengths() map[string]float64 {
	out := map[string]float64{}
	for i := range s.raw.Groups {
		g := &s.raw.Groups[i]
		at := float64(g.Coverage.Stackless + g.Coverage.Unsampled)
		for _, w := range g.Weights.All() {
			at += float64(w.Self)
		}
		labels := slices.DeleteFunc(slices.Clone(g.Labels), func(l trie.Label) bool { return l.Key == rollup.KeyRelease })
		out[fmt.Sprintf("%q", labels)] += at
	}
	return out
}

// unsampled returns the share of the time that was not sampled, from 0 to 1.
func (s *sideSums) unsampled() float64 {
	weights, c := s.raw.Flat()
	return c.UnsampledShare(output.SelfSum(weights))
}

// noteOf says what the intervals of functions rest on.
func noteOf(m Method, a, b *sideSums) string {
	switch {
	case a.parts.vague || b.parts.vague:
		return "some sums are of an older version: functions are compared without regard to the rest of the page view"
	case m == MethodViews && a.facet.part == "" && b.facet.part == "":
		return "variances are those of the page views, each read again"
	case len(a.strata) < 2 && len(b.strata) < 2 && a.exact() && b.exact():
		return "variances are those that sums keep of the page, of features and of functions"
	}
	return "variances of the page and of features are those that sums keep by device and browser; those of functions are kept for all of a release, and divided among devices and browsers by their means"
}

// methodFor chooses how a comparison is made.
func (l Local) methodFor(ctx context.Context, sides ...selection.Selection) (Method, error) {
	for _, s := range sides {
		if few, err := l.fewTraces(ctx, s, viewsTraces); err != nil || !few {
			return MethodSums, err
		}
	}
	return MethodViews, nil
}

// sideSums is what is known of one side.
type sideSums struct {
	facet  facet
	strata map[string]*stratumSums
	naming *naming.Naming
	plain  bool          // devices and browsers are no strata
	hours  string        // the stratum of what is added
	sum    *rollup.Sum   // by stratum, and by release where names depend on it
	raw    *trie.Profile // of sum
	parts  *functionSums // of which whole is made
	whole  map[trie.Frame]compare.Amount
	all    compare.Amount // all time of the page views that whole is of; zero if unknown
	views  int64          // that whole is of
	totals map[trie.Frame]trie.Function
}

// stratumSums is one kind of page views.
type stratumSums struct {
	labels    trie.Labels
	time      rollup.Spread
	features  map[string]*rollup.Spread
	parts     *functionSums // of which functions are made; nil if they are known for the whole alone
	functions map[trie.Frame]compare.Amount
	self      map[trie.Frame]int64 // µs
}

// exact reports whether what is known of functions is that of what was asked for.
func (s *sideSums) exact() bool { return s.facet.takesAnyFunctions() }

// stratumOf returns the labels of the stratum that a label set belongs to: the device, and
// the browser without its version, which changes by itself every few weeks. Of a concurrent comparison there are the hours, too.
func (s *sideSums) stratumOf(l trie.Labels) (out trie.Labels) {
	if !s.plain {
		if v := l.Value(rollup.KeyBrowser); v != "" {
			family, _, _ := strings.Cut(v, " ")
			out = append(out, trie.Label{Key: rollup.KeyBrowser, Value: family})
		}
		if v := l.Value(rollup.KeyDevice); v != "" {
			out = append(out, trie.Label{Key: rollup.KeyDevice, Value: v})
		}
	}
	if s.hours != "" {
		out = append(out, trie.Label{Key: keyHours, Value: s.hours})
	}
	return out
}

// side reads one side.
func (l Local) side(ctx context.Context, sel selection.Selection, times []stretch, plain bool, method Method, n *naming.Naming, stats *Stats) (*sideSums, error) {
	sel.GroupBy = nil
	facet, err := facetOf(sel)
	if err != nil {
		return nil, err
	}
	s := &sideSums{facet: facet, naming: n, plain: plain, strata: map[string]*stratumSums{}, parts: newFunctionSums()}
	s.sum = rollup.NewSum(func(cell trie.Labels) (trie.Labels, bool) { return s.group(cell), sel.TakesCell(cell) })
	want := store.Wanted{Level: rollup.Wide, Details: true}
	room := l.room()
	defer room.release()
	s.sum.Bound(room.fits)
	var split func(t *trie.Trace) string
	switch method {
	case MethodViews:
		want = store.Wanted{None: true}
		// Functions are kept by release alone, so nothing else may be mixed.
		split = func(t *trie.Trace) string { return fmt.Sprintf("%q", rollup.BaseLabels(&t.Context)) }
	case MethodSums:
	default:
		return nil, selection.Refuse("method %q is neither %s nor %s", method, MethodViews, MethodSums)
	}
	for _, t := range times {
		s.hours, sel.Since, sel.Until = t.stratum, t.since, t.until
		r := &recording{reading: reading{sel: sel}, split: split}
		r.take = func(_ time.Time, x store.Rolled) error { return s.add(x, method == MethodViews) }
		read, err := l.readRecords(ctx, want, r)
		if err != nil {
			return nil, err
		}
		stats.add(read)
	}
	s.raw = s.sum.Profile()
	return s, nil
}

// group returns the labels of the group that the time of a cell goes to.
func (s *sideSums) group(cell trie.Labels) trie.Labels {
	l := s.stratumOf(cell)
	if release := cell.Value(rollup.KeyRelease); release != "" && s.naming.ByRelease() {
		l = append(l, trie.Label{Key: rollup.KeyRelease, Value: release}).Sort()
	}
	return l
}

func (s *sideSums) stratum(l trie.Labels) *stratumSums {
	key := fmt.Sprintf("%q", l)
	x := s.strata[key]
	if x == nil {
		x = &stratumSums{labels: l, features: map[string]*rollup.Spread{}, self: map[trie.Frame]int64{}}
		s.strata[key] = x
	}
	return x
}

// add adds a record. One that is alike is of page views with the same labels.
func (s *sideSums) add(x store.Rolled, alike bool) error {
	if err := s.sum.Add(x.Record, x.Stacks); err != nil {
		return err
	}
	taken := false
	var base trie.Labels
	for i := range x.Record.Distributions {
		d := &x.Record.Distributions[i]
		if partOf(d) == (trie.Label{}) && s.takesShape(d.Labels.Value(rollup.KeyRelease)) {
			s.views += d.Time.Count
		}
		if !s.facet.takesBase(d) {
			continue
		}
		at := s.stratum(s.stratumOf(d.Labels))
		switch part := partOf(d); {
		case s.facet.takesPart(part):
			at.time.AddAll(&d.Time)
			taken, base = true, s.stratumOf(d.Labels)
		case part.Key == rollup.KeyFeature && s.facet.part == "":
			if at.features[part.Value] == nil {
				at.features[part.Value] = &rollup.Spread{}
			}
			at.features[part.Value].AddAll(&d.Time)
		}
	}
	for i := range x.Record.Functions {
		of := &x.Record.Functions[i]
		switch {
		case alike && taken && s.facet.part == "":
			s.stratum(base).addFunctions(of, x.Stacks, s.naming.ByRelease())
		case s.takesShape(of.Release):
			s.parts.add(of, x.Stacks, s.naming.ByRelease())
		}
	}
	return nil
}

// takesShape reports whether functions of a release tell how those that are asked for vary.
func (s *sideSums) takesShape(release string) bool {
	for _, m := range s.facet.sel.Where {
		if m.Key == rollup.KeyRelease && !m.Takes(release) {
			return false
		}
	}
	return true
}

func (s *stratumSums) addFunctions(of *rollup.Functions, stacks *trie.Trie, byRelease bool) {
	if s.parts == nil {
		s.parts = newFunctionSums()
	}
	s.parts.add(of, stacks, byRelease)
}

// see shows all functions to what names them.
func (s *sideSums) see() {
	s.naming.SeeProfile(s.raw)
	s.parts.see(s.naming, true)
	for _, x := range s.strata {
		if x.parts != nil {
			x.parts.see(s.naming, true)
		}
	}
}

// finish takes what the sums say, with names, summed up to parts unless that is nil.
func (s *sideSums) finish(names *naming.Names, parts func(trie.Frame) trie.Frame) {
	p := names.Profile(s.raw, s.naming.ByRelease(), false)
	if parts != nil {
		p = p.Fold(parts)
	}
	// Of a feature or phase the time of page views is another than that of the products.
	known := !s.parts.vague && s.facet.part == ""
	s.whole = s.parts.named(names).amounts(parts, known)
	if known {
		s.all = compare.Amount{Sum: float64(s.parts.views.Sum) / 1e3, Squares: s.parts.views.Squares() / 1e6}
	}
	for _, x := range s.strata {
		if x.parts != nil {
			x.functions = x.parts.named(names).amounts(parts, !x.parts.vague)
		}
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		at := s.stratum(g.Labels)
		for n, w := range g.Weights.All() {
			at.self[p.FrameOf(p.Nodes[n].Frame)] += w.Self
		}
	}
	s.totals = map[trie.Frame]trie.Function{}
	for _, f := range p.Functions() {
		s.totals[f.Frame] = f
	}
}

// input returns the side for the given strata. Times become milliseconds.
func (s *sideSums) input(strata []string) (out compare.Side) {
	features := map[string]bool{}
	at := make([]*stratumSums, len(strata))
	for i, key := range strata {
		if at[i] = s.strata[key]; at[i] == nil {
			at[i] = &stratumSums{}
		}
		out.Views = append(out.Views, float64(at[i].time.Count))
		out.Time = append(out.Time, amountOf(&at[i].time))
		for name := range at[i].features {
			features[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(features)) {
		f := compare.Feature{Name: name}
		for _, x := range at {
			f.Time = append(f.Time, amountOf(cmp.Or(x.features[name], &rollup.Spread{})))
		}
		out.Features = append(out.Features, f)
	}
	for _, frame := range slices.SortedFunc(maps.Keys(s.totals), trie.CompareFrames) {
		total := s.totals[frame]
		f := compare.Function{Frame: frame, Total: float64(total.Total) / 1000, Reach: float64(total.Reach)}
		f.Self = s.amounts(frame, at)
		out.Functions = append(out.Functions, f)
	}
	return out
}

// amountOf turns a spread into an amount.
func amountOf(s *rollup.Spread) compare.Amount {
	return compare.Amount{Seen: float64(s.Count), Sum: float64(s.Sum) / 1e3, Squares: s.Squares() / 1e6}
}

// amounts returns the self time of a function in strata. Without squares nothing is known of how it
// varies, so that it raises no alarm.
func (s *sideSums) amounts(frame trie.Frame, strata []*stratumSums) []compare.Amount {
	parts := make([]compare.Part, len(strata))
	for i, x := range strata {
		parts[i] = compare.Part{Views: float64(x.time.Count), Self: float64(x.self[frame]) / 1e3, Time: amountOf(&x.time)}
	}
	out := compare.Divide(s.whole[frame], s.all, float64(s.views), parts)
	for i, x := range strata {
		if a, ok := x.functions[frame]; ok {
			a.Seen = min(a.Seen, parts[i].Views) // that of a part is a sum
			out[i] = a
		}
	}
	return out
}
