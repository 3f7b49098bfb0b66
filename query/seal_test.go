package query

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// While traces arrive, are rolled up, and their hour is sealed, each response has exactly the
// stored traces, and queries do not deadlock.
func TestQueriesBesideSealing(t *testing.T) {
	var clock atomic.Int64
	clock.Store(fixture.Noon.Add(-30 * time.Minute).UnixNano())
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return time.Unix(0, clock.Load()).UTC() }})
	l := Local{Reader: s}
	var begun, stored atomic.Int64 // traces
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		defer stop()
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 500 {
			tr := fixture.ViewTrace(r, n, 100+n%100*3)
			payload, err := encode.EncodeTrace(tr)
			if err != nil {
				t.Error(err)
				return
			}
			rec := store.Record{Pages: []string{"/feed"}, Payload: payload}
			copy(rec.ID.View[:], tr.Context.ViewID)
			begun.Add(1)
			if _, err := s.Append(ctx, []store.Record{rec}); err != nil {
				t.Error(err)
				return
			}
			stored.Add(1)
			if n%40 == 39 {
				s.RollUp(ctx)
			}
			if n%160 == 159 {
				clock.Add(int64(time.Hour))
				s.RollUp(ctx)
			}
		}
	})
	for g := range 4 {
		all.Go(func() {
			for i := g; ctx.Err() == nil; i++ {
				asking, cancel := context.WithCancel(ctx)
				if i%5 == 0 { // some clients disconnect
					asking, cancel = context.WithTimeout(ctx, time.Duration(i%7)*200*time.Microsecond)
				}
				low := stored.Load()
				got, warnings, err := countTraces(asking, l, i)
				cancel()
				if err != nil {
					continue
				}
				told := i%5 == 0 && len(warnings) > 0 // a query with little time gets a warning instead
				if high := begun.Load(); got > high || !told && (got < low || len(warnings) > 0) {
					t.Errorf("query %d: %d traces, want %d to %d; %q", i%3, got, low, high, warnings)
				}
			}
		})
	}
	all.Wait()
	if got, warnings, err := countTraces(t.Context(), l, 0); got != stored.Load() || len(warnings) > 0 || err != nil {
		t.Errorf("%d traces of %d, %q, %v", got, stored.Load(), warnings, err)
	}
}

// countTraces sends one of three queries that all count the traces.
func countTraces(ctx context.Context, l Local, kind int) (traces int64, warnings []string, err error) {
	sel := selection.Selection{Page: "/feed"}
	switch kind % 3 {
	case 0:
		top, err := l.Top(ctx, TopQuery{Selection: sel})
		return top.Traces, top.Stats.Warnings, err
	case 1:
		result, err := l.Profile(ctx, selection.Selection{}, nil)
		if err != nil {
			return 0, nil, err
		}
		return result.Profile.Traces, result.Stats.Warnings, nil
	}
	series, err := l.Series(ctx, SeriesQuery{Selection: sel})
	for _, g := range series.Groups {
		for _, p := range g.Points {
			traces += p.Traces
		}
	}
	return traces, series.Stats.Warnings, err
}
