package api

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/trie"
)

// All responses about a selection agree with the profile that aggregate writes for it.
func TestAnswersAgree(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	for _, sel := range fixture.Selections() {
		if len(sel.GroupBy) > 0 {
			continue
		}
		result, err := l.Profile(t.Context(), sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := result.Profile
		flat, coverage := p.Flat()
		var self, samples int64
		for _, w := range flat {
			self, samples = self+w.Self, samples+w.Samples
		}
		top, err := l.Top(t.Context(), query.TopQuery{Selection: sel})
		if err != nil {
			t.Fatal(err)
		}
		want := p.Functions()
		if top.Self != self || top.Views != p.Views || top.Traces != p.Traces || len(top.Functions) != len(want) {
			t.Errorf("top%s: %d µs, %d views, %d functions; want %d, %d, %d", sel, top.Self, top.Views,
				len(top.Functions), self, p.Views, len(want))
		}
		for i, x := range top.Functions {
			if w := want[i]; (trie.Frame{Name: x.Name, Resource: x.Resource, Line: x.Line,
				Column: x.Column}) != w.Frame ||
				x.Self != w.Self || x.Total != w.Total || x.Samples != w.Samples || x.Reach < w.Reach {
				t.Errorf("top%s: %+v, want %+v", sel, x, w)
			}
		}
		if sel.Wanted().None { // no sums have these labels
			continue
		}
		series, err := l.Series(t.Context(), query.SeriesQuery{Selection: sel})
		if err != nil {
			t.Fatal(err)
		}
		if len(series.Groups) == 0 {
			if self != 0 {
				t.Errorf("series%s: no groups", sel)
			}
			continue
		}
		got := series.Groups[0].Points[0]
		if got.Self != self || got.Samples != samples || got.Views != p.Views || got.Traces != p.Traces ||
			got.Stackless != coverage.Stackless || got.Idle != coverage.Idle || got.Unsampled != coverage.Unsampled {
			t.Errorf("series%s: %+v, want %d µs, %d samples, %+v", sel, got, self, samples, coverage)
		}
	}
}

// Each point of each group in a series equals a separate query for its time and labels.
func TestSeriesParts(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	since := fixture.Noon.Truncate(time.Hour)
	for _, step := range []time.Duration{time.Hour, 10 * time.Minute} {
		for _, by := range []string{"", "page", "release", "feature", "phase"} {
			q := query.SeriesQuery{Selection: selection.Selection{Since: since, Until: since.Add(3 * time.Hour)},
				Step: step}
			if by != "" {
				q.GroupBy = []string{by}
			}
			series, err := l.Series(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if series.Step != step.Seconds() || len(series.Groups) == 0 {
				t.Fatalf("by %q: %+v", by, series)
			}
			for _, g := range series.Groups {
				for _, p := range g.Points {
					sel := selection.Selection{Since: p.Time, Until: p.Time.Add(step)}
					for key, value := range g.Labels {
						sel.Where = append(sel.Where, selection.Matcher{Key: key, Op: selection.Equal, Value: value})
					}
					if by != "" && len(g.Labels) == 0 {
						sel.Where = append(sel.Where, selection.Matcher{Key: by, Op: selection.Equal})
					}
					result, err := l.Profile(t.Context(), sel, nil)
					if err != nil {
						t.Fatal(err)
					}
					var self int64
					flat, _ := result.Profile.Flat()
					for _, w := range flat {
						self += w.Self
					}
					if p.Self != self || p.Views != result.Profile.Views {
						t.Errorf("%s by %q: %v at %v: %d µs of %d views, want %d of %d", step, by, g.Labels, p.Time,
							p.Self, p.Views, self, result.Profile.Views)
					}
				}
			}
		}
	}
}

// The callers and the callees of a function both add up to its total time.
func TestAround(t *testing.T) {
	f := fixture.New(t)
	h := Handler(localOf(f), Options{Now: fixture.Now})
	top := get[query.Top](t, h, "/api/v1/top?page=/a&limit=10000")
	for _, x := range top.Functions[:3] {
		q := fmt.Sprintf("?page=/a&max_nodes=10000&name=%s&resource=%s&line=%d&column=%d", x.Name, x.Resource,
			x.Line, x.Column)
		if x.Line == 0 {
			continue
		}
		for _, path := range []string{"callers", "callees"} {
			if tree := get[Tree](t, h, "/api/v1/"+path+q); tree.Total != x.Total || tree.Level[0] != 0 ||
				slices.Index(tree.Level[1:], 0) >= 0 {
				t.Errorf("%s of %s: %d µs, want %d, in levels %v", path, x.Name, tree.Total, x.Total, tree.Level)
			}
		}
	}
}

// The ETag of a response changes with the stored data and with the query.
func TestETag(t *testing.T) {
	f := fixture.New(t)
	h := Handler(localOf(f), Options{Now: fixture.Now})
	ask := func(target, tag string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("If-None-Match", tag)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	until := fixture.Noon.Add(fixture.Later / 2).Format(time.RFC3339)
	closed, open := "/api/v1/top?page=/a&until="+until, "/api/v1/top?page=/a"
	tags := map[string]string{}
	for _, target := range []string{closed, open, open + "&limit=5", "/api/v1/pages",
		"/api/v1/tree?page=/a&compare_page=/b"} {
		tag := ask(target, "").Header().Get("ETag")
		if tag == "" || slices.Contains(slices.Collect(maps.Values(tags)), tag) {
			t.Errorf("%s: ETag %s", target, tag)
		}
		tags[target] = tag
		if w := ask(target, tag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("%s: status %d", target, w.Code)
		}
		if w := ask(target, `"x", W/`+tag); w.Code != http.StatusNotModified {
			t.Errorf("%s: status %d", target, w.Code)
		}
		for _, encoding := range []string{"gzip", "zstd"} {
			w := ask(target, "", "Accept-Encoding", encoding)
			if got := ask(target, w.Header().Get("ETag"), "Accept-Encoding",
				encoding); got.Code != http.StatusNotModified {
				t.Errorf("%s: %s has the ETag %s, which does not match", target, encoding, w.Header().Get("ETag"))
			}
		}
	}
	f.Append(t, 5000, fixture.Spans(2))
	if w := ask(open, tags[open]); w.Code != http.StatusOK {
		t.Errorf("changed data: status %d", w.Code)
	}
	if w := ask(closed, tags[closed]); w.Code != http.StatusNotModified {
		t.Errorf("a past time range: status %d", w.Code)
	}
	if w := ask("/api/v1/pages?pge=1", "*"); w.Code != http.StatusBadRequest || w.Header().Get("ETag") != "" {
		t.Errorf("an invalid query: status %d", w.Code)
	}
}

func TestCompressed(t *testing.T) {
	f := fixture.New(t)
	srv := httptest.NewServer(Handler(localOf(f), Options{Now: fixture.Now}))
	defer srv.Close()
	read := func(path, accept string) (string, string) {
		r, err := http.NewRequest(http.MethodGet, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", accept)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		encoding := res.Header.Get("Content-Encoding")
		body := io.Reader(res.Body)
		switch encoding {
		case "gzip":
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		case "zstd":
			d, err := zstd.NewReader(body)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			body = d
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return encoding, string(text)
	}
	_, plain := read("/api/v1/tree", "identity")
	for accept, want := range map[string]string{"gzip": "gzip", "zstd, gzip": "zstd", "gzip, br": "gzip",
		"zstd;q=0, gzip": "gzip"} {
		if encoding, text := read("/api/v1/tree", accept); encoding != want || text != plain {
			t.Errorf("%s: encoding %s, equal text: %v", accept, encoding, text == plain)
		}
	}
	if encoding, _ := read("/pprof/profile", "gzip"); encoding != "" {
		t.Errorf("a pprof file, already compressed, is compressed with %s", encoding)
	}
}

// slow is a source whose Top signals begun and returns once its context is done.
type slow struct {
	source
	begun chan struct{}
}

func (s slow) Top(ctx context.Context, _ query.TopQuery) (query.Top, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	return query.Top{}, ctx.Err()
}

func TestBounds(t *testing.T) {
	src := slow{begun: make(chan struct{}, 10)}
	h := Handler(src, Options{Now: fixture.Now, Timeout: 200 * time.Millisecond,
		Gate: NewGate(GateOptions{Concurrent: 1, Wait: 10 * time.Millisecond})})
	statuses := make(chan int)
	ask := func(ctx context.Context) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/top", nil))
		if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		if w.Code != http.StatusOK && !strings.Contains(w.Body.String(), `"error":`) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		statuses <- w.Code
	}
	go ask(t.Context())
	<-src.begun
	go ask(t.Context())
	if got := <-statuses; got != http.StatusServiceUnavailable {
		t.Errorf("a query beyond the limit: status %d", got)
	}
	if got := <-statuses; got != http.StatusGatewayTimeout {
		t.Errorf("a query that takes too long: status %d", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go ask(ctx)
	<-src.begun
	cancel() // this must end the query, otherwise the next one has to wait
	if got := <-statuses; got != statusClientGone {
		t.Errorf("a disconnected client: status %d", got)
	}
	go ask(t.Context())
	<-src.begun
	<-statuses
}

// A daemon returns the same results as its store.
func TestRemoteAnswers(t *testing.T) {
	l, _ := rolledField(t, 100)
	for name, r := range serve(t, Handler(l, Options{Now: fixture.Now})) {
		sel := selection.Selection{Page: "/feed", Where: fixture.Having(trie.MakeLabels("device", "mobile-low")),
			Since: fixture.Noon.Truncate(time.Hour)}
		series := query.SeriesQuery{Selection: sel, Step: time.Hour, Coverage: true, Histogram: true}
		all := query.SeriesQuery{Selection: selection.Selection{GroupBy: []string{"release"}}}
		for what, pair := range map[string]func(query.Source) (any, error){
			"series": func(s query.Source) (any, error) { return s.Series(t.Context(), series) },
			"all":    func(s query.Source) (any, error) { return s.Series(t.Context(), all) },
			"top": func(s query.Source) (any, error) {
				return s.Top(t.Context(), query.TopQuery{Selection: sel, Limit: 2, Sort: "total"})
			},
			"labels": func(s query.Source) (any, error) { return s.Labels(t.Context(), sel) },
			"report": func(s query.Source) (any, error) { return s.Report(t.Context(), sel) },
			"vitals": func(s query.Source) (any, error) {
				return s.Vitals(t.Context(), selection.Selection{Page: sel.Page, GroupBy: []string{"device"}})
			},
		} {
			want, err := pair(l)
			got, remoteErr := pair(r)
			if err != nil || remoteErr != nil || fixture.AsJSON(t, got) != fixture.AsJSON(t, want) {
				t.Errorf("%s: %s: got %s and %v, want %s and %v", name, what, fixture.AsJSON(t, got), remoteErr,
					fixture.AsJSON(t, want), err)
			}
		}
		if _, err := r.Series(t.Context(),
			query.SeriesQuery{Selection: selection.Selection{Where: fixture.Having(trie.MakeLabels("navigation",
				"x"))}}); err == nil || !strings.Contains(err.Error(), "series are stored by") {
			t.Errorf("%s: a label that series do not store: %v", name, err)
		}
	}
}

// Errors of the query and errors of the store have different types.
func TestRefused(t *testing.T) {
	l, _ := rolledField(t, 3)
	_, err := l.Series(t.Context(), query.SeriesQuery{Step: time.Hour})
	if _, ok := errors.AsType[*selection.RefusedError](err); !ok {
		t.Errorf("got %v of type %v", err, reflect.TypeOf(err))
	}
}
