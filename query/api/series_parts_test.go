package api

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// In a series, the times of a part of the code add up to its time in the list of functions.
func TestSeriesByParts(t *testing.T) {
	l, _ := rolledField(t, 300)
	l.Symbols = naming.New(newUploaded())
	srv := httptest.NewServer(Handler(l, Options{Now: fixture.Now}))
	defer srv.Close()
	remote, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	since := fixture.Noon.Truncate(time.Hour)
	for _, step := range []time.Duration{0, time.Hour, 3 * time.Hour} {
		for _, by := range selection.PartsBy() {
			q := query.SeriesQuery{Selection: selection.Selection{Page: "/feed", Since: since,
				Parts: selection.Parts{By: by}}, Step: step}
			got, err := l.Series(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			asked, err := remote.Series(t.Context(), q)
			if err != nil || !reflect.DeepEqual(asked.Groups, got.Groups) {
				t.Errorf("by %s, from a daemon: %+v, %v", by, asked.Groups, err)
			}
			top, err := l.Top(t.Context(), query.TopQuery{Selection: q.Selection})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int64{}
			for _, f := range top.Functions {
				want[placeOf(f)] = f.Self
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

// Groups by labels have their own parts, and the parts beyond the limit become one group.
func TestSeriesByOwnerAndRelease(t *testing.T) {
	l, _ := rolledField(t, 300)
	l.Symbols = naming.New(newUploaded())
	sel := selection.Selection{Page: "/feed", GroupBy: []string{rollup.KeyRelease}}
	whole, err := l.Series(t.Context(), query.SeriesQuery{Selection: sel})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]query.Point{}
	for _, g := range whole.Groups {
		want[g.Labels[rollup.KeyRelease]] = g.Points[0]
	}
	byOwner, functions := sel, sel
	byOwner.GroupBy = []string{rollup.KeyRelease, selection.KeyOwner}
	functions.By = "function"
	for name, q := range map[string]query.SeriesQuery{"owner": {Selection: byOwner}, "function": {Selection: functions,
		Limit: 1}} {
		got, err := l.Series(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		sum, others := map[string]int64{}, 0
		for _, g := range got.Groups {
			release := g.Labels[rollup.KeyRelease]
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
			t.Errorf("%d groups with %d of other parts, for %d releases", len(got.Groups), others, len(want))
		}
	}
}

// A profile grouped by owner has the same times as its parts.
func TestProfileByOwner(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	l.Symbols = naming.New(newUploaded())
	got, err := l.Profile(t.Context(), selection.Selection{Page: "/a", GroupBy: []string{selection.KeyOwner,
		rollup.KeyRelease}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	self := map[trie.Frame]int64{}
	for i := range got.Profile.Groups {
		g := &got.Profile.Groups[i]
		sum, _ := g.Sum()
		self[trie.Frame{Name: g.Labels.Value(selection.KeyOwner)}] += sum
	}
	q := query.TopQuery{Selection: selection.Selection{Page: "/a", Parts: selection.Parts{By: selection.KeyOwner}}}
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
	f := fixture.New(t)
	for what, q := range map[string]query.SeriesQuery{
		"owner and by=team exclude": {Selection: selection.Selection{GroupBy: []string{selection.KeyOwner},
			Parts: selection.Parts{By: "team"}}},
		"leave out only, coverage and histogram": {Selection: selection.Selection{Parts: selection.Parts{By: "team"}},
			Histogram: true},
		"not by this label": {Selection: selection.Selection{GroupBy: []string{"plan"},
			Parts: selection.Parts{By: "team"}}},
	} {
		if _, err := localOf(f).Series(t.Context(), q); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, not %s", err, what)
		}
	}
}

// placeOf returns a function as one line: its name and place.
func placeOf(f query.TopFunction) string {
	name := cmp.Or(f.Name, "(anonymous)")
	if f.Resource == "" {
		return name
	}
	return fmt.Sprintf("%s %s:%d:%d", name, f.Resource, f.Line, f.Column)
}
