package pyroscope

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	googlev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	settingsv1 "github.com/grafana/pyroscope/api/gen/proto/go/settings/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/settings/v1/settingsv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
	"google.golang.org/protobuf/proto"
)

const (
	wall    = "wall:wall:nanoseconds:wall:nanoseconds"
	samples = "wall:samples:count:wall:nanoseconds"
	querier = "/querier.v1.QuerierService/"
)

// asked is a daemon, with the time range of the queries.
type asked struct {
	*daemon
	start, end int64
	total      int64 // ns of all stored traces, from the daemon's own API
}

func newAsked(t *testing.T) *asked {
	t.Helper()
	a := &asked{daemon: startDaemon(t), start: time.Now().Add(-time.Hour).UnixMilli(), end: time.Now().UnixMilli()}
	var tree struct {
		Total int64 `json:"total_us"`
	}
	if err := json.Unmarshal(a.get(t, "/api/v1/tree"), &tree); err != nil {
		t.Fatal(err)
	}
	if a.total = 1000 * tree.Total; a.total == 0 {
		t.Fatal("no trace is stored")
	}
	return a
}

// All queries of the generated client are answered, in both encodings.
func TestClient(t *testing.T) {
	a := newAsked(t)
	for name, options := range map[string][]connect.ClientOption{
		"proto": nil, "gzip": {connect.WithSendGzip()}, "json": {connect.WithProtoJSON()},
	} {
		t.Run(name, func(t *testing.T) {
			c := querierv1connect.NewQuerierServiceClient(a.client, a.private, options...)
			a.testLabels(t, c)
			a.testSeries(t, c)
			a.testFlameGraph(t, c)
			a.testProfile(t, c)
			a.testUnimplemented(t, c)
			settings, err := settingsv1connect.NewSettingsServiceClient(a.client, a.private, options...).
				Get(t.Context(), connect.NewRequest(&settingsv1.GetSettingsRequest{}))
			if err != nil || len(settings.Msg.Settings) != 0 {
				t.Errorf("settings: %v %v", settings, err)
			}
		})
	}
	t.Run("raw", a.testRaw)
	t.Run("drilldown", a.testDrilldown)
	t.Run("access", a.testAccess)
}

// must returns the message of a response.
func must[A any](t *testing.T) func(*connect.Response[A], error) *A {
	return func(r *connect.Response[A], err error) *A {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r.Msg
	}
}

func (a *asked) testLabels(t *testing.T, c querierv1connect.QuerierServiceClient) {
	types := must[querierv1.ProfileTypesResponse](t)(c.ProfileTypes(t.Context(),
		connect.NewRequest(&querierv1.ProfileTypesRequest{})))
	if len(types.ProfileTypes) != 2 || types.ProfileTypes[0].ID != wall || types.ProfileTypes[1].ID != samples {
		t.Errorf("types: %v", types)
	}
	for _, x := range types.ProfileTypes {
		if id := strings.Join([]string{x.Name, x.SampleType, x.SampleUnit, x.PeriodType, x.PeriodUnit},
			":"); id != x.ID {
			t.Errorf("%s has the parts of %s", x.ID, id)
		}
	}
	names := must[typesv1.LabelNamesResponse](t)(c.LabelNames(t.Context(),
		connect.NewRequest(&typesv1.LabelNamesRequest{
			Matchers: []string{"{}"}, Start: a.start, End: a.end,
		})))
	for _, want := range []string{"page", "release", "service_name"} {
		if !slices.Contains(names.Names, want) {
			t.Errorf("%s is not among %v", want, names.Names)
		}
	}
	values := must[typesv1.LabelValuesResponse](t)(c.LabelValues(t.Context(),
		connect.NewRequest(&typesv1.LabelValuesRequest{
			Name: "page", Matchers: []string{`{release=~"2026.*"}`}, Start: a.start, End: a.end,
		})))
	if !slices.Equal(values.Names, []string{"/feed", "/shop"}) {
		t.Errorf("pages: %v", values.Names)
	}
	sets := must[querierv1.SeriesResponse](t)(c.Series(t.Context(), connect.NewRequest(&querierv1.SeriesRequest{
		LabelNames: []string{"service_name", "__profile_type__"}, Start: a.start, End: a.end,
	})))
	if len(sets.LabelsSet) != 2 || sets.LabelsSet[0].Labels[1].Value != "shop" {
		t.Errorf("series: %v", sets)
	}
	stats := must[typesv1.GetProfileStatsResponse](t)(c.GetProfileStats(t.Context(),
		connect.NewRequest(&typesv1.GetProfileStatsRequest{})))
	if !stats.DataIngested || stats.OldestProfileTime < a.start || stats.NewestProfileTime < stats.OldestProfileTime {
		t.Errorf("stats: %v", stats)
	}
}

func (a *asked) testSeries(t *testing.T, c querierv1connect.QuerierServiceClient) {
	series := must[querierv1.SelectSeriesResponse](t)(c.SelectSeries(t.Context(),
		connect.NewRequest(&querierv1.SelectSeriesRequest{
			ProfileTypeID: wall, LabelSelector: `{service_name="shop"}`, Start: a.start, End: a.end, Step: 15,
			GroupBy: []string{"page"},
		})))
	sum := 0.0
	for _, s := range series.Series {
		for _, p := range s.Points {
			sum += p.Value
		}
	}
	if len(series.Series) != 2 || math.Abs(sum-float64(a.total)) > 1 {
		t.Errorf("%d lines of %v ns, want 2 of %d", len(series.Series), sum, a.total)
	}
	heat := must[querierv1.SelectHeatmapResponse](t)(c.SelectHeatmap(t.Context(),
		connect.NewRequest(&querierv1.SelectHeatmapRequest{
			ProfileTypeID: wall, LabelSelector: "{}", Start: a.start, End: a.end, Step: 60,
			QueryType: querierv1.HeatmapQueryType_HEATMAP_QUERY_TYPE_INDIVIDUAL,
		})))
	views := int32(0)
	for _, s := range heat.Series {
		for _, slot := range s.Slots {
			for _, n := range slot.Counts {
				views += n
			}
		}
	}
	if views != 4 {
		t.Errorf("%d page views in the heat map, want 4", views)
	}
}

func (a *asked) testFlameGraph(t *testing.T, c querierv1connect.QuerierServiceClient) {
	all := int64(1 << 20)
	request := func(selector string) *querierv1.SelectMergeStacktracesRequest {
		return &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: wall, LabelSelector: selector, Start: a.start,
			End: a.end, MaxNodes: &all}
	}
	g := must[querierv1.SelectMergeStacktracesResponse](t)(c.SelectMergeStacktraces(t.Context(),
		connect.NewRequest(request("{}")))).Flamegraph
	if g.Names[0] != "total" || g.Total != a.total || len(g.Levels) < 5 || !slices.Equal(g.Levels[0].Values[:2],
		[]int64{0, a.total}) {
		t.Errorf("%d levels, %d ns, the root is %q %v", len(g.Levels), g.Total, g.Names[0], g.Levels[0])
	}
	self := int64(0)
	for _, l := range g.Levels {
		for i := 2; i < len(l.Values); i += 4 {
			self += l.Values[i]
		}
	}
	if self != a.total {
		t.Errorf("the self values are %d ns, want %d", self, a.total)
	}
	none := must[querierv1.SelectMergeStacktracesResponse](t)(c.SelectMergeStacktraces(t.Context(),
		connect.NewRequest(request(`{page="/none"}`)))).Flamegraph
	if none == nil || !slices.Equal(none.Names, []string{"total"}) || len(none.Levels) != 1 ||
		!slices.Equal(none.Levels[0].Values, []int64{0, 0, 0, 0}) {
		t.Errorf("an empty selection returned %v", none)
	}
	diff := must[querierv1.DiffResponse](t)(c.Diff(t.Context(), connect.NewRequest(&querierv1.DiffRequest{
		Left: request(`{release="2026.11.1"}`), Right: request(`{release="2026.11.2"}`),
	}))).Flamegraph
	if diff.LeftTicks+diff.RightTicks != a.total || diff.LeftTicks == 0 || diff.RightTicks == 0 ||
		len(diff.Levels[0].Values) != 7 {
		t.Errorf("%d and %d ns, want %d together", diff.LeftTicks, diff.RightTicks, a.total)
	}
}

func (a *asked) testProfile(t *testing.T, c querierv1connect.QuerierServiceClient) {
	p := must[querierv1.SelectMergeStacktracesResponse](t)(c.SelectMergeStacktraces(t.Context(),
		connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{
			ProfileTypeID: wall, LabelSelector: "{}", Start: a.start, End: a.end,
			Format: querierv1.ProfileFormat_PROFILE_FORMAT_PPROF,
		}))).Pprof.Profile
	sum := int64(0)
	for _, s := range p.Sample {
		sum += s.Value[0]
	}
	if sum != a.total {
		t.Errorf("the pprof profile has %d ns, want %d", sum, a.total)
	}
	whole := must[googlev1.Profile](t)(c.SelectMergeProfile(t.Context(),
		connect.NewRequest(&querierv1.SelectMergeProfileRequest{
			ProfileTypeID: wall, LabelSelector: "{}", Start: a.start, End: a.end,
		})))
	wallAt := -1
	for i, v := range whole.SampleType {
		if whole.StringTable[v.Type] == "wall" {
			wallAt = i
		}
	}
	sum = 0
	for _, s := range whole.Sample {
		sum += s.Value[wallAt]
	}
	if sum != a.total {
		t.Errorf("the profile has %d ns, want %d", sum, a.total)
	}
}

func (a *asked) testUnimplemented(t *testing.T, c querierv1connect.QuerierServiceClient) {
	_, err := c.SelectMergeSpanProfile(t.Context(), connect.NewRequest(&querierv1.SelectMergeSpanProfileRequest{}))
	if connect.CodeOf(err) != connect.CodeUnimplemented {
		t.Errorf("spans: %v", err)
	}
	_, err = c.AnalyzeQuery(t.Context(), connect.NewRequest(&querierv1.AnalyzeQueryRequest{}))
	if connect.CodeOf(err) != connect.CodeUnimplemented {
		t.Errorf("analyze: %v", err)
	}
	_, err = c.SelectSeries(t.Context(), connect.NewRequest(&querierv1.SelectSeriesRequest{ProfileTypeID: wall,
		LabelSelector: "{page=", Step: 15}))
	if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "byte 7") {
		t.Errorf("an invalid selector: %v", err)
	}
}

// The requests of Grafana's data source, byte for byte as its client sends them.
func (a *asked) testRaw(t *testing.T) {
	for method, message := range map[string]proto.Message{
		"ProfileTypes": &querierv1.ProfileTypesRequest{},
		"LabelNames": &typesv1.LabelNamesRequest{Matchers: []string{wall + "{}"}, Start: a.start,
			End: a.end},
		"LabelValues": &typesv1.LabelValuesRequest{Name: "page",
			Matchers: []string{wall + `{release="2026.11.1"}`}, Start: a.start, End: a.end},
		"SelectSeries": &querierv1.SelectSeriesRequest{ProfileTypeID: wall, LabelSelector: `{page="/feed",}`,
			Start: a.start, End: a.end, GroupBy: []string{"page"}, Step: 15},
		"SelectMergeStacktraces": &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: wall, LabelSelector: "{}",
			Start: a.start, End: a.end},
		"SelectHeatmap": &querierv1.SelectHeatmapRequest{ProfileTypeID: wall, LabelSelector: "{}",
			Start: a.start, End: a.end, Step: 60},
	} {
		body, err := proto.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.private+querier+method,
			bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{
			"Content-Type": "application/proto", "Connect-Protocol-Version": "1", "Accept-Encoding": "gzip",
			"User-Agent": "connect-go/1.18.1 (go1.24)", "Accept": "*/*; allow-utf8-labelnames=true",
			"X-Scope-OrgID": "anonymous",
		} {
			r.Header.Set(k, v)
		}
		resp, err := a.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var answer io.Reader = resp.Body
		zipped := resp.Header.Get("Content-Encoding") == "gzip"
		if zipped {
			if answer, err = gzip.NewReader(resp.Body); err != nil {
				t.Fatal(err)
			}
		}
		data, err := io.ReadAll(answer)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/proto" ||
			len(data) == 0 {
			t.Errorf("%s: %s %v, %d bytes, %v", method, resp.Status, resp.Header, len(data), err)
		}
		if method == "SelectMergeStacktraces" && !zipped {
			t.Errorf("%d bytes are not compressed", len(data))
		}
	}
}

// The queries of Profiles Drilldown in JSON, and of the older paths.
func (a *asked) testDrilldown(t *testing.T) {
	post := func(method, body string) string {
		resp, err := a.client.Post(a.private+method, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(resp.StatusCode, " ", strings.ReplaceAll(string(data), " ", ""))
	}
	times := fmt.Sprintf(`"start":%d,"end":%d`, a.start, a.end)
	if got := post("/settings.v1.SettingsService/Get", "{}"); got != "200 {}" {
		t.Errorf("settings: %s", got)
	}
	if got := post("/vcs.v1.VCSService/GithubApp", "{}"); !strings.HasPrefix(got, `501 {"code":"unimplemented"`) {
		t.Errorf("vcs: %s", got)
	}
	got := post(querier+"SelectMergeStacktraces", `{"profileTypeID":"`+wall+`","labelSelector":"{}",`+times+`}`)
	if !strings.HasPrefix(got, `200 {"flamegraph":{"names":["total",`) ||
		!strings.Contains(got, fmt.Sprintf(`"total":"%d"`, a.total)) {
		t.Errorf("a flame graph: %.300s", got)
	}
	got = post(querier+"SelectMergeProfile", `{"profileTypeID":"`+wall+`","labelSelector":"{}",`+times+
		`,"maxNodes":"500","stackTraceSelector":{"callSite":[{"name":"total"}]}}`)
	if !strings.HasPrefix(got, `200 {"sampleType":[{"type":"`) || !strings.Contains(got, `"stringTable":["",`) {
		t.Errorf("a profile: %.300s", got)
	}
	side := func(name, release string) string {
		return fmt.Sprintf("%sQuery=%s&%sFrom=%d&%sUntil=%d", name, url.QueryEscape(wall+`{release="`+release+`"}`),
			name, a.start, name, a.end)
	}
	var diff struct {
		Version     int
		Flamebearer struct {
			Names    []string
			Levels   [][]int64
			NumTicks int64
		}
		Metadata              struct{ Format string }
		LeftTicks, RightTicks int64
	}
	if err := json.Unmarshal(a.get(t, "/pyroscope/render-diff?"+side("left", "2026.11.1")+"&"+side("right",
		"2026.11.2")+"&max-nodes=16384"), &diff); err != nil {
		t.Fatal(err)
	}
	if diff.Version != 1 || diff.Metadata.Format != "double" || diff.LeftTicks+diff.RightTicks != a.total ||
		diff.Flamebearer.NumTicks != a.total {
		t.Errorf("%+v", diff)
	}
	var single struct {
		Flamebearer struct{ NumTicks int64 }
		Timeline    struct{ Samples []int64 }
	}
	if err := json.Unmarshal(a.get(t, "/pyroscope/render?format=json&from=now-1h&until=now&query="+url.QueryEscape(wall+
		"{}")), &single); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, v := range single.Timeline.Samples {
		sum += v
	}
	if single.Flamebearer.NumTicks != a.total || sum != a.total {
		t.Errorf("%d ns, %d over time, want %d", single.Flamebearer.NumTicks, sum, a.total)
	}
}

// Queries without the token are rejected.
func (a *asked) testAccess(t *testing.T) {
	c := querierv1connect.NewQuerierServiceClient(http.DefaultClient, a.private)
	_, err := c.ProfileTypes(t.Context(), connect.NewRequest(&querierv1.ProfileTypesRequest{}))
	if connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a token: %v", err)
	}
	resp, err := http.Get(a.private + "/pyroscope/render")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the older paths without a token: %s", resp.Status)
	}
}
