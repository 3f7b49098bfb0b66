package pyroscope

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	googlev1 "github.com/fieldtrie/fieldtrie/proto/google/v1"
	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/trie"
)

func text(labels []*typesv1.LabelPair) string {
	var parts []string
	for _, l := range labels {
		parts = append(parts, l.Name+"="+l.Value)
	}
	return strings.Join(parts, " ")
}

func TestLabels(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	var types querierv1.ProfileTypesResponse
	f.call(t, "ProfileTypes", &querierv1.ProfileTypesRequest{}, &types)
	if len(types.ProfileTypes) != 2 || types.ProfileTypes[0].ID != wall || types.ProfileTypes[1].SampleUnit != "count" {
		t.Errorf("types: %v", &types)
	}
	names := func(matchers ...string) string {
		var a typesv1.LabelNamesResponse
		f.call(t, "LabelNames", &typesv1.LabelNamesRequest{Matchers: matchers, Start: start, End: end}, &a)
		return strings.Join(a.Names, " ")
	}
	values := func(name string, matchers ...string) string {
		var a typesv1.LabelValuesResponse
		f.call(t, "LabelValues", &typesv1.LabelValuesRequest{Name: name, Matchers: matchers, Start: start,
			End: end}, &a)
		return strings.Join(a.Names, " ")
	}
	for _, test := range [][2]string{
		{names(), "browser feature page release service_name"},
		{names(wall + `{page="/a"}`), "feature page release service_name"},
		{names(`{page="/none"}`), ""},
		{values("release", `{}`), "r0 r1 r2"},
		{values("release", `{page="/a",release!="r1"}`), "r0 r2"},
		{values("release", `{release="r0"}`, `{release="r2"}`), "r0 r2"},
		{values("page", `{page=~"/[ab]"}`), "/a /b"},
		{values("feature", `{service_name="shop"}`), "search"},
		{values("feature", `{service_name="other"}`), ""},
		{values("service_name"), "shop"},
		{values("service_name", `{page="/none"}`), ""},
		{values("__profile_type__"), samples + " " + wall},
		{values("__profile_type__", wall+"{}"), wall},
		{values("__session_id__"), ""},
		{values("colour"), ""},
	} {
		if test[0] != test[1] {
			t.Errorf("got %q, want %q", test[0], test[1])
		}
	}
}

func TestSeriesOfLabels(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	series := func(matcher string, names ...string) string {
		var a querierv1.SeriesResponse
		f.call(t, "Series", &querierv1.SeriesRequest{Matchers: []string{matcher}, LabelNames: names, Start: start,
			End: end}, &a)
		var all []string
		for _, s := range a.LabelsSet {
			all = append(all, text(s.Labels))
		}
		slices.Sort(all)
		return strings.Join(all, "; ")
	}
	for _, test := range [][2]string{
		{series(`{page="/a"}`, "release", "page"), "page=/a release=r0; page=/a release=r1; page=/a release=r2"},
		{series(`{}`, "service_name", "__profile_type__"), "__profile_type__=" + samples +
			" service_name=shop; __profile_type__=" + wall + " service_name=shop"},
		{series(`{service_name!="shop"}`, "page"), ""},
	} {
		if test[0] != test[1] {
			t.Errorf("got %q, want %q", test[0], test[1])
		}
	}
	if got := series(`{page="/a",release="r0"}`); !strings.Contains(got, "page=/a release=r0 service_name=shop") {
		t.Errorf("without names: %q", got)
	}
}

func TestSelectSeries(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	for i, id := range []string{wall, samples} {
		for _, groupBy := range [][]string{nil, {"page"}, {"page", "release"}} {
			var got querierv1.SelectSeriesResponse
			f.call(t, "SelectSeries", &querierv1.SelectSeriesRequest{
				ProfileTypeID: id, LabelSelector: "{}", Start: start, End: end, Step: 3600, GroupBy: groupBy,
			}, &got)
			want, err := f.local.Series(t.Context(),
				query.SeriesQuery{Selection: selection.Selection{GroupBy: groupBy}})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Series) != len(want.Groups) || len(got.Series) == 0 {
				t.Fatalf("%d lines, want %d", len(got.Series), len(want.Groups))
			}
			sums := map[string]float64{}
			for _, s := range got.Series {
				for _, p := range s.Points {
					sums[text(s.Labels)] += p.Value
				}
			}
			for _, g := range want.Groups {
				key := text(pairs(g.Labels))
				if v := profileTypes()[i].ofPoint(g.Points[0]); sums[key] != v || v == 0 {
					t.Errorf("%s by %v: %q has %v, want %v", id, groupBy, key, sums[key], v)
				}
			}
		}
	}
	one := int64(1)
	var got querierv1.SelectSeriesResponse
	f.call(t, "SelectSeries", &querierv1.SelectSeriesRequest{
		ProfileTypeID: wall, LabelSelector: `{page=~"/[ab]"}`, Start: start, End: end, Step: 3600,
		GroupBy: []string{"page", "service_name"}, Limit: &one,
	}, &got)
	if len(got.Series) != 1 || text(got.Series[0].Labels) != "page=/a service_name=shop" {
		t.Fatalf("%v", &got)
	}
	// Two hours have data, and two hours between them are set to zero.
	if p := got.Series[0].Points; len(p) != 4 || p[1].Value != 0 || p[2].Value != 0 || p[3].Timestamp != p[0].Timestamp+
		3*3600_000 {
		t.Errorf("%v", p)
	}
	mean := typesv1.TimeSeriesAggregationType_TIME_SERIES_AGGREGATION_TYPE_AVERAGE
	f.call(t, "SelectSeries", &querierv1.SelectSeriesRequest{
		ProfileTypeID: wall, LabelSelector: `{page="/a"}`, Start: start, End: end, Step: 86400, Aggregation: &mean,
	}, &got)
	report, err := f.local.Series(t.Context(), query.SeriesQuery{Selection: selection.Selection{Page: "/a"}})
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Series[0].Points[0].Value; math.Abs(v/1e6-report.Groups[0].Points[0].Mean) > 1e-6 {
		t.Errorf("the mean is %v ns, want %v ms", v, report.Groups[0].Points[0].Mean)
	}
}

// If a point covers more time than the requested step, its rate is the mean over its time up to
// now.
func TestScale(t *testing.T) {
	s := steps{asked: 15 * time.Second, step: time.Hour, end: noon.Add(time.Hour)} // half past one
	s.Since = noon                                                                 // half past twelve
	for hour, want := range map[int]float64{12: 15.0 / 1800, 13: 15.0 / 1800} {
		if got := s.scale(query.Point{Time: time.Date(2026, 11, 21, hour, 0, 0, 0, time.UTC)}); got != want {
			t.Errorf("hour %d: %v, want %v", hour, got, want)
		}
	}
	s.Since, s.asked = noon.Add(-5*time.Hour), 2*time.Hour
	if got := s.scale(query.Point{Time: noon}); got != 1 {
		t.Errorf("a point of the requested length is multiplied by %v", got)
	}
	for asked, want := range map[time.Duration]time.Duration{
		time.Millisecond: time.Second, 7 * time.Second: 8 * time.Second, 15 * time.Second: 15 * time.Second,
		87 * time.Second:        90 * time.Second,
		time.Hour - time.Second: time.Hour, time.Hour: time.Hour, 61 * time.Minute: 2 * time.Hour,
		24 * time.Hour: 24 * time.Hour,
	} {
		if got := wholeStep(asked); got != want {
			t.Errorf("a step of %s becomes %s, want %s", asked, got, want)
		}
	}
	// If there are too many steps, they become longer.
	f := newFixture(t)
	end := f.now
	var got querierv1.SelectSeriesResponse
	f.call(t, "SelectSeries", &querierv1.SelectSeriesRequest{
		ProfileTypeID: wall, LabelSelector: "{}", Start: end.Add(-90 * 24 * time.Hour).UnixMilli(),
		End: end.UnixMilli(), Step: 15,
	}, &got)
	if n := len(got.Series[0].Points); n == 0 || n > maxColumns {
		t.Errorf("%d points", n)
	}
}

// hourly is a source with hourly rollups.
type hourly struct {
	query.Source
	points []query.Point
}

func (h hourly) Series(context.Context, query.SeriesQuery) (query.Series, error) {
	return query.Series{Step: 3600, Groups: []query.SeriesGroup{{Points: h.points}}}, nil
}

// A client that divides by the requested step gets the rate of each hour, including the current
// one.
func TestHourlyRate(t *testing.T) {
	now := noon
	hour := func(h int, seconds int64) query.Point {
		return query.Point{Time: time.Date(2026, 11, 21, h, 0, 0, 0, time.UTC), Self: seconds * 1e6}
	}
	src := hourly{points: []query.Point{hour(3, 7200), hour(11, 3600), hour(12, 900)}}
	a := &backend{src: src, opts: Options{Now: func() time.Time { return now }}.WithDefaults()}
	got, err := a.selectSeries(t.Context(), &querierv1.SelectSeriesRequest{
		ProfileTypeID: wall, Start: now.Add(-24 * time.Hour).UnixMilli(), End: now.UnixMilli(), Step: 15,
	})
	if err != nil {
		t.Fatal(err)
	}
	var rates []float64 // in seconds per second, like Grafana's
	for _, p := range got.Series[0].Points {
		rates = append(rates, p.Value/1e9/15)
	}
	if !slices.Equal(rates, []float64{2, 0, 0, 1, 0.5}) {
		t.Errorf("the rates are %v", rates)
	}
}

func TestSelectHeatmap(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	var got querierv1.SelectHeatmapResponse
	f.call(t, "SelectHeatmap", &querierv1.SelectHeatmapRequest{
		ProfileTypeID: wall, LabelSelector: `{page=~"/[ab]"}`, Start: start, End: end, Step: 3600,
		GroupBy:   []string{"page"},
		QueryType: querierv1.HeatmapQueryType_HEATMAP_QUERY_TYPE_INDIVIDUAL,
	}, &got)
	want, err := f.local.Series(t.Context(),
		query.SeriesQuery{Selection: selection.Selection{GroupBy: []string{"page"}}, Histogram: true})
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]int64{}
	for _, g := range want.Groups {
		views["page="+g.Labels["page"]] = g.Points[0].Views
	}
	if len(got.Series) != 2 {
		t.Fatalf("%v", &got)
	}
	for _, s := range got.Series {
		sum := int64(0)
		for _, slot := range s.Slots {
			if len(slot.YMin) != len(slot.Counts) || !slices.IsSorted(slot.YMin) ||
				slot.Counts[len(slot.Counts)-1] != 0 || slot.Timestamp%3600_000 != 0 {
				t.Errorf("%v", slot)
			}
			// These traces last at most 0.1 s.
			if top := slot.YMin[len(slot.YMin)-1]; top > 200e6 || top < 10e6 {
				t.Errorf("cells end at %v ns", top)
			}
			for _, c := range slot.Counts {
				sum += int64(c)
			}
		}
		if key := text(s.Labels); sum != views[key] || sum == 0 || len(s.Slots) != 2 {
			t.Errorf("%s: %d views in %d columns, want %d", key, sum, len(s.Slots), views[key])
		}
	}
	slot := slotOf(query.Point{Histogram: []query.HistogramBar{{Low: 0, High: 0.5, Count: 1}, {Low: 2, High: 2.1,
		Count: 2}, {Low: 1e9, High: 2e9, Count: math.MaxInt64}}}, 0)
	if n := len(slot.Counts); slot.Counts[0] != 1 || slot.YMin[0] != 0 || slot.Counts[3] != 2 || slot.YMin[3] != 2e6 ||
		slot.Counts[n-2] != math.MaxInt32 || slot.Counts[n-1] != 0 {
		t.Errorf("%v", slot)
	}
}

func TestSelectMergeProfile(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	p := f.profileOf(t, selection.Selection{Page: "/a"})
	want := profileTypes()[0].ofWeight(p.Totals(first(p.Flat()))[trie.Root])
	body := fmt.Sprintf(`{"profileTypeID":%q,"labelSelector":"{page=\"/a\"}","start":"%d","end":"%d"`, wall, start, end)

	var wire googlev1.Profile
	f.call(t, "SelectMergeProfile", &querierv1.SelectMergeProfileRequest{ProfileTypeID: wall,
		LabelSelector: `{page="/a"}`, Start: start, End: end}, &wire)
	_, raw := f.post(t, "SelectMergeProfile", "application/json", body+"}")
	var asJSON googlev1.Profile
	if err := protojson.Unmarshal([]byte(raw), &asJSON); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(raw, " ", ""), `"stringTable":["",`) ||
		!strings.Contains(raw, `"locationId"`) {
		t.Errorf("%.300s", raw)
	}
	sum := func(p *googlev1.Profile, i int) (sum int64) {
		for _, s := range p.Sample {
			sum += s.Value[i]
		}
		return sum
	}
	if got := sum(&wire, 2); got != want || len(wire.SampleType) != 3 {
		t.Errorf("the pprof profile has %d ns, want %d", got, want)
	}
	if got := sum(&asJSON, 0); got != want || len(asJSON.SampleType) != 1 ||
		asJSON.StringTable[asJSON.SampleType[0].Type] != "wall" {
		t.Errorf("the JSON has %d ns, want %d", got, want)
	}

	// The bytes are a valid pprof profile.
	_, data := f.post(t, "SelectMergeProfile", "application/json",
		body+`,"stackTraceSelector":{"callSite":[{"name":"main app.js:1:1"}]}}`)
	var some googlev1.Profile
	if err := protojson.Unmarshal([]byte(data), &some); err != nil {
		t.Fatal(err)
	}
	if got := sum(&some, 0); got == 0 || got >= want || !slices.Contains(some.StringTable, "t app.js:1:20") ||
		slices.Contains(some.StringTable, "u lib.js:1:5") {
		t.Errorf("main has %d ns: %q", got, some.StringTable)
	}
	media := "application/proto"
	if status, data := f.post(t, "SelectMergeProfile", media, "\x0a\x26"+wall); status != 200 {
		t.Errorf("%d %s", status, data)
	} else if q, err := pprof.Decode([]byte(data), encode.FileLimits()); err != nil || q.Views == 0 {
		t.Errorf("%v: %v", q, err)
	}
	var merged querierv1.SelectMergeStacktracesResponse
	f.call(t, "SelectMergeStacktraces", &querierv1.SelectMergeStacktracesRequest{
		ProfileTypeID: wall, LabelSelector: `{page="/a"}`, Start: start, End: end,
		Format: querierv1.ProfileFormat_PROFILE_FORMAT_PPROF,
	}, &merged)
	if got := sum(merged.GetPprof().GetProfile(), 0); got != want {
		t.Errorf("the format pprof has %d ns, want %d", got, want)
	}
}

func first[A, B any](a A, _ B) A { return a }

// near reports whether ms is a time within the precision of stores.
func near(ms int64, at time.Time) bool { return time.UnixMilli(ms).Sub(at).Abs() < time.Second }

func TestProfileStats(t *testing.T) {
	f := newFixture(t)
	var got typesv1.GetProfileStatsResponse
	f.call(t, "GetProfileStats", &typesv1.GetProfileStatsRequest{}, &got)
	if !got.DataIngested || !near(got.OldestProfileTime, noon) || !near(got.NewestProfileTime, noon.Add(3*time.Hour)) {
		t.Errorf("%v", &got)
	}
	if status, body := f.post(t, "/settings.v1.SettingsService/Get", "application/json", "{}"); status != 200 ||
		body != "{}" {
		t.Errorf("settings: %d %s", status, body)
	}
}

func TestRender(t *testing.T) {
	f := newFixture(t)
	for id, units := range map[string]string{wall: "samples", samples: "objects"} {
		var got rendered
		f.get(t, "/pyroscope/render?query="+url.QueryEscape(id+`{page="/a"}`)+
			"&from=now-5h&until=now&groupBy=release&max-nodes=0", &got)
		totals, err := rebuild(got.Flamebearer.Names, got.Flamebearer.Levels, 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		sum := func(l *line) (sum int64) {
			for _, v := range l.Samples {
				sum += v
			}
			return sum
		}
		groups := int64(0)
		for _, l := range got.Groups {
			groups += sum(l)
		}
		if n := got.Flamebearer.NumTicks; n == 0 || totals[""] != n || sum(got.Timeline) != n || groups != n ||
			len(got.Groups) != 3 {
			t.Errorf("%d of all, %d in the timeline, %d in %d groups", n, sum(got.Timeline), groups, len(got.Groups))
		}
		if got.Metadata.Units != units || got.Metadata.Format != "single" || got.Version != 1 ||
			got.Timeline.DurationDelta < 15 {
			t.Errorf("%+v", got.Metadata)
		}
	}
	// JSON numbers are not encoded as strings.
	var raw bytes.Buffer
	empty := rendered{Flamebearer: newStacks(trie.NewProfile(), 0, profileTypes()[0]).layOut().flamebearer()}
	if err := json.NewEncoder(&raw).Encode(empty); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(raw.String(),
		`"flamebearer":{"names":["total"],"levels":[[0,0,0,0]],"numTicks":0,"maxSelf":0}`) {
		t.Error(raw.String())
	}
}

func TestTimes(t *testing.T) {
	now := noon
	a := &backend{opts: Options{Now: func() time.Time { return now }}.WithDefaults()}
	ms := func(at time.Time) int64 { return at.UnixMilli() }
	at := func(h, m int) time.Time { return time.Date(2026, 11, 21, h, m, 0, 0, time.UTC) }
	for _, test := range []struct {
		start, end   int64
		since, until time.Time
	}{
		{ms(at(11, 7)), ms(now), at(11, 7), time.Time{}},
		{ms(at(11, 7)), ms(now.Add(time.Hour)), at(11, 7), time.Time{}},
		{ms(at(11, 7)), ms(now.Add(-time.Minute)), at(11, 7), time.Time{}},
		{ms(at(11, 7)), ms(at(12, 20)), at(11, 7), at(12, 20)},
		{ms(at(3, 59)), ms(at(12, 20)), at(3, 0), at(12, 20)},
		{ms(at(3, 59)), ms(at(9, 58)), at(3, 59), at(9, 58)},
		{0, 0, at(12, 0).Add(-24 * time.Hour), time.Time{}},
		{0, ms(at(10, 5)), at(10, 0).Add(-24 * time.Hour), at(10, 5)},
		{ms(at(10, 5)), ms(at(10, 5)), at(10, 5), at(10, 5).Add(time.Millisecond)},
	} {
		since, until, err := a.times(test.start, test.end)
		if err != nil || !since.Equal(test.since) || !until.Equal(test.until) {
			t.Errorf("%d to %d: %s to %s, %v", test.start, test.end, since, until, err)
		}
	}
	for text, want := range map[string]time.Time{
		"now": now, "now-1h": now.Add(-time.Hour), "now-7d": now.Add(-7 * 24 * time.Hour), "": at(0, 0),
		"1763723400": time.Unix(1763723400, 0), "1763723400000": time.Unix(1763723400, 0),
		"1763723400000000000":  time.Unix(1763723400, 0),
		"2026-11-21T10:00:00Z": at(10, 0),
	} {
		if got, err := parseMoment(text, now, at(0, 0)); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s, want %s: %v", text, got, want, err)
		}
	}
}
