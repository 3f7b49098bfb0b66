package collect

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func TestPageRate(t *testing.T) {
	now := noon
	col, s := newCollector(Options{Limits: Limits{PageRate: 0.1, Pages: 3}, Now: func() time.Time { return now }})
	send := func(from, n int, page string) reply {
		t.Helper()
		var body strings.Builder
		for i := range n {
			body.WriteString(traceJSON("f", fmt.Sprintf(`"page":"%s","viewId":"%s-%d",`, page, page, from+i)))
		}
		return post(t, col, body.String())
	}
	// A burst of one minute.
	if got := send(0, 5, "/a"); got.status != 202 || got.Accepted != 5 || got.header.Get("Retry-After") != "" {
		t.Errorf("got %d %+v", got.status, got.answer)
	}
	got := send(5, 4, "/a?x=1")
	if got.status != 202 || got.Accepted != 1 || len(got.Rejected) != 3 || got.header.Get("Retry-After") == "" {
		t.Errorf("got %d %+v, %v", got.status, got.answer, got.header)
	}
	for i, r := range got.Rejected {
		if r.Index != i+1 || r.Status != 429 || !strings.Contains(r.Error,
			"over 0.1 traces a second of page /a; send this again later") {
			t.Errorf("rejected: %+v", r)
		}
	}
	for _, n := range []int{1, 3} {
		if got := send(9, n, "/a"); got.status != 429 || got.header.Get("Retry-After") == "" ||
			!strings.Contains(got.Error, "of page /a") {
			t.Errorf("%d traces: got %d %+v, %v", n, got.status, got.answer, got.header)
		}
	}
	// Other pages are not affected, and pages without a place share a limit.
	for _, page := range []string{"/b", "/c"} {
		if got := send(0, 6, page); got.Accepted != 6 {
			t.Errorf("page %s: got %d %+v", page, got.status, got.answer)
		}
	}
	accepted := 0
	for i := range 10 {
		accepted += send(i, 1, fmt.Sprintf("/other-%c", 'a'+i)).Accepted
	}
	if accepted != 6 {
		t.Errorf("%d traces of pages without room are accepted, want 6", accepted)
	}
	now = now.Add(20 * time.Second)
	if got := send(20, 3, "/a"); got.Accepted != 2 || len(got.Rejected) != 1 {
		t.Errorf("20 s later: got %d %+v", got.status, got.answer)
	}
	if n := s.metric(t, "rejected_total", "page_rate"); n != 3+1+3+4+1 {
		t.Errorf("%v traces are counted as rejected", n)
	}
	if n := s.metric(t, "refused_total", "page_rate"); n != 2+4 {
		t.Errorf("%v requests are counted as refused", n)
	}
}

func TestKeyRate(t *testing.T) {
	now := noon
	col, s := newCollector(Options{Keys: []Key{{Value: "k1"}, {Value: "k2"}}, Limits: Limits{KeyRate: 0.05},
		Now: func() time.Time {
			return now
		}})
	send := func(path, key, body string) reply {
		r := httptest.NewRequest(http.MethodPost, path+"?key="+key, strings.NewReader(body))
		w := httptest.NewRecorder()
		col.ServeHTTP(w, r)
		return reply{status: w.Code, header: w.Header()}
	}
	for i, want := range []int{202, 202, 204, 429} {
		path, body := "/v1/traces", traceJSON("f", "")
		if i == 2 {
			path, body = "/v1/views", `{"page":"/a","outcome":"error"}`
		}
		if got := send(path, "k1", body); got.status != want || (want == 429) != (got.header.Get("Retry-After") != "") {
			t.Errorf("request %d: got %d %v, want %d", i, got.status, got.header, want)
		}
	}
	if got := send("/v1/traces", "k2", traceJSON("f", "")); got.status != 202 {
		t.Errorf("another key: got %d", got.status)
	}
	for i := range 20 { // invalid keys use no quota
		if got := send("/v1/traces", fmt.Sprint("x", i), traceJSON("f", "")); got.status != 401 {
			t.Errorf("a wrong key: got %d", got.status)
		}
	}
	if n := len(col.keys.Load().keys); n != 2 {
		t.Errorf("%d keys are remembered", n)
	}
	now = now.Add(20 * time.Second)
	if got := send("/v1/traces", "k1", traceJSON("f", "")); got.status != 202 {
		t.Errorf("20 s later: got %d", got.status)
	}
	if n := s.metric(t, "refused_total", "key_rate"); n != 1 {
		t.Errorf("%v requests are counted as refused", n)
	}
}

// TestChunks checks that the number of chunks with one id is bounded.
func TestChunks(t *testing.T) {
	col, s := newCollector(Options{})
	if got := post(t, col, traceJSON("f", `"viewId":"v","chunk":1439,`)); got.status != 202 {
		t.Errorf("got %d %q", got.status, got.Error)
	}
	for _, chunk := range []string{"1440", "4294967295"} {
		got := post(t, col, traceJSON("f", `"viewId":"v","chunk":`+chunk+`,`))
		if got.status != 422 || !strings.Contains(got.Error, "chunk "+chunk+": a page view has up to 1440") {
			t.Errorf("got %d %q", got.status, got.Error)
		}
	}
	if len(s.records) != 1 {
		t.Errorf("%d traces are stored", len(s.records))
	}
}

// distinctStore counts distinct names in stored records.
type distinctStore struct {
	t                                                  *testing.T
	decoder                                            encode.BinaryDecoder
	pages, tags, labels, keys, spans, releases, viewed map[string]bool
	n                                                  int
}

func (s *distinctStore) Append(_ context.Context, recs []store.Record) (store.AppendResult, error) {
	for _, r := range recs {
		doc, err := s.decoder.Decode(r.Payload, encode.FileLimits())
		if err != nil {
			s.t.Error(err)
			continue
		}
		x := doc.Trace.Context
		for _, p := range r.Pages {
			s.pages[p] = true
		}
		for _, tag := range r.Tags {
			s.tags[tag.Key+tag.Value] = true
		}
		for _, l := range x.Labels {
			s.keys[strings.Clone(l.Key)] = true
			s.labels[l.Key+"="+l.Value] = true
		}
		for _, span := range x.Spans {
			s.spans[strings.Clone(span.Name)] = true
		}
		s.releases[strings.Clone(x.Release)] = true
		s.n++
	}
	return store.AppendResult{Stored: len(recs)}, nil
}

func (s *distinctStore) CountViews(page, _ string, _ int64)        { s.viewed[page] = true }
func (s *distinctStore) CountVitals(page string, _ []rollup.Vital) { s.viewed[page] = true }

// TestExplosion checks that the number of distinct names stays bounded for any input: in memory, in
// metrics and on disk.
func TestExplosion(t *testing.T) {
	s := &distinctStore{t: t}
	for _, m := range []*map[string]bool{&s.pages, &s.tags, &s.labels, &s.keys, &s.spans, &s.releases, &s.viewed} {
		*m = map[string]bool{}
	}
	col, fake := newCollector(Options{Store: s, Limits: Limits{PageRate: 1e6}})
	const batch = 200
	const total = 120_000
	send := func(from int) {
		var body strings.Builder
		for i := from; i < from+batch; i++ {
			w := word(i)
			fmt.Fprintf(&body,
				`{"page":"/p/%[1]s","release":"r%[1]s","environment":"e%[1]s","viewId":"%[1]s",`+
					`"labels":{"plan":"%[1]s","k%[1]s":"x","few":"yes"},`+
					`"spans":[{"feature":"f%[1]s","start":0,"end":9},{"label":"phase=%[1]s","start":0,"end":5},`+
					`{"label":"q%[1]s=%[1]s","start":0,"end":5},{"page":"/q/%[1]s","start":5,"end":9}],`+
					`"interval":10,"trace":{"resources":[],"frames":[{"name":"f"}],"stacks":[{"frameId":0}],`+
					`"samples":[{"timestamp":0,"stackId":0},{"timestamp":10,"stackId":0}]}}`, w)
		}
		if got := post(t, col, body.String(), "Content-Type", "application/x-ndjson"); got.status != 202 ||
			len(got.Rejected) > 0 {
			t.Fatalf("got %d %.300q %d", got.status, got.Error, len(got.Rejected))
		}
		r := httptest.NewRequest(http.MethodPost, "/v1/views", strings.NewReader(`{"page":"/v/`+word(from)+
			`","outcome":"error"}`))
		col.ServeHTTP(httptest.NewRecorder(), r)
	}
	count := func() []int {
		return []int{len(s.pages), len(s.tags), len(s.labels), len(s.keys), len(s.spans), len(s.releases),
			series(t, fake)}
	}
	const warm = 100_000 // by then no more places can be reassigned
	for i := 0; i < warm; i += batch {
		send(i)
	}
	early, heap := count(), heapBytes()
	for i := warm; i < total; i += batch {
		send(i)
	}
	late, grown := count(), heapBytes()-heap
	if s.n != total || !slices.Equal(early, late) {
		t.Errorf("%d traces; pages, tags, labels, keys, spans, releases, series: %v, then %v", s.n, early, late)
	}
	lim := col.bounds.Load().Limits
	const maxKinds = 64 + 64/2 // of a budget
	// At most half of the places are reassigned.
	pages, tags, labels := lim.Pages*3/2, lim.Tags*3/2, lim.Labels*3/2
	for i, most := range []int{pages + 2, 3 * (tags + 1), (labels + 1) * (maxKinds + 1), maxKinds + 1,
		tags + pages + labels*(maxKinds+1) + maxKinds, tags + 1, lim.Pages + 100} {
		if late[i] > most {
			t.Errorf("count %d: %d, want at most %d", i, late[i], most)
		}
	}
	if grown > 2<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	if !s.pages[PageOther] || !s.labels["plan="+PageOther] || !s.keys[PageOther] || !s.releases[PageOther] ||
		!s.labels["few=yes"] {
		t.Error("no name is (other), or all are")
	}
}

// word returns a word that is not an identifier.
func word(n int) string {
	b := []byte("x")
	for ; n > 0; n /= 20 {
		b = append(b, "abcdefghijklmnopqrst"[n%20])
	}
	return string(b)
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func series(t *testing.T, s *fakeStore) (n int) {
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		n += len(f.GetMetric())
	}
	return n
}

// TestFoldLabels checks that a context has each key once after labels are folded.
func TestFoldLabels(t *testing.T) {
	c, s := newCollector(Options{})
	for i := range 75 {
		post(t, c, traceJSON("f", fmt.Sprintf(`"viewId":"v%d","labels":{"(other)":"x","k%d":"y","z%d":"y"},`, i, i, i)))
	}
	for id, r := range s.records {
		if _, err := encode.DecodeBinary(r.Payload, encode.FileLimits()); err != nil {
			t.Fatalf("%s is acknowledged but cannot be read: %v", id, err)
		}
	}
	if len(s.records) != 75 {
		t.Errorf("%d traces are stored", len(s.records))
	}
}

// TestFewRequestsTakeNoNames checks, also without --trusted-proxies, that three requests full of
// names take no place from page views.
func TestFewRequestsTakeNoNames(t *testing.T) {
	col, s := newCollector(Options{})
	for n := range 3 {
		var body strings.Builder
		for i := range 600 {
			w := word(1000*n + i)
			fmt.Fprintf(&body,
				`{"page":"/p/%[1]s","release":"r%[1]s","viewId":"%[1]s","labels":{"device":"%[1]s",`+
					`"connection":"c%[1]s","k%[1]s":"x"},"spans":[{"feature":"f%[1]s","start":0,"end":9},`+
					`{"page":"/q/%[1]s","start":5,"end":9}],`+
					`"interval":10,"trace":{"resources":[],"frames":[{"name":"f"}],"stacks":[{"frameId":0}],`+
					`"samples":[{"timestamp":0,"stackId":0},{"timestamp":10,"stackId":0}]}}`, w)
		}
		if got := post(t, col, body.String(), "Content-Type", "application/x-ndjson"); got.status != 202 ||
			len(got.Rejected) > 0 {
			t.Fatalf("got %d %.300q %d", got.status, got.Error, len(got.Rejected))
		}
	}
	clear(s.records)
	named, views := 0, 40
	for i := range views {
		body := traceJSON("f",
			fmt.Sprintf(`"page":"/new-%c","viewId":"v%d","release":"v2","labels":{"device":"desktop",`+
				`"connection":"4g","plan":"paid"},"spans":[{"feature":"search","start":0,"end":9}],`, 'a'+i%4, i))
		if got := post(t, col, body); got.status != 202 {
			t.Fatalf("got %d %q", got.status, got.Error)
		}
	}
	for _, r := range s.records {
		x := traceOf(t, r).Context
		if strings.HasPrefix(x.Page, "/new-") && x.Release == "v2" && x.Labels.Value("device") == "desktop" &&
			x.Labels.Value("connection") == "4g" && x.Labels.Value("plan") == "paid" && x.Spans[0].Name == "search" {
			named++
		}
	}
	if named < views*9/10 {
		t.Errorf("%d of %d page views have their names", named, views)
	}
}
