package collect

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// noon is the time of the tests.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

// fakeStore keeps records in memory, and fails on request.
type fakeStore struct {
	mu      sync.Mutex
	records map[store.ID]store.Record
	appends int
	fail    func([]store.Record) error
	counted map[string]int64     // page views by page and reason
	vitals  map[string]int64     // page views by page, labels, vital and value
	metrics *prometheus.Registry // of the Collector
}

func (s *fakeStore) CountViews(page, reason string, views int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counted == nil {
		s.counted = map[string]int64{}
	}
	s.counted[page+" "+reason] += views
}

func (s *fakeStore) CountVitals(page string, vitals []rollup.Vital) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vitals == nil {
		s.vitals = map[string]int64{}
	}
	for _, v := range vitals {
		s.vitals[fmt.Sprintf("%s %v %s %.0f", page, v.Labels, v.Name, v.Histogram.Quantile(0.5))] += v.Weight
	}
}

func (s *fakeStore) Append(ctx context.Context, recs []store.Record) (res store.AppendResult, err error) {
	if err := ctx.Err(); err != nil {
		return res, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appends++
	if s.fail != nil {
		if err := s.fail(recs); err != nil {
			return store.AppendResult{}, err
		}
	}
	if s.records == nil {
		s.records = map[store.ID]store.Record{}
	}
	for _, r := range recs {
		if _, ok := s.records[r.ID]; ok {
			res.Duplicates++
			continue
		}
		s.records[r.ID] = r
		res.Stored++
	}
	return res, nil
}

// only returns the single record of the store.
func (s *fakeStore) only(t testing.TB) store.Record {
	t.Helper()
	if len(s.records) != 1 {
		t.Fatalf("the store has %d records, want 1", len(s.records))
	}
	for r := range maps.Values(s.records) {
		return r
	}
	return store.Record{}
}

func traceOf(t testing.TB, r store.Record) *trie.Trace {
	t.Helper()
	doc, err := encode.DecodeBinary(r.Payload, encode.FileLimits())
	if err != nil {
		t.Fatalf("stored trace %s: %v", r.ID, err)
	}
	return doc.Trace
}

// newCollector returns a Collector with an in-memory store, at noon.
func newCollector(o Options) (*Collector, *fakeStore) {
	s := &fakeStore{metrics: prometheus.NewRegistry()}
	o.Metrics = s.metrics
	if o.Store == nil {
		o.Store = s
	}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	return New(o), s
}

// metric returns the value of a metric, with the given label value if it has labels.
func (s *fakeStore) metric(t testing.TB, name string, label ...string) float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "fieldtrie_ingest_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			if len(label) == 0 || m.GetLabel()[0].GetValue() == label[0] {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

// labelled returns the value of the counter that has the given labels.
func (s *fakeStore) labelled(t testing.TB, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			has := map[string]string{}
			for _, l := range m.GetLabel() {
				has[l.GetName()] = l.GetValue()
			}
			if f.GetName() == "fieldtrie_ingest_"+name && maps.Equal(has, labels) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// reply is a decoded response.
type reply struct {
	answer
	status int
	header http.Header
}

// post sends a body. headers alternates keys and values.
func post(t testing.TB, h http.Handler, body string, headers ...string) reply {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/traces", strings.NewReader(body))
	return send(t, h, r, headers...)
}

func send(t testing.TB, h http.Handler, r *http.Request, headers ...string) reply {
	t.Helper()
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header()}
	if err := json.Unmarshal(w.Body.Bytes(), &out.answer); err != nil {
		t.Fatalf("answer %d %q: %v", w.Code, w.Body, err)
	}
	return out
}

// traceJSON returns a trace with one function of the given name. more is inserted into the
// envelope, for example `"page":"/feed",`.
func traceJSON(name, more string) string {
	return `{` + more + `"interval":10,"trace":{"resources":["https://www.example.com/app.js"],` +
		`"frames":[{"name":"` + name + `","resourceId":0,"line":1,"column":2}],"stacks":[{"frameId":0}],` +
		`"samples":[{"timestamp":0,"stackId":0},{"timestamp":10,"stackId":0}]}}`
}

// traceBinary is like traceJSON in the binary format, after applying change.
func traceBinary(t testing.TB, name, more string, change ...func(*trie.Trace)) string {
	t.Helper()
	tr, err := encode.DecodeTraceJSON([]byte(traceJSON(name, more)), encode.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(tr)
	}
	b, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// delimited joins documents with the length of each before it.
func delimited(docs ...string) string {
	var b []byte
	for _, d := range docs {
		b = protowire.AppendString(b, d)
	}
	return string(b)
}

// compress returns text in a content encoding; "raw" is deflate without zlib.
func compress(t testing.TB, encoding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "":
		return text
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, err = flate.NewWriter(&b, flate.BestCompression)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	default:
		t.Fatalf("no encoding %q", encoding)
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// realTraces returns the traces of real browsers as JSON, by name.
func realTraces(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash("../testdata/traces/*.json.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no real traces: %v", err)
	}
	out := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".json.gz")] = string(data)
	}
	return out
}
