package pyroscope

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
)

// Times outside the range of stores, invalid pages, and labels without sums are client errors.
func TestRefusedSelections(t *testing.T) {
	f := newFixture(t)
	all := `"profileTypeID":"` + wall + `","step":15`
	for _, test := range []struct{ method, body, want string }{
		{"SelectSeries", fmt.Sprintf(`{%s,"start":"%d","end":"1000"}`, all, int64(math.MinInt64)),
			"is not a time from 1970 to 9999"},
		{"SelectSeries", fmt.Sprintf(`{%s,"start":"-1"}`, all), "is not a time from 1970 to 9999"},
		{"SelectHeatmap", fmt.Sprintf(`{%s,"start":"1","end":"%d"}`, all, int64(math.MaxInt64)),
			"is not a time from 1970 to 9999"},
		{"LabelNames", fmt.Sprintf(`{"end":"%d"}`, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()),
			"is not a time from 1970 to 9999"},
		{"SelectMergeStacktraces", fmt.Sprintf(`{"profileTypeID":%q,"labelSelector":%q}`, wall, `{page="\x00x"}`),
			"contains a NUL byte"},
		{"LabelNames", `{"matchers":["{team=\"t1\"}"]}`, "labels are stored by page"},
		{"LabelValues", `{"name":"page","matchers":["{team!=\"t1\"}"]}`, "labels are stored by page"},
	} {
		if status, body := f.post(t, test.method, "application/json", test.body); status != 400 ||
			!strings.HasPrefix(body, `{"code":"invalid_argument"`) || !strings.Contains(body, test.want) {
			t.Errorf("%s %s: %d %s", test.method, test.body, status, body)
		}
	}
}

// The longest time range returns few points.
func TestAllTime(t *testing.T) {
	f := newFixture(t)
	for _, start := range []int64{1, 1000} {
		a := &querierv1.SelectSeriesResponse{}
		f.call(t, "SelectSeries", &querierv1.SelectSeriesRequest{ProfileTypeID: wall, LabelSelector: "{}", Start: start,
			End: f.now.UnixMilli(), Step: 15}, a)
		if len(a.Series) != 1 || len(a.Series[0].Points) > maxColumns {
			t.Errorf("got %v", a)
		}
	}
}

// An age is a duration; a date or a future time is not.
func TestParseMomentAge(t *testing.T) {
	now := noon
	for _, text := range []string{"now-2026-11-21", "now--1h", "now-", "now-2026-11-21T10:00:00Z"} {
		if got, err := parseMoment(text, now, now); err == nil {
			t.Errorf("%s is parsed as %s", text, got)
		}
	}
	if got, err := parseMoment("now-2d", now, now); err != nil || !got.Equal(now.Add(-48*time.Hour)) {
		t.Errorf("got %s, %v", got, err)
	}
}

// daily is a source that returns steps of days, whatever the requested step.
type daily struct{ query.Source }

func (daily) Series(_ context.Context, q query.SeriesQuery) (query.Series, error) {
	if q.Step >= 24*time.Hour {
		return query.Series{}, errors.New("too long a step")
	}
	at := q.Since.Truncate(24 * time.Hour)
	return query.Series{Step: 86400, Groups: []query.SeriesGroup{{Points: []query.Point{{Time: at, Self: 24 * 3600}}}}},
		nil
}

// If single hours are no longer stored, a rate is the rate of the whole day.
func TestDailyRate(t *testing.T) {
	now := noon.Add(40 * 24 * time.Hour)
	o := Options{Now: func() time.Time { return now }}.WithDefaults()
	a := &backend{src: daily{}, opts: o}
	start, end := noon.UnixMilli(), noon.Add(24*time.Hour).UnixMilli()
	got, err := a.selectSeries(t.Context(), &querierv1.SelectSeriesRequest{ProfileTypeID: wall, LabelSelector: "{}",
		Start: start, End: end, Step: 3600})
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Series[0].Points[0].Value; v != 3600*perMicrosecond {
		t.Errorf("an hour of the day has %g ns, want %d", v, 3600*perMicrosecond)
	}
}

// An error about too much memory suggests another query.
func TestAnswerSize(t *testing.T) {
	f := newFixture(t)
	f.local.MaxSize = 1
	f.server = httptest.NewServer(Handler(f.local, f.opts))
	t.Cleanup(f.server.Close)
	start, end := f.day()
	body := fmt.Sprintf(`{"profileTypeID":%q,"labelSelector":"{}","start":%d,"end":%d}`, wall, start, end)
	for _, method := range []string{"SelectMergeStacktraces", "SelectMergeProfile"} {
		status, text := f.post(t, method, "application/json", body)
		if status != http.StatusTooManyRequests || !strings.Contains(text, `"resource_exhausted"`) ||
			!strings.Contains(text, "ask for one page or feature") {
			t.Errorf("%s: got %d %s, want resource_exhausted and a hint", method, status, text)
		}
	}
}
