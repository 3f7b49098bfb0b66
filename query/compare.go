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

// CompareQuery is a query for the changes from A to B.
type CompareQuery struct {
	A, B    selection.Selection
	Method  Method
	Options compare.Options
	// Plain compares the page views without adjusting for devices and browsers. It is needed for
	// traffic without common devices, such as a lab against users.
	Plain bool
	// Concurrent compares only hours in which both sides have page views, pooled until both have
	// 30. B's page views are weighted to A's mix of these hours. Without it, differences between
	// hours of the day look like changes, for example in a staged roll-out.
	Concurrent bool
	// Brief omits slow interactions, which need another comparison.
	Brief bool
}

// Method is the data that a comparison uses.
type Method string

// Methods of comparisons.
const (
	// MethodAuto is MethodViews if there are few traces, and otherwise MethodSums.
	MethodAuto Method = ""
	// MethodViews reads the traces of each page view again. Variances are exact.
	MethodViews Method = "views"
	// MethodSums reads rollups. Means are exact. The variance of the page, of features and of
	// functions by release is exact, too. By device and browser, and within a feature or phase, the
	// variance of a function is estimated from its variance over all page views, see
	// [compare.Divide].
	MethodSums Method = "sums"
)

// Comparison is a response to a CompareQuery.
type Comparison struct {
	Method Method `json:"method_of_sums"`
	Note   string `json:"note"` // describes the method
	compare.Result
	// Names is the share of both sides' time with readable names, see [Stats].
	Names  *naming.Coverage `json:"names,omitempty"`
	StatsA Stats            `json:"stats_a"`
	StatsB Stats            `json:"stats_b"`
	// Vitals and Slow are set if one page is compared and its page views reported Web Vitals.
	Vitals []VitalChange     `json:"vitals,omitempty"`
	Slow   *SlowInteractions `json:"slow_interactions,omitempty"`
}

// viewsTraces is the maximum number of traces of a side that are read one by one.
const viewsTraces = 10_000

// keptComparison is how long a comparison of past time ranges is cached.
const keptComparison = 24 * time.Hour

// size returns the approximate size of c in bytes.
func (c Comparison) size() int { return 20_000 + 1000*len(c.Functions) + 400*len(c.Features) }

// Compare implements [Source]. A comparison of past time ranges is cached until the stored data of
// these ranges changes.
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

// isOver reports whether the time range of a selection cannot receive more page views.
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

// compareTime compares time on the main thread.
func (l Local) compareTime(ctx context.Context, q CompareQuery) (out Comparison, err error) {
	out.Method = q.Method
	if q.Method == MethodAuto {
		if out.Method, err = l.methodFor(ctx, q.A, q.B); err != nil {
			return out, err
		}
	}
	if q.B.Only != "" {
		return out, selection.Refuse(
			"only: a comparison covers all functions; use --by owner or by=owner to group them")
	}
	timeA, timeB, warning, err := l.stretches(ctx, q)
	if err != nil {
		return out, err
	}
	both := q.B // names both sides, so that a function has one name
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

// overPages reports whether the sides cover all pages.
func overPages(a, b selection.Selection) bool { return a.Page == "" && b.Page == "" }

// noteOf describes the data behind the intervals of functions.
func noteOf(m Method, a, b *sums.Side) string {
	switch {
	case m == MethodViews && a.Facet.Part == "" && b.Facet.Part == "":
		return "variances are computed from single page views"
	case a.Exact() && b.Exact():
		return "variances are stored with the sums of the page, of features and of functions"
	}
	return "variances of the page and of features are stored by device and browser; variances of functions " +
		"are stored for a whole release, and divided among devices and browsers by their means"
}

// methodFor chooses the method of a comparison.
func (l Local) methodFor(ctx context.Context, sides ...selection.Selection) (Method, error) {
	for _, s := range sides {
		if few, err := l.fewTraces(ctx, s, viewsTraces); err != nil || !few {
			return MethodSums, err
		}
	}
	return MethodViews, nil
}

// side reads one side of a comparison.
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
		// Functions are stored by release alone, so traces must not be mixed over other labels.
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
