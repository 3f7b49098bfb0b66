package query

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
)

// ending is a context that is cancelled when its Err or Done has been called a given number of
// times.
type ending struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func endingAfter(t *testing.T, checks int64) *ending {
	c := &ending{}
	c.Context, c.cancel = context.WithCancel(t.Context())
	t.Cleanup(c.cancel)
	c.left.Store(checks)
	return c
}

func (c *ending) check() {
	if c.left.Add(-1) <= 0 {
		c.cancel()
	}
}

func (c *ending) Err() error            { c.check(); return c.Context.Err() }
func (c *ending) Done() <-chan struct{} { c.check(); return c.Context.Done() }

// TestLocalEnds cancels each query at every possible point. The query must return the error of the
// context, and not a partial response.
func TestLocalEnds(t *testing.T) {
	l, _ := rolledField(t, 40)
	traces := localOf(fixture.New(t)) // without rollups
	feed := selection.Selection{Page: "/feed"}
	for name, ask := range map[string]func(context.Context) (any, error){
		"profile": func(ctx context.Context) (any, error) {
			r, err := l.Profile(ctx, feed, nil)
			return r.Stats.RolledUp + r.Stats.Traces, err
		},
		"profile of traces": func(ctx context.Context) (any, error) {
			r, err := traces.Profile(ctx, selection.Selection{Page: "/a", Feature: "search"}, nil)
			return r.Stats.Traces, err
		},
		"report": func(ctx context.Context) (any, error) { return l.Report(ctx, feed) },
		"series": func(ctx context.Context) (any, error) {
			return l.Series(ctx, SeriesQuery{Selection: selection.Selection{Page: "/feed",
				Since: fixture.Noon.Truncate(time.Hour)}, Step: time.Hour})
		},
		"top":     func(ctx context.Context) (any, error) { return l.Top(ctx, TopQuery{Selection: feed}) },
		"labels":  func(ctx context.Context) (any, error) { return l.Labels(ctx, feed) },
		"catalog": func(ctx context.Context) (any, error) { return l.Catalog(ctx, time.Time{}, time.Time{}, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			want, err := ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ended := 0
			for looks := int64(1); ; looks += 1 + looks/8 {
				ctx := endingAfter(t, looks)
				got, err := ask(ctx)
				if errors.Is(err, context.Canceled) {
					ended++
					continue
				}
				if err != nil || fixture.AsJSON(t, got) != fixture.AsJSON(t, want) {
					t.Fatalf("cancelled at check %d: got %s and %v, want %s or context.Canceled", looks,
						fixture.AsJSON(t, got), err, fixture.AsJSON(t, want))
				}
				if ctx.left.Load() > 0 {
					break // the query completed before it was cancelled
				}
			}
			if ended == 0 {
				t.Error("the query was never cancelled")
			}
			t.Logf("cancelled at %d points", ended)
		})
	}
}
