package watching

import (
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
)

// explain returns why a change may be, as far as symbols tell: whether the function that changed was edited. All of a change of self time
// runs in the function, so no part of it has to be estimated.
func (w *Watcher) explain(ctx context.Context, c watch.Change) (causes []watch.Cause, note string, err error) {
	f := c.What.Function
	if c.Release == "" || f == nil || w.o.Source.Symbols == nil {
		return nil, "", nil
	}
	e, err := w.o.Source.Edits(ctx, query.EditsQuery{A: c.CompareRelease, B: c.Release})
	if err != nil {
		return nil, "", err
	}
	if len(e.Missing) > 0 {
		m := e.Missing[0]
		return nil, fmt.Sprintf("which functions were edited is not known: release %s: %s", m.Release, m.Problem), nil
	}
	edited := 0
	for i := range e.Functions {
		x := &e.Functions[i]
		switch x.Change {
		case edits.Edited, edits.Added, edits.Removed:
		default:
			continue
		}
		edited++
		if x.Place != *f {
			continue
		}
		kind := watch.CauseEdited
		if x.Change == edits.Added {
			kind = watch.CauseAdded
		}
		place := x.Place
		causes = append(causes, watch.Cause{Kind: kind, Text: fmt.Sprintf("%s was %s in release %s: %s:%d", name(place), x.Change, c.Release, place.Resource, place.Line), Function: &place, Link: x.Link})
	}
	if len(causes) > 0 {
		return causes, "", nil
	}
	switch {
	case !isIn(&e, f):
		note = "whether the function was edited is not known: there are no symbols of it"
	case edited == 0:
		note = "the function was not edited, nor was any other"
	default:
		note = fmt.Sprintf("the function was not edited; whether one of those that were (%d) is the cause was not tested", edited)
	}
	if e.Unknown > 0 {
		note += fmt.Sprintf("; of %d it is not known", e.Unknown)
	}
	return nil, note, nil
}

// isIn reports whether the symbols of both releases have a function.
func isIn(e *query.Edits, f *compare.Place) bool {
	return slices.ContainsFunc(e.All(), func(x edits.Edit) bool {
		return x.Before != nil && x.After != nil && x.After.Name == f.Name && x.After.Source.Name == f.Resource && x.After.SourceLine == f.Line && x.After.SourceColumn == f.Column
	})
}

func name(p compare.Place) string {
	if p.Name == "" {
		return "(anonymous)"
	}
	return p.Name
}

// edited returns the functions that were edited between two releases, which time may move between; nil if nobody knows.
func (w *Watcher) edited(ctx context.Context, _, before, after string) (out []compare.Place, err error) {
	if w.o.Source.Symbols == nil {
		return nil, nil
	}
	e, err := w.o.Source.Edits(ctx, query.EditsQuery{A: before, B: after})
	if err != nil || len(e.Missing) > 0 {
		return nil, err
	}
	for i := range e.Functions {
		if k := e.Functions[i].Change; k == edits.Edited || k == edits.Added {
			out = append(out, e.Functions[i].Place)
		}
	}
	return out, nil
}
