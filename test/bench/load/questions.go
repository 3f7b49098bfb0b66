package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"google.golang.org/protobuf/proto"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
)

// dashboardRequest is a request that the dashboard or Grafana sends.
type dashboardRequest struct {
	endpoint string        // the last part of the path
	target   string        // URL
	body     proto.Message // of a POST, in the Connect protocol; nil of a GET
}

// looked is the time range shown by dashboards: the last day.
const looked = 24 * time.Hour

// apiRequests returns a dashboard's requests for the last 24 hours of a page, or of all pages if
// page is "".
func apiRequests(addr, page string) []dashboardRequest {
	v := url.Values{"since": {"24h"}}
	if page != "" {
		v.Set("page", page)
	}
	base := "http://" + addr + "/api/v1/"
	return []dashboardRequest{
		{endpoint: "series", target: base + "series?step=1h&" + v.Encode()},
		{endpoint: "top", target: base + "top?limit=50&" + v.Encode()},
	}
}

// Values that Grafana puts into its requests.
const (
	profileTypeID = "wall:wall:nanoseconds:wall:nanoseconds"
	panelStep     = 120  // seconds between points where a day is as wide as half a screen
	panelLines    = 10   // the most lines of a graph
	panelNodes    = 8192 // the most nodes of a flame graph
)

// grafanaRequests returns the requests of Grafana's Pyroscope data source for the variables
// and panels of deploy/dashboards/fieldtrie.json, with one page chosen, or all for "".
func grafanaRequests(addr, page string, now time.Time) []dashboardRequest {
	start, end := now.Add(-looked).UnixMilli(), now.UnixMilli()
	pages := ".*"
	if page != "" {
		pages = grafanaRegex(page)
	}
	selector := fmt.Sprintf("{page=~`%s`,release=~`.*`}", pages)
	series := func(by string) proto.Message {
		return &querierv1.SelectSeriesRequest{ProfileTypeID: profileTypeID, LabelSelector: selector,
			Start: start, End: end,
			Step: panelStep, GroupBy: []string{by}, Limit: new(int64(panelLines))}
	}
	values := func(label string) proto.Message {
		return &typesv1.LabelValuesRequest{Name: label, Matchers: []string{fmt.Sprintf("{__profile_type__=%q}",
			profileTypeID)}, Start: start, End: end}
	}
	base := "http://" + addr + "/querier.v1.QuerierService/"
	ask := func(method string, body proto.Message) dashboardRequest {
		return dashboardRequest{method, base + method, body}
	}
	return []dashboardRequest{
		ask("LabelValues", values("page")),
		ask("LabelValues", values("release")),
		ask("SelectSeries", series("page")),
		ask("SelectSeries", series("feature")),
		ask("SelectHeatmap", &querierv1.SelectHeatmapRequest{ProfileTypeID: profileTypeID, LabelSelector: selector,
			Start: start, End: end,
			Step: panelStep, QueryType: querierv1.HeatmapQueryType_HEATMAP_QUERY_TYPE_INDIVIDUAL}),
		ask("SelectMergeStacktraces", &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: profileTypeID,
			LabelSelector: selector,
			Start:         start, End: end, MaxNodes: new(int64(panelNodes))}),
	}
}

// special are the characters that Grafana escapes with a backslash in ${page:regex}.
var special = regexp.MustCompile(`[\\^$*+?.()|\[\]{}/]`)

func grafanaRegex(value string) string { return special.ReplaceAllString(value, `\$0`) }

// responseTimeout is how long a dashboard waits for a response, longer than the daemon may
// take.
const responseTimeout = time.Minute

// ask sends the request and returns the number of bytes of the compressed response. A status other
// than 200 is an error.
func (q dashboardRequest) ask(ctx context.Context, client *http.Client) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	method, body := http.MethodGet, io.Reader(nil)
	if q.body != nil {
		data, err := proto.Marshal(q.body)
		if err != nil {
			return 0, err
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, q.target, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "zstd, gzip")
	if q.body != nil {
		req.Header.Set("Content-Type", "application/proto")
		req.Header.Set("Connect-Protocol-Version", "1")
		req.Header.Set("Accept-Encoding", "gzip")
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 200))
		return 0, fmt.Errorf("%s: %s: %s", q.target, res.Status, text)
	}
	return io.Copy(io.Discard, res.Body)
}
