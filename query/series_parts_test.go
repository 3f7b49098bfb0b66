package query

import (
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Over time, parts of the code take what they take of all the time, and page views are those of
// all code.
func TestSeriesByParts(t *testing.T) {
	l, _ := rolledField(t, 300)
	l.Symbols = naming.New(newUploaded())
	srv := httptest.NewServer(Handler(l, Options{Now: fixedNow}))
	defer srv.Close()
	remote, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	since := noon.Truncate(time.Hour)
	for _, step := range []time.Duration{0, time.Hour, 3 * time.Hour} {
		for _, by := range PartsBy() {
			q := SeriesQuery{Selection: Selection{Page: "/feed", Since: since, Parts: Parts{By: by}}, Step: step}
			got, err := l.Series(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			asked, err := remote.Series(t.Context(), q)
			if err != nil || !reflect.DeepEqual(asked.Groups, got.Groups) {
				t.Errorf("by %s, of a daemon: %+v, %v", by, asked.Groups, err)
			}
			top, err := l.Top(t.Context(), TopQuery{Selection: q.Selection})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int64{}
			for _, f := range top.Functions {
				want[placeText(trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column})] = f.Self
			}
			for _, g := range got.Groups {
				sum := int64(0)
				for _, p := range g.Points {
					sum += p.Self
				}
				if name := g.Labels[by]; sum != want[name] || sum == 0 || len(g.Labels) != 1 {
					t.Errorf("by %s, step %s: %s has %d µs, want %d", by, step, name, sum, want[name])
				}
			}
			if len(got.Groups) == 0 || got.Stats.Names == nil || got.Spreads == "" {
				t.Errorf("by %s: %+v", by, got)
			}
		}
	}
}

// Grouped by labels, too, each group has its parts, and those beyond the limit are one.
func TestSeriesByOwnerAndRelease(t *testing.T) {
	l, _ := rolledField(t, 300)
	l.Symbols = naming.New(newUploaded())
	sel := Selection{Page: "/feed", GroupBy: []string{keyRelease}}
	whole, err := l.Series(t.Context(), SeriesQuery{Selection: sel})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Point{}
	for _, g := range whole.Groups {
		want[g.Labels[keyRelease]] = g.Points[0]
	}
	byOwner, functions := sel, sel
	byOwner.GroupBy = []string{keyRelease, keyOwner}
	functions.By = "function"
	for name, q := range map[string]SeriesQuery{"owner": {Selection: byOwner}, "function": {Selection: functions, Limit: 1}} {
		got, err := l.Series(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		sum, others := map[string]int64{}, 0
		for _, g := range got.Groups {
			release := g.Labels[keyRelease]
			sum[release] += g.Points[0].Self
			if g.Points[0].Views != want[release].Views || g.Labels[name] == "" {
				t.Errorf("%v has %d page views, want %d", g.Labels, g.Points[0].Views, want[release].Views)
			}
			if g.Labels[name] == trie.FrameOther {
				others++
			}
		}
		for release, p := range want {
			if sum[release] != p.Self {
				t.Errorf("by %s, release %s: %d µs, want %d", name, release, sum[release], p.Self)
			}
		}
		if name == "function" && (others != len(want) || len(got.Groups) != 2*len(want)) {
			t.Errorf("%d groups, %d of them others, of %d releases", len(got.Groups), others, len(want))
		}
	}
}

// A profile that is grouped by owner has the time that its parts have.
func TestProfileByOwner(t *testing.T) {
	f := newFixture(t)
	l := f.local()
	l.Symbols = naming.New(newUploaded())
	got, err := l.Profile(t.Context(), Selection{Page: "/a", GroupBy: []string{keyOwner, keyRelease}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	self := map[trie.Frame]int64{}
	for i := range got.Profile.Groups {
		g := &got.Profile.Groups[i]
		sum, _ := g.Sum()
		self[trie.Frame{Name: g.Labels.Value(keyOwner)}] += sum
	}
	q := TopQuery{Selection: Selection{Page: "/a", Parts: Parts{By: keyOwner}}}
	top, err := l.Top(t.Context(), q)
	if err != nil || len(top.Functions) < 2 {
		t.Fatalf("%+v, %v", top, err)
	}
	for _, f := range top.Functions {
		if frame := (trie.Frame{Name: f.Name}); self[frame] != f.Self {
			t.Errorf("%s has %d µs, want %d", f.Name, self[frame], f.Self)
		}
	}
}

func TestSeriesByPartsRefused(t *testing.T) {
	f := newFixture(t)
	for what, q := range map[string]SeriesQuery{
		"owner and by=team: give one":         {Selection: Selection{GroupBy: []string{keyOwner}, Parts: Parts{By: "team"}}},
		"only, coverage and histogram do not": {Selection: Selection{Parts: Parts{By: "team"}}, Histogram: true},
		"not by the label that is asked for":  {Selection: Selection{GroupBy: []string{"plan"}, Parts: Parts{By: "team"}}},
	} {
		if _, err := f.local().Series(t.Context(), q); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, not %s", err, what)
		}
	}
}
