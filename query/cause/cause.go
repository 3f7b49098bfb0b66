package cause

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Evidence is the data in which causes are searched.
type Evidence struct {
	// Before and After are profiles from before and after the change, grouped by [Keys]: of the
	// page with the largest change, and of the feature if a feature changed.
	Before, After *trie.Profile
	// Edits lists the edits between the releases. It is nil if no release explains the change, or
	// there are no symbols at all.
	Edits *query.Edits
	// Compared is the comparison of both times, which has the number of page views with a function.
	// It is nil if unknown.
	Compared *query.Comparison
	// Owners distinguishes third-party scripts.
	Owners *owner.Rules
}

// Keys returns the labels to which a change may be confined.
func Keys() []string { return []string{rollup.KeyBrowser, rollup.KeyConnection, rollup.KeyDevice} }

const (
	// most limits the number of causes.
	most = 3
	// least is the least share of a change that a cause must have in addition to its share of the
	// time, and mostShare the largest. Time with more is not the cause of the change, but moved.
	least, mostShare = 0.5, 1.5
	// alike is the largest factor between the difference of the profiles and the change as
	// detected, which is adjusted for the mix of visitors.
	alike = 2
	// only is the share of a function's time in calls from one caller above which it counts as the
	// only caller.
	only = 0.98
)

// Of returns the most likely causes of a change, at most three, or a note with the reason if there
// are none.
func Of(c *watch.Change, e *Evidence) (causes []watch.Cause, note string) {
	if c.What.Kind == watch.OfVital {
		return nil, ""
	}
	d := delta{change: c, before: treeOf(e.Before), after: treeOf(e.After), compared: e.Compared}
	d.is[0], d.is[1] = d.targets(e.Edits)
	whole := d.after.time(d.is[1]) - d.before.time(d.is[0])
	if reported := c.Pages[0].Change.Value; whole*reported <= 0 || math.Abs(whole) > alike*math.Abs(reported) ||
		math.Abs(whole)*alike < math.Abs(reported) {
		return d.edited(e.Edits),
			"the difference between the profiles does not match the change, so only edits of the function itself " +
				"were considered"
	}
	d.whole = whole
	causes = d.edited(e.Edits)
	parts := d.parts(e)
	if len(causes) == 0 {
		causes = d.scored(parts)
	}
	for _, more := range []func() (watch.Cause, bool){d.label, d.calls} {
		if x, ok := more(); ok && len(causes) < most {
			causes = append(causes, x)
		}
	}
	if len(causes) > 0 {
		return causes, ""
	}
	return nil, d.note(e.Edits, parts)
}

// delta is a change as the difference of two profiles.
type delta struct {
	change        *watch.Change
	before, after *tree
	is            [2]func(trie.Frame) bool // matches the function that changed; for a page, all functions
	compared      *query.Comparison
	whole         float64 // difference of the profiles, in ms per page view
}

// targets returns predicates for the changed function, before and after. A function whose place
// changed between releases is identified by its symbols, or by its name and file.
func (d *delta) targets(e *query.Edits) (before, after func(trie.Frame) bool) {
	f := d.change.What.Function
	if f == nil {
		all := func(trie.Frame) bool { return true }
		return all, all
	}
	was := *f
	if e != nil {
		for _, x := range e.All() {
			if x.Before != nil && x.After != nil && compare.PlaceOf(x.After.Frame()) == *f {
				was = compare.PlaceOf(x.Before.Frame())
			}
		}
	}
	return d.before.named(was), d.after.named(*f)
}

// edited returns the cause that the changed function itself was edited or added, which explains all
// of its time.
func (d *delta) edited(e *query.Edits) []watch.Cause {
	f := d.change.What.Function
	if e == nil || f == nil {
		return nil
	}
	for i := range e.Functions {
		x := &e.Functions[i]
		if x.Place == *f && x.Change.IsEdit() {
			at := slices.IndexFunc(e.Packages, func(p edits.PackageChange) bool { return p.Name == x.Package })
			if at >= 0 {
				cause := d.cause(&part{pack: &e.Packages[at], share: 1})
				cause.Function, cause.Link = &x.Place, x.Link
				return []watch.Cause{cause}
			}
			return []watch.Cause{d.ofFunction(x, 1, fmt.Sprintf("%s %s in release %s: %s", name(x.Place),
				became(x.Change), d.change.Release, where(x.Place)))}
		}
	}
	return nil
}

func (d *delta) ofFunction(x *query.EditedFunction, share float64, text string) watch.Cause {
	kind := watch.CauseEdited
	if x.Change == edits.Added {
		kind = watch.CauseAdded
	}
	place := x.Place
	return watch.Cause{Kind: kind, Text: text, Function: &place, Link: x.Link,
		Share: &compare.Estimate{Value: min(share, 1)}}
}

// note returns the reason for having no cause.
func (d *delta) note(e *query.Edits, parts []part) string {
	f := d.change.What.Function
	switch {
	case e == nil:
		return "the change is not confined to page views with one label"
	case f != nil && !isIn(e, f):
		return "it is unknown whether the function was edited: no symbols were uploaded for it"
	}
	edited := 0
	for i := range e.Functions {
		if e.Functions[i].Change.IsEdit() {
			edited++
		}
	}
	note := "no function was edited"
	if edited > 0 {
		note = fmt.Sprintf("none of the functions that were edited (%d) explains it: each runs in less than half of "+
			"the change, or in about as much of all time", edited)
	}
	if f != nil && edited > 0 {
		note = "the function was not edited; " + note
	}
	if e.Unknown > 0 {
		note += fmt.Sprintf("; for %d functions it is unknown whether they were edited", e.Unknown)
	}
	return note
}

// became returns the predicate of the sentence about an edit, such as "was edited".
func became(k edits.Kind) string {
	if k == edits.Recompiled {
		return "has other code from the same source"
	}
	return "was " + string(k)
}

// isIn reports whether the symbols of both releases contain a function. A list of edits from
// another source does not tell.
func isIn(e *query.Edits, f *compare.Place) bool {
	all := e.All()
	return all == nil || slices.ContainsFunc(all, func(x edits.Edit) bool {
		return x.After != nil && compare.PlaceOf(x.After.Frame()) == *f
	})
}

func name(p compare.Place) string { return cmp.Or(p.Name, "(anonymous)") }

func where(p compare.Place) string { return fmt.Sprintf("%s:%d", p.Resource, p.Line) }
