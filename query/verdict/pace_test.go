package verdict

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// steady is a source with the same number of page views in each hour of each side.
type steady struct {
	query.Source
	views int64
	apart bool // the sides alternate
	calls *int
}

func (s steady) Series(_ context.Context, q query.SeriesQuery) (out query.Series, err error) {
	*s.calls++
	var points []query.Point
	for at := q.Since.Truncate(q.Step); at.Before(q.Until); at = at.Add(q.Step) {
		if s.views > 0 && (!s.apart || (at.Hour()+*s.calls)%2 == 0) {
			points = append(points, query.Point{Time: at, Views: s.views})
		}
	}
	return query.Series{Groups: []query.SeriesGroup{{Points: points}}}, nil
}

// A wait is only estimated if the required page views fit into the compared time.
func TestForesee(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for name, x := range map[string]struct {
		views         int64
		apart, shared bool
		window        time.Duration
		until         time.Time
		wait          float64
		instead       string
	}{
		"waits":         {views: 10, wait: 4},
		"waits, shared": {views: 10, shared: true, wait: 4},
		"wide enough":   {views: 10, window: day, wait: 4},
		"too narrow": {views: 10, window: 6 * time.Hour,
			instead: "6 hours never have that many: take an earlier --since"},
		"narrow, shared": {views: 10, shared: true, window: 6 * time.Hour,
			instead: "take an earlier --since, or drop --concurrent"},
		"a week":  {views: 1, shared: true, window: 90 * day, wait: 40},
		"in turn": {views: 10, apart: true, wait: 8},
		"in turn, shared": {views: 10, apart: true, shared: true,
			instead: "no hour had page views of both sides: drop --concurrent"},
		"none": {instead: "a side that needs them got none"},
		"over": {views: 10, until: now.Add(-time.Hour), instead: "take a later --until"},
	} {
		v := Verdict{Word: NotYet, Missing: &compare.Pair{A: 40, B: 40}}
		q := query.CompareQuery{Concurrent: x.shared}
		q.B.Until = x.until
		if err := v.Foresee(t.Context(), steady{views: x.views, apart: x.apart, calls: new(int)}, q, compare.Pair{A: 60,
			B: 60}, now, x.window); err != nil {
			t.Fatal(err)
		}
		waits := v.Wait != nil && *v.Wait > 0.4*x.wait && *v.Wait < 3*x.wait
		if (x.wait > 0) != waits || !strings.Contains(v.Instead, x.instead) || (v.Instead == "") != (x.instead == "") {
			t.Errorf("%s: wait %v, instead %q", name, v.Wait, v.Instead)
		}
	}
	v := Verdict{Missing: &compare.Pair{A: 400, B: 400}}
	if v.soon(compare.Pair{A: 1, B: 1}, compare.Pair{}, 14*day, true); !strings.HasSuffix(v.Instead,
		"14 days never have that many: drop --concurrent") {
		t.Errorf("got %+v", v)
	}
}
