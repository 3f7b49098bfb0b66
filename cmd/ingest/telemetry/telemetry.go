// Package telemetry sends the daemon's own metrics and traces to an OpenTelemetry collector, by
// OTLP over HTTP. The metrics are the same as at /metrics. Each request to the private address has
// a trace, and a sample of the requests to the public address.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"github.com/fieldtrie/fieldtrie/internal/requests"
)

// Options configures a Sender.
type Options struct {
	// Endpoint is the URL of a collector, such as http://127.0.0.1:4318; metrics go to /v1/metrics
	// below it, traces to /v1/traces. Environment variables configure headers, certificates,
	// timeouts and the metrics interval, see
	// https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
	Endpoint string
	Metrics  prometheus.Gatherer
	Version  string // of the daemon
	Service  string // its name, unless OTEL_SERVICE_NAME is set
	Logger   *slog.Logger
}

// publicShare is the share of requests to the public address that have a trace. It is small,
// because these requests are many and similar.
const publicShare = 0.01

// Sender sends telemetry. A nil Sender sends nothing.
type Sender struct {
	metrics *metric.MeterProvider
	public  *trace.TracerProvider // requests of browsers
	private *trace.TracerProvider
}

// CheckEndpoint returns an error if a non-empty [Options.Endpoint] is invalid.
func CheckEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" ||
		u.Fragment != "":
		return fmt.Errorf("%.80q is not the URL of a collector, such as http://127.0.0.1:4318", endpoint)
	case u.User != nil:
		return errors.New("the URL must not have a password, because it is logged; use OTEL_EXPORTER_OTLP_HEADERS")
	}
	return nil
}

// Start starts to send. An unreachable collector is logged and is not an error.
func Start(ctx context.Context, o Options) (*Sender, error) {
	of, err := resource.Merge(resource.NewSchemaless(attribute.String("service.name", o.Service),
		attribute.String("service.version", o.Version)), resource.Environment())
	if err != nil {
		return nil, fmt.Errorf("describe the daemon: %w", err)
	}
	base := strings.TrimRight(o.Endpoint, "/")
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"))
	if err != nil {
		return nil, fmt.Errorf("send metrics: %w", err)
	}
	traces, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	some := rate.Sometimes{First: 3, Interval: time.Minute}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		some.Do(func() { o.Logger.Warn("telemetry is not sent", "to", o.Endpoint, "err", err) })
	}))
	batch := trace.NewBatchSpanProcessor(traces)
	return &Sender{
		metrics: metric.NewMeterProvider(metric.WithResource(of),
			metric.WithReader(metric.NewPeriodicReader(metrics,
				metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(o.Metrics)))))),
		public: trace.NewTracerProvider(trace.WithResource(of), trace.WithSpanProcessor(batch),
			trace.WithSampler(trace.TraceIDRatioBased(publicShare))),
		private: trace.NewTracerProvider(trace.WithResource(of), trace.WithSpanProcessor(batch),
			trace.WithSampler(trace.ParentBased(trace.AlwaysSample()))),
	}, nil
}

// Close sends buffered data and stops.
func (s *Sender) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return errors.Join(s.public.Shutdown(ctx), s.private.Shutdown(ctx), s.metrics.Shutdown(ctx))
}

// closeWait bounds how long End waits for the collector.
const closeWait = 2 * time.Second

// End is Close with a timeout, for the end of the daemon. Unsent data is lost.
func (s *Sender) End() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = s.Close(ctx) // already logged by the error handler
}

// Public returns a handler that traces a sample of its requests. It ignores their traceparent
// headers.
func (s *Sender) Public(h http.Handler) http.Handler {
	if s == nil {
		return h
	}
	return traced(s.public, h, false, func(r *http.Request) string { return r.Pattern })
}

// Private returns a handler that traces all its requests except probes and scrapes. A request with
// a traceparent header becomes part of its client's trace. Spans are named after the patterns of
// mux, which handles requests that nothing before it rejects.
func (s *Sender) Private(mux *http.ServeMux, h http.Handler) http.Handler {
	if s == nil {
		return h
	}
	all := traced(s.private, h, true, func(r *http.Request) string {
		_, pattern := mux.Handler(r)
		return pattern
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.IsProbe(r) || r.URL.Path == "/metrics" {
			h.ServeHTTP(w, r)
			return
		}
		all.ServeHTTP(w, r)
	})
}

// traced returns a handler that traces requests with their method, route, status and id. If
// continues, they are parts of their clients' traces. The usual libraries are not used, because
// they also send the addresses of visitors, the paths and the browsers.
func traced(p oteltrace.TracerProvider, h http.Handler, continues bool, route func(*http.Request) string) http.Handler {
	tracer := p.Tracer("github.com/fieldtrie/fieldtrie")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if continues { // without tracestate, which can be any text
			parent := propagation.MapCarrier{"traceparent": r.Header.Get("Traceparent")}
			ctx = propagation.TraceContext{}.Extract(ctx, parent)
		}
		method := methodOf(r)
		ctx, span := tracer.Start(ctx, method, oteltrace.WithSpanKind(oteltrace.SpanKindServer))
		defer span.End()
		if !span.IsRecording() {
			h.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(ctx)
		response := requests.Watch(w)
		defer func() { // also if it panics
			if _, path, ok := strings.Cut(route(r), "/"); ok {
				span.SetName(method + " /" + path)
				span.SetAttributes(attribute.String("http.route", "/"+path))
			}
			status := response.Status()
			span.SetAttributes(attribute.String("http.request.method", method),
				attribute.Int("http.response.status_code", status),
				attribute.String("request.id", requests.ID(r)))
			if status >= 500 {
				span.SetStatus(codes.Error, http.StatusText(status))
			}
		}()
		h.ServeHTTP(response, r)
	})
}

// methodOf returns the method of a request, or _OTHER for an unknown one, which can be any text.
// _OTHER is defined by OpenTelemetry's semantic conventions.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return r.Method
	}
	return "_OTHER"
}
