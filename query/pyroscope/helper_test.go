package pyroscope

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// noon is the receive time of the first traces. The others are received three hours later.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

const (
	wall    = "wall:wall:nanoseconds:wall:nanoseconds"
	samples = "wall:samples:count:wall:nanoseconds"
)

// fixture is a store with traces in two hours, and a server that answers queries about it.
type fixture struct {
	*backend
	local  query.Local
	server *httptest.Server
	now    time.Time
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{now: noon}
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return f.now }})
	appendTraces(t, s, 0, append(realTraces(t), madeTraces(0)...))
	f.now = noon.Add(3 * time.Hour)
	appendTraces(t, s, 1000, madeTraces(1))
	f.now = f.now.Add(10 * time.Minute)
	f.local = query.Local{Reader: s}
	o := Options{Site: "shop", Now: func() time.Time { return f.now }}.WithDefaults()
	f.backend = &backend{src: f.local, opts: o}
	f.server = httptest.NewServer(Handler(f.local, o))
	t.Cleanup(f.server.Close)
	return f
}

func appendTraces(t testing.TB, s *storetest.Store, number int, traces []*trie.Trace) {
	t.Helper()
	var recs []store.Record
	for i, tr := range traces {
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		r := store.Record{Pages: tr.Pages(), Payload: payload}
		copy(r.ID.View[:], fmt.Sprintf("trace%08d", number+i))
		if tr.Context.Release != "" { // tags like the collector's
			r.Tags = append(r.Tags, store.Tag{Key: "release", Value: tr.Context.Release})
		}
		for _, p := range r.Pages {
			for _, name := range tr.Features(p) {
				r.Tags = append(r.Tags, store.Tag{Key: "feature", Value: name})
			}
		}
		recs = append(recs, r)
	}
	if res, err := s.Append(t.Context(), recs); err != nil || res.Stored != len(recs) {
		t.Fatalf("stored %d of %d: %v", res.Stored, len(recs), err)
	}
}

// realTraces returns some traces of real browsers.
func realTraces(t testing.TB) (out []*trie.Trace) {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash("../../testdata/traces/*.json.gz"))
	if err != nil || len(names) < 4 {
		t.Fatalf("no real traces: %v", err)
	}
	for _, name := range names[:4] {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := encode.DecodeTraceJSON(text, encode.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, tr)
	}
	return out
}

// madeTraces returns traces of the pages /a and /b with features and releases. Functions with the
// same name are at two places in a script, and in two scripts whose URLs have the same end.
func madeTraces(hour int) (out []*trie.Trace) {
	for i := range 12 {
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{Page: "/a", Interval: 10_000, Release: fmt.Sprintf("r%d", i%2+hour)}
		if i%3 == 0 {
			tr.Context.Page = "/b"
		}
		if i%4 > 0 {
			tr.Context.Spans = append(tr.Context.Spans, trie.Span{Kind: trie.SpanFeature, Name: "search", Start: 20_000,
				Length: 50_000})
		}
		frame := func(name, script string, column uint32) trie.Frame {
			return trie.Frame{Name: name, Resource: "https://x.example/" + script, Line: 1, Column: column}
		}
		main := frame("main", "app.js", 1)
		nodes := []trie.NodeID{
			tr.Insert(main), tr.Insert(main, frame("t", "app.js", 20)), tr.Insert(main, frame("t", "app.js", 30)),
			tr.Insert(frame("u", "a/lib.js", 5)), tr.Insert(frame("u", "b/lib.js", 5), frame("", "app.js",
				40)), trie.Root,
		}
		for k := range 12 {
			tr.Samples = append(tr.Samples, trie.Sample{Time: int64(10_000*k + 100*(i%7)),
				Node: nodes[(i+k*k)%len(nodes)]})
		}
		out = append(out, tr)
	}
	return out
}

// post sends a body to a method of the querier and returns the status and the response.
func (f *fixture) post(t testing.TB, method, media, body string) (int, string) {
	t.Helper()
	path := method
	if !strings.HasPrefix(path, "/") {
		path = querierService + method
	}
	resp, err := http.Post(f.server.URL+path, media, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// call calls a method of the querier with protobuf encoding.
func (f *fixture) call(t testing.TB, method string, q, a proto.Message) {
	t.Helper()
	body, err := proto.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	status, text := f.post(t, method, "application/proto", string(body))
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", method, status, text)
	}
	if err := proto.Unmarshal([]byte(text), a); err != nil {
		t.Fatal(err)
	}
}

// get requests one of the older paths.
func (f *fixture) get(t testing.TB, path string, a any) {
	t.Helper()
	resp, err := http.Get(f.server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, resp.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, a); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// day is a time range with all traces of a fixture, in ms.
func (f *fixture) day() (start, end int64) {
	return noon.Add(-12 * time.Hour).UnixMilli(), f.now.UnixMilli()
}

// profile returns the profile of a source for a selection.
func (f *fixture) profileOf(t testing.TB, sel selection.Selection) *trie.Profile {
	t.Helper()
	r, err := f.local.Profile(t.Context(), sel, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Profile
}

func where(t testing.TB, key string, op selection.Op, value string) selection.Selection {
	t.Helper()
	m, err := selection.NewMatcher(key, op, value)
	if err != nil {
		t.Fatal(err)
	}
	return selection.Selection{Where: []selection.Matcher{m}}
}
