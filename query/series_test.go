package query

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// fading is a store that keeps traces for two days, hours for three days and days for a year. It
// has 20 page views in each of three hours.
type fading struct {
	Store *storetest.Store
	start time.Time
	now   time.Time
}

func newFading(t *testing.T) *fading {
	t.Helper()
	f := &fading{start: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
	f.now = f.start
	s := storetest.Open(t, storetest.Options{Retention: 48 * time.Hour, HourRetention: 72 * time.Hour,
		DayRetention: 365 * 24 * time.Hour, Now: func() time.Time {
			return f.now
		}})
	f.Store = s
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 60 {
		f.now = f.start.Add(time.Duration(n/20) * time.Hour)
		fixture.AppendView(t, s, fixture.ViewTrace(r, n, 100))
	}
	return f
}

// after advances the clock and expires old data.
func (f *fading) after(t *testing.T, d time.Duration) {
	t.Helper()
	f.now = f.start.Add(d)
	for range 4 {
		f.Store.RollUp(t.Context())
		f.now = f.now.Add(time.Second)
	}
}

// However much has expired, each page view is in one point, and steps are as long as necessary.
func TestSeriesOfWhatIsLeft(t *testing.T) {
	f := newFading(t)
	l := Local{Reader: f.Store}
	midnight := f.start.Truncate(day)
	for _, age := range []struct {
		after    time.Duration
		shortest time.Duration // shortest possible step
	}{{4 * time.Hour, time.Minute}, {60 * time.Hour, time.Hour}, {120 * time.Hour, day}} {
		f.after(t, age.after)
		for _, step := range []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour, 30 * time.Hour, 2 * day, 0} {
			for _, since := range []time.Time{midnight, midnight.Add(11 * time.Hour)} {
				q := SeriesQuery{Selection: selection.Selection{Since: since, Until: midnight.Add(day)}, Step: step}
				s, err := l.Series(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				got := int64(0)
				for _, g := range s.Groups {
					for _, p := range g.Points {
						got += p.Views
					}
				}
				want, of := int64(60), step
				if step > 0 && step < age.shortest {
					of = age.shortest
				}
				if step == 30*time.Hour && age.shortest == day {
					of = 2 * day
				}
				if since != midnight && age.shortest < day {
					want = 40
				}
				if got != want || s.Step != of.Seconds() {
					t.Errorf("after %s since %s by %s: %d views by %g s, want %d by %s", age.after, since, step, got,
						s.Step, want, of)
				}
			}
		}
	}
	// A time range without page views, within a day that is a single sum.
	s, err := l.Series(t.Context(), SeriesQuery{Selection: selection.Selection{Since: midnight.Add(10*time.Hour +
		time.Minute), Until: midnight.Add(10*time.Hour + 30*time.Minute)}, Step: time.Minute})
	if err != nil || len(s.Groups) != 1 || len(s.Groups[0].Points) != 1 || s.Groups[0].Points[0].Views != 60 ||
		!s.Groups[0].Points[0].Time.Equal(midnight) {
		t.Errorf("got %+v and %v", s, err)
	}
}

// A series query ends with its context, and has at most the allowed number of points.
func TestSeriesEnds(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := SeriesQuery{Selection: selection.Selection{Since: fixture.Noon.Add(-1000 * time.Hour)}, Step: time.Hour}
	if _, err := l.Series(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	for _, q := range []SeriesQuery{
		{Selection: selection.Selection{Since: time.Unix(0, 0)}, Step: time.Hour},
		{Selection: selection.Selection{Since: time.Unix(0, 0), Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
			Step: 2000 * time.Hour},
		{Selection: selection.Selection{Since: fixture.Noon, Until: fixture.Noon.Add(time.Hour)}, Step: time.Second},
		{Selection: selection.Selection{Since: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}, Step: 24 * time.Hour},
		{Selection: selection.Selection{Since: fixture.Noon, Until: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)},
			Step: 24 * time.Hour},
		{Selection: selection.Selection{Since: fixture.Noon}, Step: -time.Hour},
		{Selection: selection.Selection{Since: fixture.Noon}, Step: math.MaxInt64},
	} {
		_, err := l.Series(t.Context(), q)
		if _, refused := errors.AsType[*selection.RefusedError](err); !refused {
			t.Errorf("%+v: got %v", q, err)
		}
	}
	all := selection.Selection{Since: time.Unix(0, 0), Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	if s, err := l.Series(t.Context(), SeriesQuery{Selection: all}); err != nil || len(s.Groups) != 1 {
		t.Errorf("without since: %+v, %v", s, err)
	}
}
