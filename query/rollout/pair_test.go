package rollout

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// stored is a source with a catalogue and hourly page views.
type stored struct {
	query.Source
	entries []query.Entry
	views   map[string]map[int]int64 // by release and hour after noon
}

func (s *stored) Catalog(context.Context, time.Time, time.Time, time.Duration) (query.Catalog, error) {
	return query.Catalog{Entries: s.entries}, nil
}

func (s *stored) Series(_ context.Context, q query.SeriesQuery) (out query.Series, err error) {
	for release, hours := range s.views {
		if q.Page == "/x" {
			break
		}
		sum := int64(0)
		for h, n := range hours {
			if at := fixture.Noon.Add(time.Duration(h) * time.Hour); !at.Before(q.Since) && (q.Until.IsZero() ||
				at.Before(q.Until)) {
				sum += n
			}
		}
		if sum > 0 {
			out.Groups = append(out.Groups, query.SeriesGroup{Labels: map[string]string{"release": release},
				Points: []query.Point{{Views: sum}}})
		}
	}
	return out, nil
}

// release adds a release that began some minutes after noon, and has page views in some hours.
func (s *stored) release(name string, first int, views map[int]int64) {
	s.entries = append(s.entries, query.Entry{Page: "/", Kind: "release", Name: name,
		First: fixture.Noon.Add(time.Duration(first) * time.Minute)})
	if s.views == nil {
		s.views = map[string]map[int]int64{}
	}
	s.views[name] = views
}

func TestChoose(t *testing.T) {
	var s stored
	s.release("1.8.0", 0, map[int]int64{1: 9000})
	s.release("1.9.0", 40*60, map[int]int64{40: 3000, 72: 500})
	s.release("1.10.0", 72*60, map[int]int64{72: 40, 73: 70})
	s.release("1.11.0", 80*60, nil) // rolled back immediately
	noon := func(hours int) time.Time { return fixture.Noon.Add(time.Duration(hours) * time.Hour) }
	s.views["1.7.0"] = map[int]int64{2: 20, 100: 30} // its traces are deleted
	for name, c := range map[string]struct {
		sel  selection.Selection
		want string
	}{
		"at its begin": {selection.Selection{Since: noon(60), Until: noon(73)},
			`1.10.0 40, 1.9.0 500: "1.10.0: 40 of 100 page views so far" ""`},
		"with enough": {selection.Selection{Until: noon(74)}, `1.10.0 110, 1.9.0 500: "" ""`},
		"rolled back": {selection.Selection{},
			`1.11.0 0, 1.9.0 500: "1.11.0: 0 of 100 page views so far" ""`},
		"of a device": {selection.Selection{Where: fixture.Having(trie.MakeLabels("device", "x"))},
			`1.10.0 110, 1.9.0 500: "" ""`},
		"of a release": {selection.Selection{Where: fixture.Having(trie.MakeLabels("release", "1.9.0"))},
			`1.9.0 3500, 1.7.0 30: "1.7.0, the release before 1.9.0: 30 of 100 page views" ""`},
		"before any": {selection.Selection{Until: noon(0)},
			` 0,  0: "No release has page views in this time" ""`},
		"of the first": {selection.Selection{Until: noon(2)},
			`1.8.0 9000,  0: "No release before 1.8.0 has page views in this time" ""`},
		"of another page": {selection.Selection{Page: "/x"},
			` 0,  0: "No release has page views in this time" ""`},
		"of a release not there": {selection.Selection{Where: fixture.Having(trie.MakeLabels("release", "2"))},
			` 0,  0: "No release has page views in this time" ""`},
		"in the last hour": {selection.Selection{Since: noon(73)},
			`1.11.0 0, 1.10.0 70: "1.11.0: 0 of 100 page views so far" ""`},
	} {
		p, err := Choose(t.Context(), &s, c.sel)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s %d, %s %d: %q %q", p.Release, p.Views, p.CompareRelease, p.CompareViews,
			p.Missing, p.Guess)
		if got != c.want {
			t.Errorf("%s:\n%s, not\n%s", name, got, c.want)
		}
	}
}

// uploads is a library of uploads without tables.
type uploads []symbols.Upload

func (u uploads) Uploads() []symbols.Upload            { return u }
func (u uploads) Table(string) (*symbols.Table, error) { return nil, errors.New("none") }
func (u uploads) Generation() string                   { return "1" }

// Two releases that begin together have the order of their uploads. Without uploads, the order of
// their versions is a guess.
func TestChooseOfTwoAtOnce(t *testing.T) {
	f := fixture.New(t)
	l := query.Local{Reader: f.Store}
	catalog, err := l.Catalog(t.Context(), time.Time{}, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]time.Time{}
	for _, r := range releasesOf(catalog, selection.Selection{}) {
		first[r.Name] = r.First
	}
	if len(first) < 2 || first["r1"].Sub(first["r2"]).Abs() >= Together {
		t.Fatalf("releases of the fixture: %v", first)
	}
	p, err := Choose(t.Context(), l, selection.Selection{})
	if err != nil || p.Release != "r2" ||
		p.Guess != "r0, r1 and r2 began at the same time; the order is by version number" {
		t.Errorf("without uploads: %+v, %v", p, err)
	}
	began := first["r1"].Add(-time.Minute)
	l.Symbols = naming.New(uploads{ // newest first
		{Release: "r2", Time: began.Add(100 * time.Hour)}, {Release: "r1", Time: began.Add(time.Second)},
		{Release: "r2", Time: began}, {Release: "r0", Time: began}})
	if p, err = Choose(t.Context(), l, selection.Selection{}); err != nil || p.Release != "r1" || p.Guess != "" {
		t.Errorf("with uploads: %+v, %v", p, err)
	}
}
