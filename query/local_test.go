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
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// selections are what the tests ask a fixture for.
func selections() []Selection {
	var out []Selection
	for _, page := range []string{"", "/a", "/b", "/suites/charts/dist/chartjs.html", "/nowhere"} {
		for _, feature := range []string{"", "search", "edit", "nothing"} {
			out = append(out, Selection{Page: page, Feature: feature})
		}
	}
	for _, l := range []trie.Labels{
		trie.MakeLabels("release", "r1"), trie.MakeLabels("environment", "production"), trie.MakeLabels("team", "t1"),
		trie.MakeLabels("team", ""), trie.MakeLabels("release", "r0", "team", "t2"), trie.MakeLabels("release", "r9"),
		trie.MakeLabels("release", "r0", "release", "r1"), trie.MakeLabels("release", ""),
		trie.MakeLabels("phase", "load"), trie.MakeLabels("phase", "typing"), trie.MakeLabels("phase", ""), trie.MakeLabels("phase", "nothing"),
		trie.MakeLabels("phase", "load", "team", "t1"), trie.MakeLabels("phase", "load", "phase", "typing"),
		trie.MakeLabels("phase", "typing", "release", "r0", "team", ""), trie.MakeLabels("team", "t2"),
	} {
		out = append(out, Selection{Page: "/a", Where: having(l)}, Selection{Feature: "edit", Where: having(l)})
	}
	for _, texts := range [][]string{
		{"page=~/.*"}, {"page=~/a|/b"}, {"page!=/a"}, {"page!~/(a|b)"}, {"feature=~se.*"}, {"feature!=search"}, {"feature!~.*"},
		{"feature=edit", "feature!=search"}, {"feature="}, {"release=~r[12]", "page=/b"}, {"release!=r1"}, {"phase!=load"}, {"phase=~load|typing"},
		{"team!~t1|", "page=~/[ab]"}, {"environment!~prod.*"},
	} {
		var where []Matcher
		for _, text := range texts {
			m, err := ParseMatcher(text)
			if err != nil {
				panic(err)
			}
			where = append(where, m)
		}
		out = append(out, Selection{Where: where}, Selection{Page: "/a", Where: where})
	}
	mid := noon.Add(later / 2)
	out = append(out, Selection{Page: "/a", Since: mid}, Selection{Page: "/a", Until: mid}, Selection{Since: noon.Add(-time.Second), Until: noon.Add(time.Second)},
		Selection{Until: noon}, Selection{Since: noon.Add(2 * later)})
	for _, s := range slices.Clone(out) {
		s.GroupBy = AllGroups()
		out = append(out, s)
	}
	return out
}

// within returns the traces of f that were received when s asks for.
func (f *fixture) within(s Selection) (traces []*trie.Trace) {
	in := func(t time.Time) bool { return !t.Before(s.Since) && (s.Until.IsZero() || t.Before(s.Until)) }
	if in(noon) {
		traces = append(traces, f.first...)
	}
	if in(noon.Add(later)) {
		traces = append(traces, f.second...)
	}
	return traces
}

func TestLocal(t *testing.T) {
	f := newFixture(t)
	empty := 0
	for _, sel := range selections() {
		got, err := f.local().Profile(t.Context(), sel, nil)
		if err != nil {
			t.Errorf("%+v: %v", sel, err)
			continue
		}
		want := naive(f.within(sel), sel)
		if len(want) == 0 {
			empty++
		}
		p := got.Profile
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", sel, err)
		}
		if sums := sumsOf(p); !maps.Equal(sums, want) {
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
	if empty == 0 || empty > len(selections())/2 {
		t.Errorf("%d of %d selections are empty", empty, len(selections()))
	}
}

// TestCounts checks the numbers that naive does not know.
func TestCounts(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		sel           Selection
		traces, views int64
		read          uint64
		partitions    int
	}{
		{Selection{Page: "/a"}, 48, 24, 48, 2},
		{Selection{Page: "/a", Until: noon.Add(later)}, 24, 12, 24, 1},
		{Selection{Page: "/b"}, 32, 24, 32, 2},
		{Selection{Page: "/a", Where: having(trie.MakeLabels("release", "r2"))}, 16, 8, 48, 2},
		{Selection{Page: "/a", Where: having(trie.MakeLabels("team", ""))}, 16, 8, 48, 2},
		{Selection{Page: "/a", Where: having(trie.MakeLabels("phase", "typing"))}, 18, 14, 48, 2},
		{Selection{Page: "/a", Where: having(trie.MakeLabels("phase", "nothing"))}, 0, 0, 48, 2},
	} {
		for _, c.sel.GroupBy = range [][]string{nil, AllGroups()} {
			got, err := f.local().Profile(t.Context(), c.sel, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p := got.Profile; p.Traces != c.traces || p.Views != c.views || got.Stats.Traces+got.Stats.RolledUp != c.read || got.Stats.Partitions+got.Stats.Hours != c.partitions {
				t.Errorf("%+v: %d traces, %d views, %+v; want %+v", c.sel, p.Traces, p.Views, got.Stats, c)
			}
		}
	}
}

func TestGroups(t *testing.T) {
	f := newFixture(t)
	groups := func(sel Selection) (out []string) {
		sel.GroupBy = AllGroups()
		got, err := f.local().Profile(t.Context(), sel, nil)
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
	if got, want := groups(Selection{Page: "/b", Where: having(r1)}), []string{
		"feature=edit feature=search page=/b release=r1", "feature=edit page=/b release=r1", "page=/b release=r1",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// What else was at work does not matter to who asks for one feature.
	if got, want := groups(Selection{Feature: "edit", Where: having(r1)}), []string{
		"feature=edit page=/a release=r1", "feature=edit page=/b release=r1",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := groups(Selection{Page: "/suites/charts/dist/chartjs.html"}); !slices.Equal(got, []string{"page=/suites/charts/dist/chartjs.html"}) {
		t.Errorf("without a release: got %q", got)
	}
}

// Traces are counted where they are read one by one, as for labels that sums have not.
func TestProgress(t *testing.T) {
	f := newFixture(t)
	var many []*trie.Trace
	for i := range 2 * progressEvery {
		tr := *f.second[0]
		tr.Context.Page, tr.Context.Spans, tr.Context.ViewID = "/many", nil, fmt.Sprintf("many %d", i)
		many = append(many, &tr)
	}
	f.append(t, 0, many)
	var seen []uint64
	if _, err := f.local().Profile(t.Context(), Selection{Page: "/many", Where: having(trie.MakeLabels("team", ""))}, func(n uint64) { seen = append(seen, n) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []uint64{progressEvery, 2 * progressEvery}) {
		t.Errorf("progress: %v", seen)
	}
}

func TestLocalErrors(t *testing.T) {
	f := newFixture(t)
	since, until := noon, noon.Add(-time.Hour)
	const want = "since (2026-11-21T12:30:00Z) must be before until (2026-11-21T11:30:00Z)"
	if _, err := f.local().Profile(t.Context(), Selection{Since: since, Until: until}, nil); err == nil || err.Error() != want {
		t.Errorf("profile: %v", err)
	}
	if _, err := f.local().Catalog(t.Context(), since, until, 0); err == nil || err.Error() != want {
		t.Errorf("catalogue: %v", err)
	}
	if _, err := f.local().Catalog(t.Context(), since, since, 0); err == nil {
		t.Error("an empty time is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.local().Profile(ctx, Selection{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if storetest.InBucket() {
		return // reading needs nothing that is closed
	}
	if err := f.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.local().Profile(t.Context(), Selection{}, nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("profile of a closed store: %v", err)
	}
	if _, err := f.local().Catalog(t.Context(), time.Time{}, time.Time{}, 0); !errors.Is(err, store.ErrClosed) {
		t.Errorf("catalogue of a closed store: %v", err)
	}
}

// TestUndecodable stores what is no trace: it is left out and reported, and the rest is
// merged all the same.
func TestUndecodable(t *testing.T) {
	f := newFixture(t)
	profile, err := encode.EncodeProfile(trie.NewProfile())
	if err != nil {
		t.Fatal(err)
	}
	for i, payload := range [][]byte{[]byte("hello"), profile} {
		id := store.ID{View: [16]byte{0xff, byte(i)}}
		if _, err := f.store.Append(t.Context(), []store.Record{{ID: id, Pages: []string{"/a"}, Payload: payload}}); err != nil {
			t.Fatal(err)
		}
	}
	sel := Selection{Page: "/a"}
	got, err := f.local().Profile(t.Context(), sel, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := naive(f.within(sel), sel); !maps.Equal(sumsOf(got.Profile), want) || got.Profile.Traces != 48 {
		t.Errorf("got %d traces", got.Profile.Traces)
	}
	if storetest.InBucket() {
		return // who rolls up has counted them, and sums do not know of them
	}
	const want = "2 stored traces can not be decoded, the last: trace ff010000000000000000000000000000/0: it is a profile"
	if !slices.Equal(got.Stats.Warnings, []string{want}) {
		t.Errorf("warnings: %q", got.Stats.Warnings)
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
		"2 stored traces are damaged and left out", "3 acknowledged traces were lost in a crash", "partition P1 can not be read: bad table",
		`partition P2: 4 traces of page "/a" are missing`, "partition P3: 1 traces are missing",
	}
	if w := warnings(s); !slices.Equal(w, want) {
		t.Errorf("got %q, want %q", w, want)
	}
	s.Gaps = make([]store.Gap, 1000)
	if w := warnings(s); len(w) != maxWarnings+1 || w[maxWarnings] != "and 953 more partitions that are not complete" || w[0] != want[0] {
		t.Errorf("%d warnings, the last %q", len(w), w[len(w)-1])
	}
}

func TestCatalog(t *testing.T) {
	f := newFixture(t)
	c, err := f.local().Catalog(t.Context(), time.Time{}, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range c.Entries {
		if e.Page == "/a" {
			got = append(got, fmt.Sprintf("%s %s %d %s %s", e.Kind, e.Name, e.Traces, e.First.Format("15:04"), e.Last.Format("15:04")))
		}
	}
	if want := []string{
		"page /a 48 12:30 13:30", "feature edit 32 12:30 13:30", "feature search 36 12:30 13:30",
		"release r0 16 12:30 13:30", "release r1 16 12:30 13:30", "release r2 16 12:30 13:30",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	pages := c.Pages()
	if len(pages) != 22 || pages[0].Page != "/a" || pages[1].Page != "/b" || pages[0].Traces != 48 || len(c.Warnings) > 0 {
		t.Errorf("%d pages, the first two %+v; %q", len(pages), pages[:2], c.Warnings)
	}
	for i, p := range pages[1:] {
		if p.Kind != "page" || p.Traces > pages[i].Traces || p.Traces == pages[i].Traces && p.Page < pages[i].Page {
			t.Errorf("%+v comes after %+v", p, pages[i])
		}
	}
	if c, err = f.local().Catalog(t.Context(), noon.Add(later/2), time.Time{}, 0); err != nil || len(c.Pages()) != 2 || c.Pages()[0].Traces != 24 {
		t.Errorf("second hour: %+v, %v", c.Pages(), err)
	}
	if c, err = f.local().Catalog(t.Context(), noon.Add(2*later), time.Time{}, 0); err != nil || c.Entries == nil || len(c.Entries) != 0 {
		t.Errorf("nothing: %+v, %v", c, err)
	}
}
