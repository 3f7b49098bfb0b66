package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestLocal(t *testing.T) {
	f := fixture.New(t)
	empty := 0
	for _, sel := range fixture.Selections() {
		got, err := localOf(f).Profile(t.Context(), sel, nil)
		if err != nil {
			t.Errorf("%+v: %v", sel, err)
			continue
		}
		want := fixture.Naive(f.Within(sel), sel)
		if len(want) == 0 {
			empty++
		}
		p := got.Profile
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", sel, err)
		}
		if sums := fixture.SumsOf(p); !maps.Equal(sums, want) {
			t.Errorf("%+v: got %v, want %v", sel, sums, want)
		}
		if len(got.Stats.Warnings) > 0 {
			t.Errorf("%+v: %q", sel, got.Stats.Warnings)
		}
		if got.Stats.Traces+got.Stats.RolledUp < uint64(p.Traces) || got.Stats.Bytes == 0 && got.Stats.Traces > 0 {
			t.Errorf("%+v: %+v, %d traces merged", sel, got.Stats, p.Traces)
		}
		if len(sel.GroupBy) == 0 && len(p.Groups) > 1 {
			t.Errorf("%+v: %d groups", sel, len(p.Groups))
		}
		for _, g := range p.Groups {
			if (len(g.Labels) == 0) == (len(sel.GroupBy) > 0) {
				t.Errorf("%+v: group %v", sel, g.Labels)
			}
		}
	}
	if empty == 0 || empty > len(fixture.Selections())/2 {
		t.Errorf("%d of %d selections are empty", empty, len(fixture.Selections()))
	}
}

// TestCounts checks the numbers that naive does not compute.
func TestCounts(t *testing.T) {
	f := fixture.New(t)
	for _, c := range []struct {
		sel           selection.Selection
		traces, views int64
		read          uint64
		partitions    int
	}{
		{selection.Selection{Page: "/a"}, 48, 24, 48, 2},
		{selection.Selection{Page: "/a", Until: fixture.Noon.Add(fixture.Later)}, 24, 12, 24, 1},
		{selection.Selection{Page: "/b"}, 32, 24, 32, 2},
		{selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("release", "r2"))}, 16, 8, 48, 2},
		{selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("team", ""))}, 16, 8, 48, 2},
		{selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("phase", "typing"))}, 18, 14, 48, 2},
		{selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("phase", "nothing"))}, 0, 0, 48, 2},
	} {
		for _, c.sel.GroupBy = range [][]string{nil, selection.AllGroups()} {
			got, err := localOf(f).Profile(t.Context(), c.sel, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p := got.Profile; p.Traces != c.traces || p.Views != c.views ||
				got.Stats.Traces+got.Stats.RolledUp != c.read || got.Stats.Partitions+got.Stats.Hours != c.partitions {
				t.Errorf("%+v: %d traces, %d views, %+v; want %+v", c.sel, p.Traces, p.Views, got.Stats, c)
			}
		}
	}
}

func TestGroups(t *testing.T) {
	f := fixture.New(t)
	groups := func(sel selection.Selection) (out []string) {
		sel.GroupBy = selection.AllGroups()
		got, err := localOf(f).Profile(t.Context(), sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range got.Profile.Groups {
			var l []string
			for _, x := range g.Labels {
				l = append(l, x.Key+"="+x.Value)
			}
			out = append(out, strings.Join(l, " "))
		}
		slices.Sort(out)
		return out
	}
	r1 := trie.MakeLabels("release", "r1")
	if got, want := groups(selection.Selection{Page: "/b", Where: fixture.Having(r1)}), []string{
		"feature=edit feature=search page=/b release=r1", "feature=edit page=/b release=r1", "page=/b release=r1",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// A query for one feature has no warning about other activity.
	if got, want := groups(selection.Selection{Feature: "edit", Where: fixture.Having(r1)}), []string{
		"feature=edit page=/a release=r1", "feature=edit page=/b release=r1",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := groups(selection.Selection{Page: "/suites/charts/dist/chartjs.html"}); !slices.Equal(got,
		[]string{"page=/suites/charts/dist/chartjs.html"}) {
		t.Errorf("without a release: got %q", got)
	}
}

// Progress counts the traces that are read one by one, here for labels that rollups do not have.
func TestProgress(t *testing.T) {
	f := fixture.New(t)
	var many []*trie.Trace
	for i := range 2 * progressEvery {
		tr := *f.Second[0]
		tr.Context.Page, tr.Context.Spans, tr.Context.ViewID = "/many", nil, fmt.Sprintf("many %d", i)
		many = append(many, &tr)
	}
	f.Append(t, 0, many)
	var seen []uint64
	if _, err := localOf(f).Profile(t.Context(), selection.Selection{Page: "/many",
		Where: fixture.Having(trie.MakeLabels("team", ""))}, func(n uint64) {
		seen = append(seen, n)
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []uint64{progressEvery, 2 * progressEvery}) {
		t.Errorf("progress: %v", seen)
	}
}

func TestLocalErrors(t *testing.T) {
	f := fixture.New(t)
	since, until := fixture.Noon, fixture.Noon.Add(-time.Hour)
	const want = "since (2026-11-21T12:30:00Z) must be before until (2026-11-21T11:30:00Z)"
	if _, err := localOf(f).Profile(t.Context(), selection.Selection{Since: since, Until: until}, nil); err == nil ||
		err.Error() != want {
		t.Errorf("profile: %v", err)
	}
	if _, err := localOf(f).Catalog(t.Context(), since, until, 0); err == nil || err.Error() != want {
		t.Errorf("catalogue: %v", err)
	}
	if _, err := localOf(f).Catalog(t.Context(), since, since, 0); err == nil {
		t.Error("an empty time range is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := localOf(f).Profile(ctx, selection.Selection{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestUndecodable stores bytes that are not a trace. They are skipped, and reported where traces
// are read one by one. All other traces are merged.
func TestUndecodable(t *testing.T) {
	f := fixture.New(t)
	profile, err := encode.EncodeProfile(trie.NewProfile())
	if err != nil {
		t.Fatal(err)
	}
	for i, payload := range [][]byte{[]byte("hello"), profile} {
		id := store.ID{View: [16]byte{0xff, byte(i)}}
		if _, err := f.Store.Append(t.Context(), []store.Record{{ID: id, Pages: []string{"/a"},
			Payload: payload}}); err != nil {
			t.Fatal(err)
		}
	}
	const bad = "2 stored traces cannot be decoded, the last: trace ff010000000000000000000000000000/0: it is a profile"
	for _, c := range []struct {
		sel      selection.Selection
		traces   int64
		warnings []string
	}{
		{selection.Selection{Page: "/a"}, 48, nil}, // rolling up reported them; rollups do not have them
		{selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("team", ""))}, 16, []string{bad}},
	} {
		got, err := localOf(f).Profile(t.Context(), c.sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := fixture.Naive(f.Within(c.sel), c.sel); !maps.Equal(fixture.SumsOf(got.Profile), want) ||
			got.Profile.Traces != c.traces {
			t.Errorf("%+v: got %d traces", c.sel, got.Profile.Traces)
		}
		if !slices.Equal(got.Stats.Warnings, c.warnings) {
			t.Errorf("%+v: warnings: %q, want %q", c.sel, got.Stats.Warnings, c.warnings)
		}
	}
}

func TestWarnings(t *testing.T) {
	if w := warnings(store.ScanStats{Partitions: 3, Traces: 5, Skipped: 1}); w != nil {
		t.Errorf("a complete scan: %q", w)
	}
	s := store.ScanStats{
		Damaged: 2, Lost: 3,
		Unreadable: []store.Unreadable{{Partition: "P1", Err: errors.New("bad table")}},
		Gaps:       []store.Gap{{Partition: "P2", Page: "/a", Expected: 7, Found: 3}, {Partition: "P3", Expected: 1}},
	}
	want := []string{
		"2 stored traces are damaged and skipped", "3 acknowledged traces were lost in a crash",
		"partition P1 cannot be read: bad table",
		`partition P2: 4 traces of page "/a" are missing`, "partition P3: 1 traces are missing",
	}
	if w := warnings(s); !slices.Equal(w, want) {
		t.Errorf("got %q, want %q", w, want)
	}
	s.Gaps = make([]store.Gap, 1000)
	if w := warnings(s); len(w) != maxWarnings+1 || w[maxWarnings] != "and 953 more incomplete partitions" ||
		w[0] != want[0] {
		t.Errorf("%d warnings, the last %q", len(w), w[len(w)-1])
	}
}

func TestCatalog(t *testing.T) {
	f := fixture.New(t)
	c, err := localOf(f).Catalog(t.Context(), time.Time{}, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range c.Entries {
		if e.Page == "/a" {
			got = append(got, fmt.Sprintf("%s %s %d %s %s", e.Kind, e.Name, e.Traces, e.First.Format("15:04"),
				e.Last.Format("15:04")))
		}
	}
	if want := []string{
		"page /a 48 12:30 13:30", "feature edit 32 12:30 13:30", "feature search 36 12:30 13:30",
		"release r0 16 12:30 13:30", "release r1 16 12:30 13:30", "release r2 16 12:30 13:30",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	pages := c.Pages()
	if len(pages) != 22 || pages[0].Page != "/a" || pages[1].Page != "/b" || pages[0].Traces != 48 ||
		len(c.Warnings) > 0 {
		t.Errorf("%d pages, the first two %+v; %q", len(pages), pages[:2], c.Warnings)
	}
	for i, p := range pages[1:] {
		if p.Kind != "page" || p.Traces > pages[i].Traces || p.Traces == pages[i].Traces && p.Page < pages[i].Page {
			t.Errorf("%+v comes after %+v", p, pages[i])
		}
	}
	if c, err = localOf(f).Catalog(t.Context(), fixture.Noon.Add(fixture.Later/2), time.Time{}, 0); err != nil ||
		len(c.Pages()) != 2 || c.Pages()[0].Traces != 24 {
		t.Errorf("second hour: %+v, %v", c.Pages(), err)
	}
	if c, err = localOf(f).Catalog(t.Context(), fixture.Noon.Add(2*fixture.Later), time.Time{}, 0); err != nil ||
		c.Entries == nil || len(c.Entries) != 0 {
		t.Errorf("without data: %+v, %v", c, err)
	}
}
