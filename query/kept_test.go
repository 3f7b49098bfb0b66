package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// reads counts the reads from a store.
type reads struct {
	*storetest.Store
	calls int
}

func (r *reads) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error,
	rolled func(store.Rolled) error) (store.ScanStats, error) {
	r.calls++
	return r.Store.Select(ctx, q, want, trace, rolled)
}

// A repeated comparison of past hours does not read the store, and different queries have different
// responses.
func TestComparisonsAreKept(t *testing.T) {
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 41 {
		fixture.AppendView(t, s, fixture.ViewTrace(r, n, 100))
	}
	from := now.Truncate(time.Hour)
	now = from.Add(time.Hour)
	s.RollUp(t.Context())
	in := &reads{Store: s}
	l := query.Local{Reader: in, Responses: query.NewResponseCache(t.Context())}
	side := func(release string) selection.Selection {
		return selection.Selection{Page: "/feed", Since: from, Until: from.Add(time.Hour), Lag: time.Second,
			Where: []selection.Matcher{{Key: "release", Op: selection.Equal, Value: release}}}
	}
	ask := func(q query.CompareQuery) (text string, calls int) {
		t.Helper()
		before := in.calls
		c, err := l.Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(c.Views, c.Total.Measured), in.calls - before
	}
	q := query.CompareQuery{A: side("r1"), B: side("r2")}
	first, calls := ask(q)
	if calls == 0 {
		t.Fatal("nothing was read")
	}
	if again, calls := ask(q); calls != 0 || again != first {
		t.Errorf("repeated: %d reads, %s, want %s", calls, again, first)
	}
	if other, calls := ask(query.CompareQuery{A: q.B, B: q.A}); calls == 0 || other == first {
		t.Errorf("with A and B swapped: %d reads, %s", calls, other)
	}
	plain := q
	plain.Plain = true
	if _, calls := ask(plain); calls == 0 {
		t.Error("another query has the same response")
	}
}
