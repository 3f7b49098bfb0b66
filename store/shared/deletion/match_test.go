package deletion

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
)

var (
	since = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	until = since.Add(time.Hour)
)

func matcher(s Selection) *Matcher { return (&Request{Selection: s}).Matcher() }

// A time range includes its start and excludes its end.
func TestRowTime(t *testing.T) {
	m := matcher(Selection{Page: "/a", Since: since, Until: until})
	for _, tt := range []struct {
		at   time.Time
		want bool
	}{{since.Add(-time.Microsecond), false}, {since, true}, {until.Add(-time.Microsecond), true}, {until, false}} {
		all, part, err := m.Row(&layout.Row{Page: "/a", Received: tt.at.UnixMicro()})
		if err != nil || part || all != tt.want {
			t.Errorf("received %s: got %t, %t, %v, want %t", tt.at.Format("15:04:05.000000"), all, part, err, tt.want)
		}
	}
}

// A deletion reads rollups that overlap its time range, and deletes rollups that lie within it.
func TestRollupTime(t *testing.T) {
	traces := matcher(Selection{Page: "/a", Since: since, Until: until})
	labels := matcher(Selection{Labels: map[string]string{"tenant": "x"}, Since: since, Until: until})
	const us = time.Microsecond
	for _, tt := range []struct {
		first, last      time.Duration // after since
		overlaps, covers bool
	}{
		{-2 * us, -us, false, false},
		{-us, 0, true, false},
		{0, 0, true, true},
		{0, time.Hour - us, true, true},
		{0, time.Hour, true, false},
		{time.Hour - us, time.Hour, true, false},
		{time.Hour, time.Hour + us, false, false},
	} {
		first, last := since.Add(tt.first).UnixMicro(), since.Add(tt.last).UnixMicro()
		if got := traces.Overlaps(first, last); got != tt.overlaps {
			t.Errorf("from %v to %v: overlaps: got %t, want %t", tt.first, tt.last, got, tt.overlaps)
		}
		if got := traces.Covers(first, last); got != tt.covers {
			t.Errorf("from %v to %v: covers: got %t, want %t", tt.first, tt.last, got, tt.covers)
		}
		if labels.Covers(first, last) || labels.OfVitals(first, last) != tt.covers {
			t.Errorf("from %v to %v: vitals with labels: got %t, want %t", tt.first, tt.last, !tt.covers, tt.covers)
		}
	}
}

// rowOf returns a row of /a. Its trace spends 100 ms on /a, then 100 ms on /b, and has labels of
// the context and of a span on /a.
func rowOf(t *testing.T) *layout.Row {
	t.Helper()
	x := &trie.Trace{Trie: *trie.New()}
	x.Context.Page, x.Context.Interval, x.Context.Release, x.Context.Environment = "/a", 10_000, "r1", "production"
	x.Context.Labels = trie.MakeLabels("tenant", "t1")
	x.Context.Spans = []trie.Span{
		{Kind: trie.SpanLabel, Name: "user=u1", Start: 20_000, Length: 10_000},
		{Kind: trie.SpanPage, Name: "/b", Start: 100_000, Length: 1_000_000},
	}
	trie.SortSpans(x.Context.Spans)
	of := map[bool]trie.NodeID{false: x.Insert(trie.Frame{Name: "inA"}), true: x.Insert(trie.Frame{Name: "inB"})}
	for at := int64(0); at <= 200_000; at += 20_000 {
		x.Samples = append(x.Samples, trie.Sample{Time: at, Node: of[at >= 100_000]})
	}
	payload, err := encode.EncodeTrace(x)
	if err != nil {
		t.Fatal(err)
	}
	id := store.ID{View: [16]byte{0xab}}
	return &layout.Row{Page: "/a", Others: []string{"/b"}, ID: id, Received: since.UnixMicro(), Payload: payload}
}

// A row matches as a whole if its own page matches, and in part if another of its pages matches.
// All conditions of the selection must hold.
func TestRowSelection(t *testing.T) {
	row := rowOf(t)
	const view, other = "ab000000000000000000000000000000", "ac000000000000000000000000000000"
	labels := func(key, value string) map[string]string { return map[string]string{key: value} }
	for _, tt := range []struct {
		what      string
		s         Selection
		all, part bool
	}{
		{"its page", Selection{Page: "/a"}, true, false},
		{"another of its pages", Selection{Page: "/b"}, false, true},
		{"a page that the trace lacks", Selection{Page: "/c"}, false, false},
		{"its view", Selection{Views: []string{view}}, true, false},
		{"another view", Selection{Views: []string{other}}, false, false},
		{"its view on its page", Selection{Page: "/a", Views: []string{view}}, true, false},
		{"its view on another of its pages", Selection{Page: "/b", Views: []string{view}}, false, true},
		{"another view on its page", Selection{Page: "/a", Views: []string{other}}, false, false},
		{"another view on another of its pages", Selection{Page: "/b", Views: []string{other}}, false, false},
		{"a label of its context", Selection{Labels: labels("tenant", "t1")}, true, false},
		{"a label of its context with another value", Selection{Labels: labels("tenant", "t2")}, false, false},
		{"a label of a span", Selection{Labels: labels("user", "u1")}, true, false},
		{"a label of a span with another value", Selection{Labels: labels("user", "u2")}, false, false},
		{"two labels", Selection{Labels: map[string]string{"tenant": "t1", "user": "u1"}}, true, false},
		{"one label of two", Selection{Labels: map[string]string{"tenant": "t1", "user": "u2"}}, false, false},
		{"its release", Selection{Labels: labels("release", "r1")}, true, false},
		{"another release", Selection{Labels: labels("release", "r2")}, false, false},
		{"its environment", Selection{Labels: labels("environment", "production")}, true, false},
		{"a label on its other page", Selection{Page: "/b", Labels: labels("tenant", "t1")}, false, true},
	} {
		all, part, err := matcher(tt.s).Row(row)
		if err != nil || all != tt.all || part != tt.part {
			t.Errorf("%s: got %t, %t, %v, want %t, %t", tt.what, all, part, err, tt.all, tt.part)
		}
	}
}

// Web Vitals match by label, and never by page view.
func TestVitalSelection(t *testing.T) {
	l := trie.MakeLabels("device", "mobile", "release", "r1")
	for _, tt := range []struct {
		s    Selection
		want bool
	}{
		{Selection{Labels: map[string]string{"device": "mobile"}}, true},
		{Selection{Labels: map[string]string{"device": "mobile", "release": "r1"}}, true},
		{Selection{Labels: map[string]string{"device": "mobile", "release": "r2"}}, false},
		{Selection{Labels: map[string]string{"device": "mobile"}, Views: []string{"ab000000000000000000000000000000"}},
			false},
	} {
		if got := matcher(tt.s).Vital(l); got != tt.want {
			t.Errorf("%+v: got %t, want %t", tt.s, got, tt.want)
		}
	}
}

// A selection must have a condition, and a time range must not be empty.
func TestCheckSelection(t *testing.T) {
	const us = time.Microsecond
	for _, tt := range []struct {
		what string
		s    Selection
		ok   bool
	}{
		{"an empty selection", Selection{}, false},
		{"a page", Selection{Page: "/a"}, true},
		{"a page and a site", Selection{Page: "/a", Site: "shop"}, false},
		{"a start", Selection{Since: since}, true},
		{"only an end", Selection{Until: since}, true},
		{"1 µs", Selection{Since: since, Until: since.Add(us)}, true},
		{"an empty time range", Selection{Since: since, Until: since}, false},
		{"an end before the start", Selection{Since: since, Until: since.Add(-us)}, false},
		{"a view", Selection{Views: []string{"ab000000000000000000000000000000"}}, true},
		{"a part of a view's id", Selection{Views: []string{"ab00000000000000000000000000"}}, false},
		{"a label without a value", Selection{Labels: map[string]string{"tenant": ""}}, false},
	} {
		if err := tt.s.Check(); (err == nil) != tt.ok {
			t.Errorf("%s: got %v, want an error: %t", tt.what, err, !tt.ok)
		}
	}
}
