package watching

import (
	"context"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
)

// explain returns the possible causes of a change.
func (w *Watcher) explain(ctx context.Context, c watch.Change) ([]watch.Cause, string, error) {
	return cause.Find(ctx, w.o.Source, &c, w.o.Now())
}

// edited returns the functions of a page that were edited between two releases, since time may move
// between them; nil if unknown.
func (w *Watcher) edited(ctx context.Context, page, before, after string) (out []compare.Place, err error) {
	source := w.o.Source.OfPage(page)
	if source.Symbols == nil {
		return nil, nil
	}
	e, err := source.Edits(ctx, query.EditsQuery{A: before, B: after})
	if err != nil || len(e.Missing) > 0 {
		return nil, err
	}
	for i := range e.Functions {
		if x := &e.Functions[i]; x.Change.IsEdit() && x.Change != edits.Removed {
			out = append(out, x.Place)
		}
	}
	return out, nil
}
