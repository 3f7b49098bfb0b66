package telemetry

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/internal/requests"
)

// collector is an OTLP receiver that decodes requests with OpenTelemetry's messages.
type collector struct {
	t       *testing.T
	mu      sync.Mutex
	metrics map[string]float64
	spans   []*otlptrace.Span
	service string
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
			return
		}
		body = z
	}
	data, err := io.ReadAll(body)
	if err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.URL.Path {
	case "/otlp/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(data, &m); err != nil {
			c.t.Error(err)
		}
		for _, resource := range m.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					for _, p := range m.GetSum().GetDataPoints() {
						c.metrics[m.Name] += p.GetAsDouble()
					}
				}
			}
		}
	case "/otlp/v1/traces":
		var m collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(data, &m); err != nil {
			c.t.Error(err)
		}
		for _, resource := range m.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				if a.Key == "service.name" {
					c.service = a.Value.GetStringValue()
				}
			}
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	default:
		c.t.Errorf("a request to %s", r.URL.Path)
	}
}

// start returns a running Sender, the collector that receives its metrics, and the only registered
// counter.
func start(t *testing.T) (*Sender, *collector, prometheus.Counter) {
	t.Helper()
	c := &collector{t: t, metrics: map[string]float64{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	registry := prometheus.NewRegistry()
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "fieldtrie_test_total"})
	registry.MustRegister(count)
	s, err := Start(t.Context(), Options{Endpoint: server.URL + "/otlp/", Metrics: registry, Version: "1",
		Service: "ingest", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s, c, count
}

// A collector receives the metrics of the registry, and a span for each request to the private
// address, with its route, status and id, in the trace of its client. Probes have no span.
func TestPrivate(t *testing.T) {
	s, c, count := start(t)
	count.Add(3)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/{what}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	// like the check of permissions
	copied := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { mux.ServeHTTP(w, r.Clone(r.Context())) })
	h := requests.WithIDs(s.Private(mux, copied))
	r := httptest.NewRequest(http.MethodGet, "/api/v1/catalog?page=secret", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.metrics["fieldtrie_test_total"] != 3 {
		t.Errorf("the metrics are %v", c.metrics)
	}
	if len(c.spans) != 1 || c.service != "ingest" {
		t.Fatalf("the spans of %q are %v", c.service, c.spans)
	}
	span := c.spans[0]
	if span.Name != "GET /api/v1/{what}" || span.Status.GetCode() != otlptrace.Status_STATUS_CODE_ERROR ||
		!bytes.HasPrefix(span.TraceId, []byte{0x0a, 0xf7, 0x65}) {
		t.Errorf("the span is %v", span)
	}
	text := span.String()
	if !strings.Contains(text, w.Header().Get(requests.Header)) || strings.Contains(text, "secret") ||
		strings.Contains(text, "192.0.2.1") {
		t.Errorf("the span lacks the id, or has the query or an address: %s", text)
	}
}

// Arbitrary text of a client does not reach the collector: neither its tracestate nor a method that
// HTTP does not define.
func TestClientText(t *testing.T) {
	s, c, _ := start(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{what}", func(http.ResponseWriter, *http.Request) {})
	r := httptest.NewRequest("SECRETMETHOD", "/api/x", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	r.Header.Set("Tracestate", "vendor=secretstate")
	r.Header.Set("Baggage", "user=secretuser")
	s.Private(mux, mux).ServeHTTP(httptest.NewRecorder(), r)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(c.spans) != 1 {
		t.Fatalf("got %d spans, want 1", len(c.spans))
	}
	span := c.spans[0]
	if span.Name != "_OTHER /api/{what}" || len(span.ParentSpanId) == 0 ||
		strings.Contains(strings.ToLower(span.String()), "secret") {
		t.Errorf("got %v", span)
	}
}

// A sample of the requests to the public address has a span, and clients cannot influence which.
func TestPublic(t *testing.T) {
	s, c, _ := start(t)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /t/{key}", func(http.ResponseWriter, *http.Request) {})
	h := requests.WithIDs(s.Public(mux))
	const sent = 20_000
	for range sent {
		r := httptest.NewRequest(http.MethodPost, "/t/k", nil)
		r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(c.spans); n < sent*publicShare/2 || n > sent*publicShare*2 {
		t.Errorf("%d of %d requests have a span", n, sent)
	}
	for _, span := range c.spans {
		if span.Name != "POST /t/{key}" || bytes.HasPrefix(span.TraceId, []byte{0x0a, 0xf7, 0x65}) ||
			len(span.ParentSpanId) > 0 || strings.Contains(span.String(), "192.0.2.1") {
			t.Fatalf("the span is %v", span)
		}
	}
}

// Without telemetry, handlers are unchanged.
func TestNone(t *testing.T) {
	var s *Sender
	mux := http.NewServeMux()
	if s.Public(mux) != http.Handler(mux) || s.Private(mux, mux) != http.Handler(mux) || s.Close(t.Context()) != nil {
		t.Error("a nil sender does something")
	}
}

func TestCheckEndpoint(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		"": true, "http://127.0.0.1:4318": true, "https://otel.example/base/": true,
		"127.0.0.1:4318": false, "grpc://a:4317": false, "http://": false, "http://a/?x=1": false,
		"http://u:p@a": false, ":": false,
	} {
		if err := CheckEndpoint(endpoint); (err == nil) != ok {
			t.Errorf("%q: %v", endpoint, err)
		} else if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("the error contains a password: %v", err)
		}
	}
}
