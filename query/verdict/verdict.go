// Package verdict decides whether a release may go to more users: pass, marginal, fail or not yet.
//
// The only basis is a comparison with the release before. A release passes if a change of the limit
// is ruled out, and fails if it is significantly worse by more than the limit. It is marginal in
// between. Before there are enough page views, the verdict is not yet.
package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Word is the verdict.
type Word string

// Verdicts.
const (
	Pass Word = "pass" // a change of the limit is ruled out, and nothing is significantly worse
	// significantly worse by less than the limit, or the limit is not ruled out despite enough page
	// views
	Marginal Word = "marginal"
	Fail     Word = "fail" // the page or a Web Vital is significantly worse, by more than the limit
	// nothing is significantly worse, but too few page views to rule out a change of the limit
	NotYet Word = "not yet"
)

// Limits configures the accepted changes. Zero fields mean the defaults.
type Limits struct {
	Page     float64 // JavaScript per page view, as a share: 0.05
	Vital    float64 // 75th percentile of a Web Vital, as a share: 0.1
	Function float64 // a function, as a share of the JavaScript per page view: 0.01
}

func (l Limits) withDefaults() Limits {
	for _, x := range []struct {
		to    *float64
		value float64
	}{{&l.Page, 0.05}, {&l.Vital, 0.1}, {&l.Function, 0.01}} {
		if !(*x.to > 0) {
			*x.to = x.value
		}
	}
	return l
}

// Verdict is a verdict with its reasons.
type Verdict struct {
	Word    Word     `json:"verdict"`
	Reasons []string `json:"reasons"` // sentences: the one that decided first
	// Missing is the approximate number of additional page views that each side needs, if the
	// verdict is NotYet.
	Missing *compare.Pair `json:"missing_views,omitempty"`
	// Wait is the approximate time until then, in hours. It is absent if it is unknown, or longer
	// than the compared time.
	Wait *float64 `json:"wait_hours,omitempty"`
	// Instead explains why waiting does not help, and what to do instead.
	Instead string `json:"instead,omitempty"`
}

// Of returns the verdict on side B of a comparison.
func Of(c *query.Comparison, l Limits) Verdict {
	l = l.withDefaults()
	if !c.Enough {
		need := float64(c.MinViews)
		v := Verdict{Word: NotYet, Missing: &compare.Pair{A: max(need-c.Views.A, 0), B: max(need-c.Views.B, 0)}}
		if len(c.Warnings) > 0 {
			v.Reasons = c.Warnings
		} else {
			v.Reasons = []string{fmt.Sprintf("%d page views are needed on each side", c.MinViews)}
		}
		return v
	}
	v := ofPage(c, l)
	for _, x := range c.Vitals {
		// There are several Web Vitals, so their 95 % intervals are widened to 99 %.
		if x.Status != compare.Slower || !(x.A.Value > 0) ||
			x.Difference.Value <= 1.314*(x.Difference.Value-x.Difference.Low) {
			continue
		}
		share := x.Difference.Value / x.A.Value
		said := fmt.Sprintf("%s p75 is worse by more than chance: %s, from %s to %s", strings.ToUpper(x.Name),
			percent(share), number(x.A.Value, x.Unit), number(x.B.Value, x.Unit))
		v.add(worse(share, l.Vital), said)
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		if e := f.Shown; (f.Status == compare.Slower || f.Status == compare.New) &&
			e.Value >= l.Function*c.Total.Mean.A {
			v.add(Marginal, fmt.Sprintf("the function %s is %s: %s of a page view",
				output.Location(trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column}),
				f.Status, estimate(e)))
		}
	}
	return v
}

// ofPage decides on the JavaScript per page view.
func ofPage(c *query.Comparison, l Limits) Verdict {
	t := &c.Total
	e := t.Shown
	if t.Relative == nil && t.Status.Alarm() && e.Value > 0 {
		return Verdict{Word: Fail, Reasons: []string{"JavaScript of a page view " + estimate(e) +
			", which is more than noise, and before there was none"}}
	}
	if t.Relative == nil || e.Low == nil || e.High == nil || t.Mean.A <= 0 {
		return Verdict{Word: NotYet, Reasons: []string{"how JavaScript varies is not known yet"}}
	}
	base := t.Mean.A
	low, high, limit := *e.Low/base, *e.High/base, l.Page
	allowed := fmt.Sprintf("%+g %%", 100*limit)
	said := fmt.Sprintf("JavaScript of a page view %s (%s to %s)", percent(*t.Relative), percent(low), percent(high))
	switch {
	case t.Status.Alarm() && *t.Relative > 0:
		return Verdict{Word: worse(*t.Relative, limit), Reasons: []string{said + ", which is more than noise"}}
	case high < limit:
		return Verdict{Word: Pass, Reasons: []string{said + ": a change of " + allowed + " is ruled out"}}
	case t.Detectable == nil || *t.Detectable <= limit*base:
		return Verdict{Word: Marginal, Reasons: []string{said + ": a change of " + allowed +
			" is not ruled out, though it would be with nine of ten such numbers of page views"}}
	}
	// The detectable change is proportional to one over the square root of the page views.
	more := math.Pow(*t.Detectable/(limit*base), 2) - 1
	return Verdict{Word: NotYet, Reasons: []string{said + ": a change of " + allowed + " is not ruled out yet"},
		Missing: &compare.Pair{A: math.Ceil(c.Views.A * more), B: math.Ceil(c.Views.B * more)}}
}

// worse returns the verdict on a significant slowdown.
func worse(share, limit float64) Word {
	if share >= limit {
		return Fail
	}
	return Marginal
}

// add adds a finding. The worst verdict wins, and its reason comes first. A significant slowdown
// decides even if the page itself still needs more page views.
func (v *Verdict) add(w Word, reason string) {
	rank := map[Word]int{Pass: 0, NotYet: 1, Marginal: 2, Fail: 3}
	if rank[w] <= rank[v.Word] {
		v.Reasons = append(v.Reasons, reason)
		return
	}
	v.Word, v.Reasons = w, append([]string{reason}, v.Reasons...)
	v.Missing = nil
}

// percent formats a share of 0.0123 as +1.23 %.
func percent(share float64) string { return terminal.Signed(100*share) + " %" }

func estimate(e compare.Estimate) string {
	out := terminal.Signed(e.Value) + " ms"
	if e.Low != nil && e.High != nil {
		out += " (" + terminal.Signed(*e.Low) + " to " + terminal.Signed(*e.High) + ")"
	}
	return out
}

func number(x float64, unit string) string {
	if unit == "score" {
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.0f ms", x)
}
