package query

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// Total user time does not depend on the time range, as long as the range has the same page views.
// With less than a day of data, it is their sum; otherwise, the average per day with data.
func TestPeoplesTime(t *testing.T) {
	start := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	now := start
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 40 { // over four hours, 1,000 ms each, each standing for ten
		now = start.Add(time.Duration(n) * 6 * time.Minute)
		fixture.AppendView(t, s, fixture.ViewTrace(r, n, 1000))
	}
	l := Local{Reader: s}
	const sum = 40 * 10 * 1.0 / 3600
	for _, tt := range []struct {
		name         string
		after, since time.Duration // relative to the first page view
		days, hours  float64
		perDay       bool
	}{
		{"an hour after, of five hours", 5 * time.Hour, 0, 5.0 / 24, sum, false},
		{"of a week, before there is a day of data", 5 * time.Hour, -7 * 24 * time.Hour, 5.0 / 24, sum, false},
		{"of a month, with two days of data", 48 * time.Hour, -30 * 24 * time.Hour, 2, sum / 2, true},
		{"whenever", 48 * time.Hour, -1e4 * time.Hour, 2, sum / 2, true},
		{"half of it", 48 * time.Hour, 2 * time.Hour, 46.0 / 24, sum / 2 / (46.0 / 24), true},
	} {
		now = start.Add(tt.after)
		s.RollUp(t.Context())
		series, err := l.Series(t.Context(), SeriesQuery{Selection: selection.Selection{Since: start.Add(tt.since)}})
		if err != nil {
			t.Fatal(err)
		}
		got := series.Groups[0].Points[0].People
		if math.Abs(got.Days-tt.days) > 0.01 || math.Abs(got.Hours-tt.hours) > 0.01*tt.hours ||
			got.PerDay != tt.perDay {
			t.Errorf("%s: got %+v, want %+v", tt.name, *got, tt)
		}
		if half := got.Of(1, 2); math.Abs(half-got.Hours/2) > 1e-12 {
			t.Errorf("%s: half of it is %g", tt.name, half)
		}
	}
	now = start.Add(49 * time.Hour)
	fixture.AppendView(t, s, fixture.ViewTrace(r, 40, 1000))
	s.RollUp(t.Context())
	quiet, err := l.Series(t.Context(), SeriesQuery{Selection: selection.Selection{Since: start.Add(10 * time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := quiet.Groups[0].Points[0].People; math.Abs(got.Days-39.0/24) > 0.01 || !got.PerDay {
		t.Errorf("a range that begins without page views: got %+v, want 39 hours of data", *got)
	}
	series, err := l.Series(t.Context(), SeriesQuery{Selection: selection.Selection{Since: start}, Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if p := series.Groups[0].Points[0]; p.People != nil {
		t.Errorf("a point of a step has people's time: %+v", *p.People)
	}
}
