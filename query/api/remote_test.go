package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// serve returns sources that query a daemon with handler h: over TCP, behind a path prefix, and
// through a socket.
func serve(t *testing.T, h http.Handler) map[string]*Remote {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/api/", h)
	mux.Handle("/prefix/", http.StripPrefix("/prefix", h))
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	path := filepath.Join(t.TempDir(), SocketName)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	onSocket := &http.Server{Handler: mux}
	go func() { _ = onSocket.Serve(ln) }()
	t.Cleanup(func() { _ = onSocket.Close() })
	out := map[string]*Remote{"socket": NewSocketRemote(path)}
	for name, addr := range map[string]string{"address": srv.Listener.Addr().String(), "URL": srv.URL + "/",
		"prefix": srv.URL + "/prefix/"} {
		if out[name], err = NewRemote(addr); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestRemote checks that a daemon returns the same results as its data directory.
func TestRemote(t *testing.T) {
	f := fixture.New(t)
	if _, err := f.Store.Append(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	remotes := serve(t, Handler(localOf(f), Options{Now: fixture.Now}))
	for i, sel := range fixture.Selections() {
		want, err := localOf(f).Profile(t.Context(), sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range remotes {
			if name != "address" && i%7 != 0 {
				continue // the connection does not depend on the query
			}
			got, err := r.Profile(t.Context(), sel, nil)
			if err != nil {
				t.Errorf("%s: %+v: %v", name, sel, err)
				continue
			}
			if !got.Profile.Equal(want.Profile) {
				t.Errorf("%s: %+v: the profile differs", name, sel)
			}
			if !reflect.DeepEqual(got.Stats, want.Stats) {
				t.Errorf("%s: %+v: got %+v, want %+v", name, sel, got.Stats, want.Stats)
			}
		}
	}
	for _, since := range []time.Time{{}, fixture.Noon.Add(fixture.Later / 2), fixture.Noon.Add(3 * fixture.Later)} {
		want, err := localOf(f).Catalog(t.Context(), since, time.Time{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range remotes {
			if got, err := r.Catalog(t.Context(), since, time.Time{}, 0); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v and %v, want %+v", name, got, err, want)
			}
		}
	}
}

// source returns fixed results.
type source struct {
	result  query.Result
	catalog query.Catalog
	err     error
}

func (s source) Profile(context.Context, selection.Selection, func(uint64)) (query.Result, error) {
	return s.result, s.err
}
func (s source) Report(context.Context, selection.Selection) (query.Report, error) {
	return query.Report{Pages: []query.PageReport{}, Stats: s.result.Stats}, s.err
}
func (s source) Vitals(context.Context, selection.Selection) (query.Vitals, error) {
	return query.Vitals{Pages: []vital.Page{}, Stats: s.result.Stats}, s.err
}
func (s source) Cost(context.Context, selection.Selection) (query.Cost, error) {
	return query.Cost{Stats: s.result.Stats}, s.err
}
func (s source) BrowserVersions(context.Context, selection.Selection) (query.BrowserVersions, error) {
	return query.BrowserVersions{}, s.err
}
func (s source) Series(context.Context, query.SeriesQuery) (query.Series, error) {
	return query.Series{}, s.err
}
func (s source) Top(context.Context, query.TopQuery) (query.Top, error) { return query.Top{}, s.err }
func (s source) Compare(context.Context, query.CompareQuery) (query.Comparison, error) {
	return query.Comparison{}, s.err
}
func (s source) Edits(context.Context, query.EditsQuery) (query.Edits, error) {
	return query.Edits{}, s.err
}
func (s source) Labels(context.Context, selection.Selection) (query.Labels, error) {
	return query.Labels{}, s.err
}
func (s source) Values(context.Context, selection.Selection, string) ([]string, error) {
	return nil, s.err
}
func (s source) Views(context.Context, query.ViewsQuery) (query.Views, error) {
	return query.Views{}, s.err
}
func (s source) View(context.Context, query.ViewQuery) (query.View, error) {
	return query.View{}, s.err
}
func (s source) Catalog(context.Context, time.Time, time.Time, time.Duration) (query.Catalog, error) {
	return s.catalog, s.err
}

// TestRemoteWarnings checks that warnings arrive, whatever characters they contain.
func TestRemoteWarnings(t *testing.T) {
	w := []string{"two\nlines\r\n", "Ünïcödé <&>", strings.Repeat("long ", 100)}
	for range 50 {
		w = append(w, "partition 20261121T12 cannot be read: "+strings.Repeat("x", 500))
	}
	src := source{result: query.Result{Profile: trie.NewProfile(), Stats: query.Stats{Warnings: w}},
		catalog: query.Catalog{Entries: []query.Entry{}, Warnings: w}}
	for name, r := range serve(t, Handler(src, Options{Now: fixture.Now})) {
		if got, err := r.Profile(t.Context(), selection.Selection{}, nil); err != nil ||
			!reflect.DeepEqual(got.Stats.Warnings, w) {
			t.Errorf("%s: got %q and %v", name, got.Stats.Warnings, err)
		}
		if got, err := r.Catalog(t.Context(), time.Time{}, time.Time{}, 0); err != nil ||
			!reflect.DeepEqual(got, src.catalog) {
			t.Errorf("%s: got %+v and %v", name, got, err)
		}
	}
}

func TestRemoteErrors(t *testing.T) {
	trace, err := encode.EncodeTrace(fixture.Spans(0)[0])
	if err != nil {
		t.Fatal(err)
	}
	answer := func(status int, body, stats string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(statsHeader, stats)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	profile, err := encode.EncodeProfile(trie.NewProfile())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		handler          http.Handler
		profile, catalog string // the errors
	}{
		{"error of the source", Handler(source{err: errors.New("disk on fire")}, Options{Now: fixture.Now}),
			"daemon: disk on fire", "daemon: disk on fire"},
		{"another program", http.NotFoundHandler(), "daemon: unexpected answer: 404 Not Found",
			"daemon: unexpected answer: 404 Not Found"},
		{"nonsense", answer(200, "hello", "{}"), "daemon's response: malformed",
			"daemon's response: invalid character"},
		{"a trace", answer(200, string(trace), "{}"), "a trace instead of a profile", "daemon's response: "},
		{"no stats", answer(200, string(profile), ""), "daemon's response: stats: ", "daemon's response: "},
		{"other JSON", answer(500, `{"message":"x"}`, ""), "unexpected answer: 500 Internal Server Error",
			"unexpected answer: 500"},
	} {
		r := serve(t, c.handler)["address"]
		if _, err := r.Profile(t.Context(), selection.Selection{}, nil); err == nil || !strings.Contains(err.Error(),
			c.profile) {
			t.Errorf("%s: profile: %v, want %q", c.name, err, c.profile)
		}
		if _, err := r.Catalog(t.Context(), time.Time{}, time.Time{}, 0); err == nil || !strings.Contains(err.Error(),
			c.catalog) {
			t.Errorf("%s: catalogue: %v, want %q", c.name, err, c.catalog)
		}
	}
	// Errors of the daemon about a query are passed on.
	r := serve(t, Handler(source{}, Options{Now: fixture.Now}))["address"]
	if _, err := r.Profile(t.Context(), selection.Selection{Since: fixture.Noon, Until: fixture.Noon.Add(-1)},
		nil); err == nil || !strings.Contains(err.Error(), "daemon: since (") {
		t.Errorf("got %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	byAddr, err := NewRemote(addr)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), SocketName)
	for at, r := range map[string]*Remote{addr: byAddr, path: NewSocketRemote(path)} {
		_, err := r.Profile(t.Context(), selection.Selection{Page: "/secret"}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "ask the daemon: dial ") || !strings.Contains(err.Error(),
			at) || strings.Contains(err.Error(), "secret") {
			t.Errorf("profile: %v", err)
		}
		if _, err := r.Catalog(t.Context(), time.Time{}, time.Time{}, 0); err == nil ||
			!strings.Contains(err.Error(), at) {
			t.Errorf("catalogue: %v", err)
		}
		if r.Alive() {
			t.Errorf("%s is alive", at)
		}
	}
	for name, r := range serve(t, http.NotFoundHandler()) {
		if alive := name != "prefix"; r.Alive() != alive {
			t.Errorf("%s: alive is %v, want %v", name, !alive, alive)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := byAddr.Profile(ctx, selection.Selection{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestNewRemote(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8419":               "http://127.0.0.1:8419",
		"localhost:8419":               "http://localhost:8419",
		"[::1]:8419":                   "http://[::1]:8419",
		"ingest":                       "http://ingest:8419",
		"u:p@ingest":                   "http://ingest:8419",
		"[::1]":                        "http://[::1]:8419",
		"http://ingest":                "http://ingest",
		"http://ingest:8419":           "http://ingest:8419",
		"https://ingest.example/":      "https://ingest.example",
		"https://u:p@ingest/some/path": "https://ingest/some/path",
		"http://ingest/?a=b#c":         "http://ingest",
		"":                             "", ":::": "", "ftp://ingest": "", "unix:///x": "", "http://": "", "a b": "",
	} {
		r, err := NewRemote(addr)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "is not an address such as 127.0.0.1:8419") {
				t.Errorf("%q: %v", addr, err)
			}
			continue
		}
		if err != nil || r.base != want {
			t.Errorf("%q: got %+v and %v, want %s", addr, r, err, want)
		}
	}
}

// An SVG profile contains a script, which must not run with the origin of the query API.
func TestHandlerSVG(t *testing.T) {
	h := Handler(localOf(fixture.New(t)), Options{Now: fixture.Now})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/profile?page=/a&format=svg", nil))
	if got := w.Header().Get("Content-Security-Policy"); w.Code != http.StatusOK || got != "sandbox; "+policy ||
		w.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("got %d with the policy %q", w.Code, got)
	}
}

// An HTML profile is meant to be saved. Shown with this origin, it could send queries with the
// permissions of its reader.
func TestHandlerHTML(t *testing.T) {
	f := fixture.New(t)
	template := func() ([]byte, error) { return []byte("<title>%TITLE%</title>%DATA%"), nil }
	h := Handler(localOf(f), Options{Now: fixture.Now, ProfileFile: template})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/profile?page=/a&label=device!=x&since=7d&format=html",
		nil))
	for key, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Disposition": "attachment",
		"Content-Security-Policy": "sandbox; " + policy,
	} {
		if got := w.Header().Get(key); w.Code != http.StatusOK || got != want {
			t.Errorf("status %d, %s: %s, want %s", w.Code, key, got, want)
		}
	}
	for _, want := range []string{"<title>/a · Fieldtrie</title>", `"selection":"/a with device!=x"`,
		`"until":"2026-11-21T`, `"render"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.500s has no %s", w.Body, want)
		}
	}
	h = Handler(localOf(f), Options{Now: fixture.Now, ProfileFile: func() ([]byte, error) {
		return nil, errors.New("run make web")
	}})
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/profile?format=html", nil))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "parameter format: html: run make web") {
		t.Errorf("without a template: %d %s", w.Code, w.Body)
	}
}

func TestHandlerErrors(t *testing.T) {
	h := Handler(source{result: query.Result{Profile: trie.NewProfile()}}, Options{Now: fixture.Now})
	for _, c := range []struct {
		query string
		want  string
	}{
		{"profile?pge=/a", `unknown parameter "pge"; known are page, feature, release, label, since, until, names, ` +
			`by, only, group_by, format`},
		{"profile?page=/a&page=/b", "parameter page is given 2 times"},
		{"profile?page=%zz", "query string: invalid URL escape"},
		{"profile?a;b", "query string: invalid semicolon separator"},
		{"profile?label=x", `parameter label: label "x" is none of KEY=VALUE`},
		{"profile?label==x", `label "=x" is none of KEY=VALUE`},
		{"profile?group_by=page,", `parameter group_by: "page,": name each label once`},
		{"profile?since=yesterday",
			`parameter since: "yesterday" is neither a duration such as 24h or 7d nor a time such as ` +
				`2026-11-21T10:00:00Z`},
		{"profile?until=1", "parameter until: "},
		{"profile?since=1h&until=2h", "since (2026-11-21T13:30:00Z) must be before until (2026-11-21T12:30:00Z)"},
		{"profile?since=1h&until=1h", "must be before"},
		{"profile?format=xml", `parameter format: "xml" is none of pprof, trie, `},
		{"profile?format=html", "parameter format: html: not offered here"},
		{"profile?format=firefox", "parameter format: \"firefox\" is none of pprof, trie"},
		{"catalog?page=/a", `unknown parameter "page"; known are since, until`},
		{"catalog?since=x", "parameter since: "},
		{"catalog?since=1h&until=2h", "must be before"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/"+c.query, nil))
		var e map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || len(e) != 1 {
			t.Errorf("%s: %q: %v", c.query, w.Body, err)
		}
		if w.Code != http.StatusBadRequest || !strings.Contains(e["error"], c.want) ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %d %q, want 400 %q", c.query, w.Code, e["error"], c.want)
		}
	}
	for target, want := range map[string]int{"POST /api/v1/profile": 405, "GET /api/v1/": 404} {
		method, path, _ := strings.Cut(target, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", target, w.Code, want)
		}
	}
}

// asked records the selection of a query.
type asked struct {
	source
	sel *selection.Selection
}

func (a asked) Profile(_ context.Context, sel selection.Selection, _ func(uint64)) (query.Result, error) {
	*a.sel = sel
	return a.result, nil
}

func TestHandlerSelection(t *testing.T) {
	for text, want := range map[string]selection.Selection{
		"":                          {},
		"page=/a%26b&feature=x y":   {},
		"page=%2Fa%26b&feature=x+y": {Page: "/a&b", Feature: "x y"},
		"label=b=2&label=a=1=x": {Where: []selection.Matcher{{Key: "b", Op: selection.Equal, Value: "2"},
			{Key: "a", Op: selection.Equal, Value: "1=x"}}},
		"label=a=":              {Where: []selection.Matcher{{Key: "a", Op: selection.Equal}}},
		"group_by=page,release": {GroupBy: []string{"page", "release"}},
		"release=r1&label=x!=~y": {Where: []selection.Matcher{{Key: "release", Op: selection.Equal, Value: "r1"},
			{Key: "x", Op: selection.NotEqual, Value: "~y"}}},
		"since=2h&until=2026-11-22":  {Since: fixture.Noon, Until: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)},
		"since=&until=&page=&label=": {},
	} {
		var got selection.Selection
		h := Handler(asked{source{result: query.Result{Profile: trie.NewProfile()}}, &got}, Options{Now: fixture.Now})
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/api/v1/profile", nil)
		r.URL.RawQuery = text
		h.ServeHTTP(w, r)
		if strings.HasSuffix(text, "label=") { // a label without a key
			if w.Code != http.StatusBadRequest {
				t.Errorf("%s: got %d", text, w.Code)
			}
			continue
		}
		if text == "page=/a%26b&feature=x y" {
			want = selection.Selection{Page: "/a&b", Feature: "x y"}
		}
		if w.Code != http.StatusOK || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %d and %+v, want %+v", text, w.Code, got, want)
		}
		// The selection also survives the way back to parameters.
		if v, err := url.ParseQuery(queryOf(want).Encode()); err != nil {
			t.Error(err)
		} else if again, err := parseSelection(v, fixture.Now()); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%s: as parameters %v: got %+v and %v", text, v, again, err)
		}
	}
}

func TestHandlerFormats(t *testing.T) {
	f := fixture.New(t)
	h := Handler(localOf(f), Options{Now: fixture.Now})
	for format, media := range map[string]string{
		"": "application/octet-stream", "&format=pprof": "application/octet-stream",
		"&format=trie": "application/octet-stream",
		"&format=json": "application/json", "&format=folded": "text/plain; charset=utf-8",
		"&format=top": "text/plain; charset=utf-8",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/profile?page=/a&since=7d"+format, nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != media {
			t.Errorf("%s: got %d, %s", format, w.Code, w.Header().Get("Content-Type"))
		}
		var stats query.Stats
		if err := json.Unmarshal([]byte(w.Header().Get(statsHeader)), &stats); err != nil ||
			stats.Traces+stats.RolledUp != 48 {
			t.Errorf("%s: stats %+v, %v", format, stats, err)
		}
		if media == "application/octet-stream" {
			doc, err := formats.Decode(w.Body, encode.FileLimits())
			if err != nil || doc.Profile == nil || len(fixture.SumsOf(doc.Profile)) == 0 {
				t.Errorf("%s: %v", format, err)
			}
		} else if !strings.Contains(w.Body.String(), "render") {
			t.Errorf("%s: got %q", format, w.Body)
		}
	}
}
