package query

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// The report of a store equals the report over its page views, hour by hour, for the selected pages
// and labels, however the page views were rolled up.
func TestCost(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 1))
	start := fixture.Noon.Truncate(time.Hour)
	now := start
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	var feed, mobile, all, day cost.Experiment
	for hour := range 5 {
		now = start.Add(time.Duration(hour) * time.Hour)
		for range 1600 {
			page := []string{"/feed", "/shop"}[r.IntN(2)]
			device := []string{"desktop-high", "mobile-low"}[r.IntN(2)]
			arm := []string{rollup.ArmProfiled, rollup.ArmNone, rollup.ArmHeader, ""}[r.IntN(4)]
			labels := []string{rollup.KeyDevice, device, rollup.KeyRelease, []string{"r1", "r2"}[r.IntN(2)]}
			if arm != "" {
				labels = append(labels, rollup.KeyArm, arm)
			}
			var list []rollup.Vital
			weight := []int64{1, 100}[r.IntN(2)]
			for _, name := range []string{"lcp", "cls", "ttfb"} {
				v := rollup.Vital{Name: name, Labels: trie.MakeLabels(labels...)}
				v.Add(int64(r.IntN(1_000_000)), weight)
				list = append(list, v)
				day.Add(page, start.Truncate(24*time.Hour).Format(time.RFC3339), &v)
				for e, takes := range map[*cost.Experiment]bool{&all: true, &feed: page == "/feed",
					&mobile: device == "mobile-low"} {
					if takes && hour > 0 {
						e.Add(page, now.Format(time.RFC3339), &v)
					}
				}
			}
			s.CountVitals(page, list)
		}
		now = now.Add(time.Minute)
		s.RollUp(t.Context())
	}
	now = start.Add(5*time.Hour + 10*time.Minute)
	s.RollUp(t.Context())
	l := Local{Reader: s}
	since := start.Add(time.Hour) // without the first hour
	mobileOnly, err := selection.NewMatcher(rollup.KeyDevice, selection.Equal, "mobile-low")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sel  selection.Selection
		want *cost.Experiment
	}{
		"all":      {selection.Selection{Since: since}, &all},
		"a page":   {selection.Selection{Page: "/feed", Since: since}, &feed},
		"a device": {selection.Selection{Where: []selection.Matcher{mobileOnly}, Since: since}, &mobile},
	} {
		c.sel.Until = now // the clock of the store runs on
		got, err := l.Cost(t.Context(), c.sel)
		want := c.want.Report(now.Sub(since))
		if err != nil || !reflect.DeepEqual(got.Report, want) || len(got.Vitals) != 2 || got.Fair == nil ||
			got.Control != rollup.ArmNone {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	// Time ranges over eight days are compared by day, from other rollups.
	now = now.Add(30 * time.Hour)
	s.RollUp(t.Context())
	since = start.Add(-9 * 24 * time.Hour)
	got, err := l.Cost(t.Context(), selection.Selection{Since: since, Until: now})
	if want := day.Report(now.Sub(since)); err != nil || !reflect.DeepEqual(got.Report, want) || got.Stats.Days == 0 {
		t.Errorf("by day: got %+v, %v\nwant %+v", got, err, want)
	}
	for name, sel := range map[string]selection.Selection{"no time": {}, "a feature": {Since: since, Feature: "search"},
		"nothing": {Since: now.Add(time.Hour)}} {
		if _, err := l.Cost(t.Context(), sel); err == nil || !errors.As(err, new(*selection.RefusedError)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
