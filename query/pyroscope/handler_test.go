package pyroscope

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/api"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	settingsv1 "github.com/fieldtrie/fieldtrie/proto/settings/v1"
	"github.com/fieldtrie/fieldtrie/query"
)

// Exactly the methods of the schema are served.
func TestMethods(t *testing.T) {
	methods := (&backend{}).methods()
	for _, file := range []protoreflect.FileDescriptor{querierv1.File_querier_v1_querier_proto,
		settingsv1.File_settings_v1_setting_proto} {
		s := file.Services().Get(0)
		for i := range s.Methods().Len() {
			path := fmt.Sprintf("/%s/%s", s.FullName(), s.Methods().Get(i).Name())
			if methods[path] == nil {
				t.Errorf("%s is not served", path)
			}
			delete(methods, path)
		}
	}
	for path := range methods {
		t.Errorf("%s is not in the schema", path)
	}
}

func TestRefused(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat(" ", maxRequest+1)
	for _, test := range []struct {
		path, media, body string
		status            int
		want              string
	}{
		{"SelectMergeSpanProfile", "application/json", "{}", 501,
			`{"code":"unimplemented","message":"querier.v1.QuerierService/SelectMergeSpanProfile is not implemented ` +
				`here"}`},
		{"AnalyzeQuery", "application/proto", "", 501, `{"code":"unimplemented",`},
		{"/settings.v1.SettingsService/Set", "application/json", "{}", 501, `{"code":"unimplemented",`},
		{"/vcs.v1.VCSService/GithubApp", "application/json", "{}", 501, `{"code":"unimplemented",`},
		{"ProfileTypes", "text/plain", "{}", 415, "the body must be"},
		{"ProfileTypes", "application/grpc", "", 415, "the body must be"},
		{"ProfileTypes", "", "", 415, "the body must be"},
		{"ProfileTypes", "application/json", "{", 400,
			`{"code":"invalid_argument","message":"read the request: proto:`},
		{"ProfileTypes", "application/proto", "\xff", 400,
			`{"code":"invalid_argument","message":"read the request: proto:`},
		{"ProfileTypes", "application/json", long, 429, `{"code":"resource_exhausted",`},
		{"LabelValues", "application/json", "{}", 400,
			`{"code":"invalid_argument","message":"the name of the label is missing"}`},
		{"LabelNames", "application/json", `{"matchers":["{page="]}`, 400,
			`{"code":"invalid_argument","message":"label selector, byte 7: `},
		{"LabelNames", "application/json", `{"start":"2000","end":"1000"}`, 400,
			`{"code":"invalid_argument","message":"start (2000) is after end (1000)"}`},
		{"SelectSeries", "application/json",
			`{"profileTypeID":"process_cpu:cpu:nanoseconds:cpu:nanoseconds","step":15}`, 400,
			`{"code":"invalid_argument","message":"profile type \"process_cpu`},
		{"SelectSeries", "application/json", `{"profileTypeID":"` + wall + `"}`, 400,
			`{"code":"invalid_argument","message":"a step of 0 s`},
		{"SelectSeries", "application/json", `{"profileTypeID":"` + wall + `","step":15,"groupBy":["colour"]}`, 400,
			`{"code":"invalid_argument","message":"series are stored by page`},
		{"SelectSeries", "application/json", `{"profileTypeID":"` + wall +
			`","step":15,"stackTraceSelector":{"callSite":[{"name":"a"}]}}`, 501, `{"code":"unimplemented",`},
		{"SelectHeatmap", "application/json", `{"profileTypeID":"` + samples + `","step":15}`, 400,
			`{"code":"invalid_argument","message":"heat maps need the time`},
		{"SelectHeatmap", "application/json", `{"profileTypeID":"` + wall + `","step":15,"groupBy":["visibility"]}`,
			400, `{"code":"invalid_argument","message":"distributions are stored by`},
		{"SelectMergeStacktraces", "application/json", `{"profileTypeID":"` + wall + `","format":"PROFILE_FORMAT_DOT"}`,
			501, `{"code":"unimplemented",`},
		{"SelectMergeStacktraces", "application/json", `{"profileTypeID":"` + wall +
			`","spanSelector":["9a517183f26a089d"]}`, 501, `{"code":"unimplemented",`},
		{"SelectMergeProfile", "application/json", `{"profileTypeID":"` + wall + `","stackTraceSelector":{"goPgo":{}}}`,
			501, `{"code":"unimplemented",`},
		{"Diff", "application/json", `{"left":{"profileTypeID":"` + wall + `"},"right":{"profileTypeID":"` + samples +
			`"}}`, 400, `{"code":"invalid_argument",`},
		{"Diff", "application/json", `{}`, 400, `{"code":"invalid_argument",`},
	} {
		status, body := f.post(t, test.path, test.media, test.body)
		if status != test.status || !strings.HasPrefix(body, test.want) {
			t.Errorf("%s %.80s: %d %s\nwant %d %s", test.path, test.body, status, body, test.status, test.want)
		}
	}
	for path, want := range map[string]int{
		querierService + "ProfileTypes":                        405,
		"/pyroscope/render":                                    400,
		"/pyroscope/render?query=" + wall + "{page":            400,
		"/pyroscope/render?query=x{}":                          400,
		"/pyroscope/render?query=" + wall + "{}&format=dot":    501,
		"/pyroscope/render?query=" + wall + "{}&from=someday":  400,
		"/pyroscope/render?query=" + wall + "{}&max-nodes=few": 400,
		"/pyroscope/labels":                                    501,
	} {
		resp, err := http.Get(f.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// Request and response bodies may be compressed, and Connect's headers are respected.
func TestConnectHeaders(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	plain, err := proto.Marshal(&querierv1.SelectMergeStacktracesRequest{ProfileTypeID: wall, LabelSelector: "{}",
		Start: start, End: end})
	if err != nil {
		t.Fatal(err)
	}
	do := func(body []byte, headers ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.server.URL+querierService+
			"SelectMergeStacktraces", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/proto")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	resp := do(gzipped(plain), "Content-Encoding", "gzip", "Accept-Encoding", "gzip", "Connect-Protocol-Version", "1",
		"Connect-Timeout-Ms", "20000")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Encoding") != "gzip" ||
		resp.Header.Get("Content-Type") != "application/proto" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var a querierv1.SelectMergeStacktracesResponse
	if err := proto.Unmarshal(data, &a); err != nil || a.Flamegraph.Total == 0 {
		t.Errorf("%v: %v", &a, err)
	}
	for _, test := range []struct {
		body    []byte
		headers []string
		status  int
		code    code
	}{
		{plain, []string{"Connect-Protocol-Version", "2"}, 400, invalidArgument},
		{plain, []string{"Connect-Timeout-Ms", "soon"}, 400, invalidArgument},
		{plain, []string{"Connect-Timeout-Ms", "0"}, 504, deadlineExceeded},
		{plain, []string{"Content-Encoding", "br"}, 501, unimplemented},
		{plain, []string{"Content-Encoding", "gzip"}, 400, invalidArgument},
		{gzipped(make([]byte, maxRequest+1)), []string{"Content-Encoding", "gzip"}, 429, resourceExhausted},
	} {
		resp := do(test.body, test.headers...)
		var e struct{ Code, Message string }
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != test.status || e.Code != string(test.code) || e.Message == "" {
			t.Errorf("%v: %d %+v, want %d %s", test.headers, resp.StatusCode, e, test.status, test.code)
		}
	}
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// slow is a source that blocks until the test releases it.
type slow struct {
	query.Source
	begun chan struct{}
}

func (s slow) Catalog(ctx context.Context, _, _ time.Time, _ time.Duration) (query.Catalog, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	return query.Catalog{}, ctx.Err()
}

// Few requests are served concurrently, and each has a time limit.
func TestTurns(t *testing.T) {
	src := slow{begun: make(chan struct{}, 2)}
	gate := api.NewGate(api.GateOptions{Concurrent: 1, Wait: time.Millisecond})
	o := Options{Timeout: 50 * time.Millisecond, Gate: gate}.WithDefaults()
	a := &backend{src: src, opts: o}
	ask := func(ctx context.Context) error {
		return a.inTurn(ctx, o.Timeout, func(ctx context.Context) error {
			_, err := a.profileStats(ctx, nil)
			return err
		})
	}
	if err := ask(t.Context()); asFailure(err).code != deadlineExceeded {
		t.Errorf("a slow response: %v", err)
	}
	<-src.begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = gate.Do(t.Context(), func() error {
		if err := ask(t.Context()); asFailure(err).code != unavailable {
			t.Errorf("no turn: %v", err)
		}
		return nil
	})
	if err := ask(ctx); err == nil {
		t.Error("a disconnected client gets a response")
	}
}
