package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// postView sends a report. headers alternates keys and values.
func postView(t testing.TB, h http.Handler, body string, headers ...string) reply {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/views", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header()}
	if w.Code == http.StatusNoContent {
		if w.Body.Len() > 0 {
			t.Errorf("204 with a body: %q", w.Body)
		}
	} else if err := json.Unmarshal(w.Body.Bytes(), &out.answer); err != nil {
		t.Fatalf("answer %d %q: %v", w.Code, w.Body, err)
	}
	return out
}

// views returns the counted page views, by page and outcome, such as "/feed cost".
func (s *fakeStore) views(t testing.TB) map[string]float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "fieldtrie_ingest_page_views_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			l := m.GetLabel()
			out[l[1].GetValue()+" "+l[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return out
}

func TestViews(t *testing.T) {
	rules, err := ParsePageRules(strings.NewReader("/shop/:item"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body, media string
		want        string // counters
		weight      float64
	}{
		{`{"page":"/feed","outcome":"unsupported"}`, "text/plain;charset=UTF-8", "/feed unsupported", 1},
		{`{"page":"/feed","outcome":"unsampled","weight":100,"release":"r1"}`, "application/json",
			"/feed unsampled", 100},
		{`{"page":"/feed","outcome":"unsampled","weight":10000}`, "", "/feed unsampled", 10_000},
		{`{"page":"/feed","outcome":"cost","weight":null}` + "\n", "", "/feed cost", 1},
		{`{"page":"/shop/blue-shoe?x=1","outcome":"header"}`, "", "/shop/:item header", 1},
		{`{"page":"https://www.example.com/user/8123#x","outcome":"quota"}`, "", "/user/:id quota", 1},
		{`{"page":"/u/bob@example.com","outcome":"refused"}`, "", "/u/:id refused", 1},
		{`{"page":"/a\u0000b","outcome":"stopped"}`, "", "/a\ufffdb stopped", 1},
		{`{"outcome":"error"}`, "", PageUnknown + " error", 1},
		{`{"page":null,"outcome":"error","later":{"a":[1]}}`, "", PageUnknown + " error", 1},
		{`{"page":"(other)","outcome":"error"}`, "", PageOther + " error", 1},
	} {
		col, s := newCollector(Options{Pages: rules})
		var headers []string
		if c.media != "" {
			headers = []string{"Content-Type", c.media}
		}
		got := postView(t, col, c.body, headers...)
		if got.status != http.StatusNoContent || got.header.Get("Content-Type") != "" ||
			got.header.Get("Ingest-Durability") != "" {
			t.Errorf("%s: got %d %q, %v", c.body, got.status, got.Error, got.header)
		}
		if v := s.views(t); len(v) != 1 || v[c.want] != c.weight {
			t.Errorf("%s: counted %v, want %s %v", c.body, v, c.want, c.weight)
		}
		if n := s.metric(t, "requests_total", "204"); n != 1 || s.appends != 0 {
			t.Errorf("%s: %v requests, %d calls of the store", c.body, n, s.appends)
		}
		if n := s.metric(t, "request_seconds"); n != 0 {
			t.Errorf("%s: its time is counted among those of traces", c.body)
		}
	}
}

// TestReports checks that several reports of a request count like separate requests.
func TestReports(t *testing.T) {
	col, s := newCollector(Options{})
	body := strings.Repeat(`{"page":"/a","outcome":"cost"}`+"\n", maxViews-2) + `{"page":"/b","outcome":"unsampled",` +
		"\n" + `"weight":7}{"page":"/c","vitals":{"lcp":5}}`
	if got := postView(t, col, body); got.status != http.StatusNoContent {
		t.Fatalf("got %d %q", got.status, got.Error)
	}
	if got, want := fmt.Sprint(s.views(t)), fmt.Sprint(map[string]float64{"/a cost": maxViews - 2,
		"/b unsampled": 7}); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
	if len(s.vitals) != 1 {
		t.Errorf("counted Web Vitals of %v", s.vitals)
	}
}

// A report that a profile was sent counts once, whatever its weight, and does not count as a reason
// for a missing profile.
func TestReportedProfiles(t *testing.T) {
	col, s := newCollector(Options{})
	for _, body := range []string{`{"page":"/feed","profiled":true,"weight":7,"vitals":{"lcp":1}}`,
		`{"page":"/feed","profiled":false,"vitals":{"lcp":1}}`, `{"page":"/feed","vitals":{"lcp":1}}`} {
		if got := postView(t, col, body); got.status != http.StatusNoContent {
			t.Errorf("%s: got %d %q", body, got.status, got.Error)
		}
	}
	if want := map[string]int64{"/feed reported": 1}; !maps.Equal(s.counted, want) {
		t.Errorf("counted %v, want %v", s.counted, want)
	}
	if got := postView(t, col, `{"profiled":1,"outcome":"error"}`); got.status != http.StatusBadRequest {
		t.Errorf("a number: got %d", got.status)
	}
}

func TestViewRefusals(t *testing.T) {
	for _, c := range []struct {
		name, body, media, encoding string
		status                      int
		reason, want                string
	}{
		{"empty", "", "", "", 400, "empty", "body: it is empty"},
		{"not JSON", "hello", "", "", 400, "malformed", "body: invalid character 'h'"},
		{"truncated", `{"page":"/"`, "", "", 400, "malformed", "body: unexpected EOF"},
		{"text after a report", "{\"outcome\":\"error\"}\nx", "", "", 400, "malformed", "body: invalid character 'x'"},
		{"a truncated second report", "{\"outcome\":\"error\"}\n{", "", "", 400, "malformed", "body: unexpected EOF"},
		{"an invalid report", "{\"outcome\":\"error\"}\n{\"outcome\":\"bored\"}", "", "", 422, "invalid", "outcome"},
		{"too many", strings.Repeat("{\"outcome\":\"error\"}\n", maxViews+1), "", "", 413, "body_size",
			"body: over 20 reports"},
		{"array", `[{"outcome":"error"}]`, "", "", 400, "malformed", "body: unexpected array; send an object"},
		{"page", `{"page":7,"outcome":"error"}`, "", "", 400, "malformed", "body: page: unexpected number"},
		{"text as weight", `{"outcome":"error","weight":"1"}`, "", "", 400, "malformed",
			"body: weight: unexpected string"},
		{"part as weight", `{"outcome":"error","weight":1.5}`, "", "", 400, "malformed",
			"body: weight: unexpected number 1.5"},
		{"absurd weight", `{"outcome":"error","weight":1e99}`, "", "", 400, "malformed",
			"body: weight: unexpected number 1e99"},

		{"null", "null", "", "", 422, "invalid", `body: it has neither an outcome nor vitals`},
		{"no outcome", `{"page":"/feed"}`, "", "", 422, "invalid", `body: it has neither an outcome nor vitals`},
		{"unknown outcome", `{"outcome":"bored"}`, "", "", 422, "invalid", `outcome: "bored" is not one of`},
		{"outcome of a trace", `{"outcome":"profiled"}`, "", "", 422, "invalid", `outcome: "profiled" is not one of`},
		{"no weight", `{"outcome":"error","weight":0}`, "", "", 422, "invalid",
			"body: weight: 0 is not from 1 to 10000"},
		{"negative weight", `{"outcome":"error","weight":-1}`, "", "", 422, "invalid",
			"body: weight: -1 is not from 1 to 10000"},
		{"large weight", `{"outcome":"error","weight":10001}`, "", "", 422, "invalid",
			"body: weight: 10001 is not from 1 to 10000"},

		{"too long", `{"outcome":"error"}` + strings.Repeat(" ", maxViews*maxView), "", "", 413, "body_size",
			"body: over 81920 bytes"},
		{"binary", "{}", "application/x-protobuf", "", 415, "content_type", "header Content-Type: a report is JSON"},
		{"form", "{}", "application/x-www-form-urlencoded", "", 415, "content_type", "header Content-Type: "},
		{"gzip", compress(t, "gzip", `{"outcome":"error"}`), "", "gzip", 415, "encoding",
			`header Content-Encoding: "gzip"; send a report as it is`},
	} {
		col, s := newCollector(Options{})
		headers := []string{"Content-Encoding", c.encoding}
		if c.media != "" {
			headers = append(headers, "Content-Type", c.media)
		}
		got := postView(t, col, c.body, headers...)
		if got.status != c.status || !strings.Contains(got.Error, c.want) || got.IDs == nil {
			t.Errorf("%s: got %d %q, want %d with %q", c.name, got.status, got.Error, c.status, c.want)
		}
		if v := s.views(t); len(v) != 0 {
			t.Errorf("%s: counted %v", c.name, v)
		}
		if n := s.metric(t, "refused_total", c.reason); n != 1 {
			t.Errorf("%s: refused for reason %s is %v, want 1", c.name, c.reason, n)
		}
		if n := s.metric(t, "requests_total", strconv.Itoa(c.status)); n != 1 {
			t.Errorf("%s: requests with code %d are %v, want 1", c.name, c.status, n)
		}
		if n := col.inFlight.bytes(); n != 0 {
			t.Errorf("%s: %d bytes are still in flight", c.name, n)
		}
	}
}

// TestViewAdmission checks that origins and rates apply to both endpoints.
func TestViewAdmission(t *testing.T) {
	const report = `{"page":"/feed","outcome":"error"}`
	col, s := newCollector(Options{Origins: []string{"https://www.example.com"}, Limits: Limits{Rate: 1}})
	for _, c := range []struct {
		origin string
		status int
	}{{"https://evil.example", 403}, {"https://www.example.com", 204}, {"https://www.example.com", 204},
		{"https://www.example.com", 429}} {
		got := postView(t, col, report, "Origin", c.origin)
		allow := got.header.Get("Access-Control-Allow-Origin")
		if got.status != c.status || (allow == c.origin) != (c.status != 403) ||
			(got.header.Get("Retry-After") != "") != (c.status == 429) {
			t.Errorf("%s: got %d %q %v, want %d", c.origin, got.status, got.Error, got.header, c.status)
		}
	}
	if got := post(t, col, traceJSON("f", "")); got.status != 429 {
		t.Errorf("a trace after the reports: got %d", got.status)
	}
	if v := s.views(t); v["/feed error"] != 2 {
		t.Errorf("counted %v", v)
	}
	r := httptest.NewRequest(http.MethodOptions, "/v1/views", nil)
	r.Header.Set("Origin", "https://www.example.com")
	w := httptest.NewRecorder()
	col.ServeHTTP(w, r)
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Methods") != "POST" {
		t.Errorf("preflight: got %d %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	col.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/views", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: got %d", w.Code)
	}
}

// TestViewPages checks that the number of pages with views stays bounded for the life of the
// process, and that views take no places from traces.
func TestViewPages(t *testing.T) {
	now := noon
	var log bytes.Buffer
	col, s := newCollector(Options{
		Limits: Limits{Pages: 3}, Now: func() time.Time { return now },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	for i := range 10 {
		now = now.Add(time.Hour)
		postView(t, col, fmt.Sprintf(`{"page":"/view-%c","outcome":"error","weight":2}`, 'a'+i))
	}
	postView(t, col, `{"page":"/view-a","outcome":"cost"}`)
	postView(t, col, `{"outcome":"cost"}`)
	for _, page := range []string{"/x", "/view-b"} {
		if got := post(t, col, traceJSON("f", `"viewId":"`+page+`","page":"`+page+`",`)); got.status != 202 {
			t.Errorf("%s: got %d %q", page, got.status, got.Error)
		}
	}
	want := map[string]float64{
		"/view-a error": 2, "/view-b error": 2, "/view-c error": 2, PageOther + " error": 14,
		"/view-a cost": 1, PageUnknown + " cost": 1,
		"/view-b profiled": 1, PageOther + " profiled": 1,
	}
	if got := s.views(t); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	for _, r := range s.records {
		if r.Pages[0] == PageOther {
			t.Errorf("a trace is stored under %s", PageOther)
		}
	}
	if n := strings.Count(log.String(), "too many distinct pages since the start"); n != 1 {
		t.Errorf("the log has the line %d times:\n%s", n, log.String())
	}
}

// TestProfiledViews checks which traces count as page views.
func TestProfiledViews(t *testing.T) {
	trace := func(view string, chunk int) string {
		return traceJSON("f", fmt.Sprintf(`"page":"/%s","viewId":"%s","chunk":%d,`, view, view, chunk))
	}
	for _, c := range []struct {
		name   string
		bodies []string
		want   map[string]float64
	}{
		{"no view id", []string{traceJSON("f", "")}, map[string]float64{}},
		{"chunks", []string{trace("a", 0), trace("a", 1) + trace("b", 2) + trace("b", 0)},
			map[string]float64{"/a profiled": 1, "/b profiled": 1}},
		{"sent twice", []string{trace("a", 0), trace("a", 0)}, map[string]float64{"/a profiled": 1}},
		{"twice in a batch", []string{trace("a", 0) + trace("a", 0)}, map[string]float64{"/a profiled": 1}},
		{"again, and twice in a batch", []string{trace("a", 0), trace("a", 0) + trace("b", 0) + trace("b", 0)},
			map[string]float64{"/a profiled": 1, "/b profiled": 1}},
		{"again, and with a new one", []string{trace("a", 0), trace("a", 0) + trace("b", 0)},
			map[string]float64{"/a profiled": 1, "/b profiled": 1}},
		{"refused", []string{"{}"}, map[string]float64{}},
	} {
		col, s := newCollector(Options{})
		for _, b := range c.bodies {
			post(t, col, b)
		}
		if got := s.views(t); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: counted %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzView sends any report: it never panics, never responds with 5xx, and counts what the report
// contains, on a valid page. A report without an outcome has vitals, and counts as no page view.
func FuzzView(f *testing.F) {
	for _, body := range []string{
		`{"page":"/feed","outcome":"unsupported"}`,
		`{"page":"/user/8123?x","outcome":"unsampled","weight":100,"release":"r"}`,
		`{"outcome":"error","weight":10000}`, `{"outcome":"error","weight":1e3}`, `{"outcome":"error","weight":-0}`,
		`{"OUTCOME":"cost"}`,
		`{"page":"/\ud800\u0000%00%41","outcome":"quota"}`, `{"page":"(other)","outcome":"header"}`, `null`, `[]`,
		`{"outcome":"x"}`, "{", "",
		`{"page":"/feed","vitals":{"lcp":2500,"inp":56,"cls":0.1,"fcp":800,"ttfb":0},"weight":100}`,
		`{"outcome":"cost","vitals":{"LCP":1,"xyz":-1}}`,
		`{"vitals":{}}`, `{"vitals":{"cls":1e-9,"inp":3600000},"labels":{"device":"\u0000","connection":[1]}}`,
		`{"vitals":{"lcp":-1}}`, `{"vitals":null}`,
	} {
		f.Add([]byte(body), "")
	}
	f.Add([]byte(`{"outcome":"error"}`), "text/plain;charset=UTF-8")
	f.Fuzz(func(t *testing.T, body []byte, media string) {
		col, s := newCollector(Options{})
		r := httptest.NewRequest(http.MethodPost, "/v1/views", bytes.NewReader(body))
		r.Header["Content-Type"] = []string{media}
		w := httptest.NewRecorder()
		col.ServeHTTP(w, r)
		views := s.views(t)
		var said struct {
			Outcome string
			Vitals  map[string]any
		}
		_ = json.Unmarshal(body, &said) // a refused report has no fields
		taken := w.Code == http.StatusNoContent
		switch {
		case !taken && (w.Code < 400 || w.Code > 499 || len(views)+len(s.vitals) > 0),
			taken && (len(views) == 1) != (said.Outcome != ""),
			taken && said.Outcome == "" && said.Vitals == nil,
			len(s.vitals) > min(len(said.Vitals), len(rollup.VitalKinds())), s.appends > 0:
			t.Fatalf("got %d %q, counted %v and %v", w.Code, w.Body, views, s.vitals)
		}
		for key, n := range s.vitals {
			if n < 1 || n > maxWeight {
				t.Fatalf("counted %q %v", key, n)
			}
		}
		for name, n := range views {
			i := strings.LastIndex(name, " ") // a page may have spaces
			page, outcome := name[:i], name[i+1:]
			checkPage(t, PageRules{}, page)
			if outcome == rollup.OutcomeProfiled || n < 1 || n > maxWeight {
				t.Fatalf("counted %q %v", name, n)
			}
		}
		if n := col.inFlight.bytes(); n != 0 {
			t.Fatalf("%d bytes are still in flight", n)
		}
	})
}

// TestForget checks that forgotten pages leave the metrics and other pages stay.
func TestForget(t *testing.T) {
	col, s := newCollector(Options{})
	for _, page := range []string{"/gone", "/stays"} {
		for _, outcome := range []string{"unsampled", "error"} {
			postView(t, col, `{"page":"`+page+`","outcome":"`+outcome+`","vitals":{"lcp":100,"cls":0}}`)
		}
	}
	col.Forget(func(page string) bool { return page == "/gone" })
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(families)
	if strings.Contains(text, "/gone") || strings.Count(text, "/stays") != 4 {
		t.Errorf("got %s, want only the 4 series of /stays", text)
	}
}
