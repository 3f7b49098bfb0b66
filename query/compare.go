package query

import (
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/stretch"
	"github.com/fieldtrie/fieldtrie/query/sums"
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
	// Plain compares the page views without adjusting for devices and browsers. It is needed for
	// traffic without common devices, such as a lab against users.
	Plain bool
	// Concurrent compares only hours in which both sides have page views, pooled until both have
	// 30, with B's page views in A's mix of them: so that the time of the day is not taken for a
	// change, as in a roll-out in steps.
	Concurrent bool
	// Brief leaves out what ran in slow interactions, which takes another comparison.
	Brief bool
}

// Method is the data that a comparison uses.
type Method string

// The methods of comparisons.
const (
	// MethodAuto is MethodViews where there are few traces, and else MethodSums.
	MethodAuto Method = ""
	// MethodViews reads the traces of each page view again. Variances are exact.
	MethodViews Method = "views"
	// MethodSums reads what is summed up. Means are exact; the variance of the page and of features
	// is, too, and that of functions by release. By device and browser, and within a feature or
	// phase, the variance of a function is estimated from its variance over all page views, see
	// [compare.Divide].
	MethodSums Method = "sums"
)

// Comparison is a response to a CompareQuery.
type Comparison struct {
	Method Method `json:"method_of_sums"`
	Note   string `json:"note"` // what that means
	compare.Result
	// Names is the share of both sides' time with readable names, see [Stats].
	Names  *naming.Coverage `json:"names,omitempty"`
	StatsA Stats            `json:"stats_a"`
	StatsB Stats            `json:"stats_b"`
	// Vitals and Slow are there if one page is compared, and its page views reported Web Vitals.
	Vitals []VitalChange     `json:"vitals,omitempty"`
	Slow   *SlowInteractions `json:"slow_interactions,omitempty"`
}

// viewsTraces is how many traces a side may have to be read one by one.
const viewsTraces = 10_000

// keptComparison is how long a comparison of a time that is over is kept.
const keptComparison = 24 * time.Hour

// size returns about how many bytes c takes.
func (c Comparison) size() int { return 20_000 + 1000*len(c.Functions) + 400*len(c.Features) }

// Compare implements [Source]. A comparison of a time that is over is kept as long as what is
// stored of that time stays the same.
func (l Local) Compare(ctx context.Context, q CompareQuery) (Comparison, error) {
	a, keyA := recently(q.A)
	b, keyB := recently(q.B)
	if q.A.Until.Equal(q.B.Since) {
		a.Until = b.Since
	}
	q.A, q.B = a, b
	key := fmt.Sprintf("compare %s %s %+v %s %t %t %t %s", keyA, keyB, q.Options, q.Method, q.Plain, q.Concurrent,
		q.Brief, l.Symbols.Generation())
	if b.Lag > 0 && l.isOver(a) && l.isOver(b) && !b.Parts.Given() {
		key += " " + l.Reader.Version(a.Since, a.Until) + " " + l.Reader.Version(b.Since, b.Until)
		got, _, err := cached(ctx, l, key, keptComparison, func(ctx context.Context) (Comparison, error) {
			return l.compare(ctx, q)
		})
		return got, err
	}
	got, kept, err := cached(ctx, l, key, b.Lag, func(ctx context.Context) (Comparison, error) {
		return l.compare(ctx, q)
	})
	got.StatsA.Age, got.StatsB.Age = got.StatsA.Age.After(kept), got.StatsB.Age.After(kept)
	return got, err
}

// isOver reports whether no more page views can come into the time of a selection.
func (l Local) isOver(s selection.Selection) bool {
	return !s.Until.IsZero() && !s.Until.After(l.Reader.Now())
}

func (l Local) compare(ctx context.Context, q CompareQuery) (Comparison, error) {
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
		return out, selection.Refuse(
			"only: a comparison covers all functions; use --by owner or by=owner to sum up the others")
	}
	timeA, timeB, warning, err := l.stretches(ctx, q)
	if err != nil {
		return out, err
	}
	both := q.B // one naming for both, so that a function has one name
	if siteOf(q.A.Page) != siteOf(q.B.Page) {
		both.Page = ""
	}
	n := l.naming(both)
	byPage := overPages(q.A, q.B)
	a, err := l.side(ctx, q.A, timeA, q.Plain, byPage, out.Method, n, &out.StatsA)
	if err != nil {
		return out, fmt.Errorf("side A: %w", err)
	}
	b, err := l.side(ctx, q.B, timeB, q.Plain, byPage, out.Method, n, &out.StatsB)
	if err != nil {
		return out, fmt.Errorf("side B: %w", err)
	}
	a.See()
	b.See()
	var names *naming.Names
	if n != nil {
		names = n.Names()
		out.Names = names.Coverage()
	}
	builds, err := l.builds(ctx, both, a, b)
	if err != nil {
		return out, err
	}
	in := sums.Input(a, b, names, q.B.Parts.Renamer(naming.Finder(l.Rules(), names)), builds)
	if l.Browsers != nil {
		in.Browsers = l.Browsers(ctx, func(page string) bool {
			return q.B.Page == "" || siteOf(page) == siteOf(q.B.Page)
		})
	}
	out.Result = compare.Compare(in, q.Options)
	out.Note = noteOf(out.Method, a, b)
	for _, w := range []string{warning, sums.MissingPages(out.Strata), sums.UnsampledWarning(a.Unsampled(),
		b.Unsampled()), sums.LengthsWarning(a, b)} {
		if w != "" {
			out.Warnings = append(out.Warnings, w)
		}
	}
	return out, nil
}

// overPages reports whether sides are compared over all pages.
func overPages(a, b selection.Selection) bool { return a.Page == "" && b.Page == "" }

// noteOf describes the data behind the intervals of functions.
func noteOf(m Method, a, b *sums.Side) string {
	switch {
	case m == MethodViews && a.Facet.Part == "" && b.Facet.Part == "":
		return "variances are those of the page views, each read again"
	case a.Exact() && b.Exact():
		return "variances are those that sums keep of the page, of features and of functions"
	}
	return "variances of the page and of features are those that sums keep by device and browser; those of " +
		"functions are kept for all of a release, and divided among devices and browsers by their means"
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

// side reads one side.
func (l Local) side(ctx context.Context, sel selection.Selection, times []stretch.Stretch, plain, byPage bool,
	method Method, n *naming.Naming, stats *Stats) (*sums.Side, error) {
	sel.GroupBy = nil
	facet, err := sums.FacetOf(sel)
	if err != nil {
		return nil, err
	}
	room := l.Memory.Room(l.MaxSize)
	defer room.Release()
	s := sums.NewSide(facet, n, plain, room.Fits)
	if byPage {
		s.ByPage()
	}
	want := store.Wanted{Level: rollup.Wide, Details: true}
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
		s.Hours(t.Stratum)
		sel.Since, sel.Until = t.Since, t.Until
		r := &recording{reading: reading{sel: sel}, split: split}
		r.take = func(_ time.Time, x store.Rolled) error { return s.Add(x, method == MethodViews) }
		read, err := l.readRecords(ctx, want, r)
		if err != nil {
			return nil, err
		}
		stats.add(read)
	}
	return s, nil
}
