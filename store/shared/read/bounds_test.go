package read

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

var ten = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)

func files(ids ...string) (out []layout.File) {
	for _, id := range ids {
		out = append(out, layout.File{ID: id})
	}
	return out
}

// minutes returns the time n minutes after ten, in µs.
func minutes(n int) int64 { return ten.Add(time.Duration(n) * time.Minute).UnixMicro() }

// testManifest has three hours of a day with traces from minute 5 to 55. The hours of the day
// before have expired.
func testManifest() *layout.Manifest {
	m := &layout.Manifest{
		Instances: map[string]*layout.Consumed{}, Hours: map[string]*layout.Hour{}, Days: map[string]*layout.Day{},
	}
	for i := range 3 {
		name := fmt.Sprintf("20261125T%d", 10+i)
		m.Hours[name] = &layout.Hour{Sealed: true, Rollups: files("sum"), Traces: 2, First: minutes(60*i + 5),
			Last: minutes(60*i + 55)}
		m.Hours[name].Runs = []layout.File{{ID: "run", First: m.Hours[name].First, Last: m.Hours[name].Last}}
	}
	yesterday := -24 * 60
	m.Days["20261124"] = &layout.Day{Rollups: files("day"), Sources: []string{"20261124T10"}, Traces: 9,
		First: minutes(yesterday), Last: minutes(yesterday + 30)}
	return m
}

// planned returns a plan as text: the objects that are read of each hour or day.
func planned(pieces []piece) string {
	var out []string
	for _, p := range pieces {
		word := p.name
		switch {
		case p.isTraces:
			word += fmt.Sprintf(" %d runs", len(p.runs))
		case p.widened:
			word += " widened"
		}
		out = append(out, word)
	}
	return strings.Join(out, ", ")
}

// A query covers [since, until). It reads the rollups of an hour if all traces of the hour are in
// that range, and the traces of an hour that is partly in it.
func TestPlanBounds(t *testing.T) {
	const day = "20261125T10, 20261125T11, 20261125T12"
	at := func(minute int) time.Time { return time.UnixMicro(minutes(minute)) }
	for _, tt := range []struct {
		what         string
		since, until time.Time
		want         string
	}{
		{"all", time.Time{}, time.Time{}, "20261124, " + day},
		{"the day", ten, time.Time{}, day},
		{"up to the last trace of the last hour", ten, at(175), "20261125T10, 20261125T11, 20261125T12 1 runs"},
		{"up to 1 µs after it", ten, at(175).Add(time.Microsecond), day},
		{"up to the first trace of the last hour", ten, at(125), "20261125T10, 20261125T11"},
		{"up to 1 µs after it", ten, at(125).Add(time.Microsecond), "20261125T10, 20261125T11, 20261125T12 1 runs"},
		{"from the first trace of the first hour", at(5), time.Time{}, day},
		{"from 1 µs after it", at(5).Add(time.Microsecond), time.Time{},
			"20261125T10 1 runs, 20261125T11, 20261125T12"},
		{"from the last trace of the first hour", at(55), time.Time{}, "20261125T10 1 runs, 20261125T11, 20261125T12"},
		{"from 1 µs after it", at(55).Add(time.Microsecond), time.Time{}, "20261125T11, 20261125T12"},
		{"a part of a day without hours", at(-24 * 60).Add(time.Microsecond), ten, "20261124 widened"},
		{"from the last trace of that day", at(-24*60 + 30), ten, "20261124 widened"},
		{"from a minute after it", at(-24*60 + 31), ten, ""},
	} {
		if got := planned(planOf(testManifest(), 0, tt.since, tt.until, false)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}

// A day with hours is read only if the query covers all of it. Otherwise its hours are read.
func TestPlanOfPartOfDay(t *testing.T) {
	m := testManifest()
	m.Days["20261125"] = &layout.Day{Rollups: files("day"), Sources: []string{"20261125T10", "20261125T11",
		"20261125T12"},
		Traces: 6, First: minutes(5), Last: minutes(175)}
	for _, tt := range []struct {
		what  string
		until time.Time
		want  string
	}{
		{"all of it", ten.Add(3 * time.Hour), "20261125"},
		{"two of its hours", ten.Add(2 * time.Hour), "20261125T10, 20261125T11"},
		{"up to its last trace", time.UnixMicro(minutes(175)), "20261125T10, 20261125T11, 20261125T12 1 runs"},
	} {
		if got := planned(planOf(m, 0, ten, tt.until, false)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}

// Rows received in [Since, Until) are returned under the page of the query, or else under their
// first page.
func TestRowsOfQuery(t *testing.T) {
	since, until := ten, ten.Add(time.Hour)
	row := func(at time.Time, page string, others ...string) *layout.Row {
		return &layout.Row{Page: page, Others: others, Received: at.UnixMicro(), Payload: []byte("x")}
	}
	for _, tt := range []struct {
		what string
		q    store.Query
		row  *layout.Row
		want bool
	}{
		{"before the beginning", store.Query{}, row(since.Add(-time.Microsecond), "/a"), false},
		{"at the beginning", store.Query{}, row(since, "/a"), true},
		{"before the end", store.Query{}, row(until.Add(-time.Microsecond), "/a"), true},
		{"at the end", store.Query{}, row(until, "/a"), false},
		{"the first of two pages", store.Query{}, row(since, "/a", "/b"), true},
		{"the second of two pages", store.Query{}, row(since, "/b", "/a"), false},
		{"the second of two pages, for a query of that page", store.Query{Page: "/b"}, row(since, "/b", "/a"), true},
		{"the second of two pages, for a query of each page", store.Query{EachPage: true},
			row(since, "/b", "/a"), true},
	} {
		var got []store.Record
		tt.q.Since, tt.q.Until = since, until
		x := &reading{q: tt.q, trace: func(r store.Record) error {
			r.Pages = slices.Clone(r.Pages)
			got = append(got, r)
			return nil
		}}
		if err := x.row(&fetched{piece: piece{name: "20261125T10"}}, tt.row); err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 != tt.want || x.stats.Traces != uint64(len(got)) {
			t.Errorf("%s: got %d records, %d of them counted, want one: %t", tt.what, len(got), x.stats.Traces, tt.want)
		}
		want := slices.Sorted(slices.Values(append(slices.Clone(tt.row.Others), tt.row.Page)))
		if len(got) > 0 && (got[0].Page != tt.row.Page || !slices.Equal(got[0].Pages, want)) {
			t.Errorf("%s: got the pages %q of %q, want %q", tt.what, got[0].Pages, got[0].Page, want)
		}
	}
}

// HasTraces needs the runs of each hour that ever had traces. HasHours needs the hours only.
func TestExistingRollups(t *testing.T) {
	b, err := layout.Create(t.Context(), fakebucket.New(1).Client().Bucket(time.Now), layout.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reader{b: b}
	m := testManifest()
	m.Hours["20261125T11"].Runs = nil
	m.Hours["20261125T13"] = &layout.Hour{Rollups: files("counts")} // page views without a trace
	for _, tt := range []struct {
		what          string
		since, until  time.Time
		traces, hours bool
	}{
		{"an hour with traces", ten, ten.Add(time.Hour), true, true},
		{"an hour without its traces", ten.Add(time.Hour), ten.Add(2 * time.Hour), false, true},
		{"an hour that never had any", ten.Add(3 * time.Hour), ten.Add(4 * time.Hour), true, true},
		{"a day without its hours", ten.Add(-24 * time.Hour), ten, false, false},
		{"a day without its hours, but others of them", ten.Add(-23 * time.Hour), ten, true, true},
		{"up to where traces are missing", ten, ten.Add(time.Hour), true, true},
		{"up to 1 ns later", ten, ten.Add(time.Hour + 1), false, true},
		{"from the end of the missing traces", ten.Add(2 * time.Hour), time.Time{}, true, true},
		{"from 1 ns earlier", ten.Add(2*time.Hour - 1), time.Time{}, false, true},
	} {
		b.Know(0, m, "tag", b.Sequence())
		traces, hours := r.HasTraces(tt.since, tt.until), r.HasHours(tt.since, tt.until)
		if traces != tt.traces || hours != tt.hours {
			t.Errorf("%s: got traces %t and hours %t, want %t and %t", tt.what, traces, hours, tt.traces, tt.hours)
		}
	}
}
