package collect

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// metrics are the Prometheus metrics of a Collector.
type metrics struct {
	requests *prometheus.CounterVec // by status and path
	refused  *prometheus.CounterVec // requests, by reason
	sites    *prometheus.CounterVec // requests with a key, by site and result
	traces   *prometheus.CounterVec // by result
	rejected *prometheus.CounterVec // traces, by reason
	script   *prometheus.CounterVec // rejected traces that the browser script should not have sent, by reason
	bytes    prometheus.Counter
	seconds  prometheus.Histogram
	inFlight prometheus.GaugeFunc
	folded   *prometheus.CounterVec // traces, by kind of the folded name
	untagged prometheus.Counter
	unruled  prometheus.Counter // features
	skewed   prometheus.Counter
	marked   prometheus.Counter // traces
	cut      prometheus.Counter
	thinned  prometheus.Counter
	views    *prometheus.CounterVec // page views, by page and outcome
	vitals   *prometheus.CounterVec // page views, by page, Web Vital and rating

	// Costs that the SDK reports, and the profiled time they refer to.
	work     [3]prometheus.Counter // seconds to start, stop, encode
	sent     prometheus.Counter
	dropped  prometheus.Counter
	profiled prometheus.Counter
}

// newMetrics creates the metrics and registers them with r, unless r is nil.
func newMetrics(r prometheus.Registerer, inFlight func() int64) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	work := vec("fieldtrie_sdk_seconds_total",
		"Main-thread time that the SDK spent in browsers, by work: start, stop, encode.", "work")
	m := &metrics{
		requests: vec("fieldtrie_ingest_requests_total",
			"Requests to POST /v1/traces and /v1/views, by HTTP status and path.", "code", "path"),
		refused: vec("fieldtrie_ingest_refused_total", "Requests without any accepted trace, by reason.", "reason"),
		sites: vec("fieldtrie_ingest_site_requests_total",
			"Requests with a key, by site and result: accepted, refused. Keys given on the command line have no site.",
			"site", "result"),
		traces: vec("fieldtrie_ingest_traces_total", "Traces, by result: accepted, duplicate, rejected.", "result"),
		rejected: vec("fieldtrie_ingest_rejected_total", "Traces rejected because of their content, by reason.",
			"reason"),
		script: vec("fieldtrie_ingest_script_rejected_total",
			"Traces in the format of the browser script that were rejected as malformed, invalid or too large, by "+
				"reason: a bug of the script, or an imitation of it.", "reason"),
		bytes: counter("fieldtrie_ingest_bytes_total", "Bytes of request bodies after decompression."),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "fieldtrie_ingest_request_seconds", Help: "Time to answer a request with traces, commit included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		inFlight: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "fieldtrie_ingest_in_flight_bytes", Help: "Memory reserved for the bodies of requests in progress.",
		}, func() float64 { return float64(inFlight()) }),
		folded: vec("fieldtrie_ingest_folded_total",
			"Traces with a name stored as (other), because there were too many distinct names, by kind: page, "+
				"feature, release, environment, label.", "what"),
		untagged: counter("fieldtrie_ingest_uncounted_tags_total",
			"Features, releases and environments that the catalogue does not count, because the trace has too many "+
				"or they are too long."),
		unruled: counter("fieldtrie_ingest_feature_rules_skipped_total",
			"Features that rules did not add to a trace, because it would have had too many spans."),
		skewed: counter("fieldtrie_ingest_skewed_clocks_total",
			"Traces whose client clock was too far off to be used."),
		marked: counter("fieldtrie_ingest_marked_traces_total",
			"Traces with markers of the browser for garbage collection, style, layout or paint, see docs/sdk.md."),
		cut: counter("fieldtrie_ingest_cut_traces_total",
			"Traces whose samples claimed more time than possible; the excess samples were dropped."),
		thinned: counter("fieldtrie_ingest_dropped_spans_total",
			"Features and labels dropped from traces, because too many others overlapped with them."),
		views: vec("fieldtrie_ingest_page_views_total",
			"Page views, by page and outcome of profiling. Reports count with their weight.", "page", "outcome"),
		vitals: vec("fieldtrie_ingest_vital_page_views_total",
			"Page views that reported a Web Vital, by page, vital and rating: good, needs improvement, poor. "+
				"Reports count with their weight.", "page", "vital", "rating"),
		sent: counter("fieldtrie_sdk_sent_bytes_total",
			"Bytes that the SDK sent from browsers, as reported by later traces."),
		dropped: counter("fieldtrie_sdk_dropped_traces_total",
			"Traces that the SDK could not send and dropped, as reported by later traces."),
		profiled: counter("fieldtrie_sdk_profiled_seconds_total",
			"Time in browsers that the samples of the traces cover."),
	}
	for i, label := range []string{"start", "stop", "encode"} {
		m.work[i] = work.WithLabelValues(label)
	}
	for _, reason := range scriptMistakes {
		m.script.WithLabelValues(reason)
	}
	for _, reason := range []string{"busy", "no_space", "stuck"} { // start at 0, so that an alert sees the first
		m.refused.WithLabelValues(reason)
	}
	m.rejected.WithLabelValues("page_rate")
	for _, what := range []string{kindPage, kindFeature, kindRelease, kindEnvironment, kindLabel} {
		m.folded.WithLabelValues(what)
	}
	if r != nil {
		r.MustRegister(m.requests, m.refused, m.traces, m.rejected, m.script, m.bytes, m.seconds, m.inFlight, m.folded,
			m.untagged, m.unruled, m.skewed, m.cut, m.thinned, m.marked)
		r.MustRegister(m.views, m.vitals, m.sites, work, m.sent, m.dropped, m.profiled)
	}
	return m
}

// Forget removes the metrics of pages for which gone returns true.
func (c *Collector) Forget(gone func(page string) bool) {
	for _, vec := range []*prometheus.CounterVec{c.metrics.views, c.metrics.vitals} {
		for _, page := range pagesOf(vec) {
			if gone(page) {
				vec.DeletePartialMatch(prometheus.Labels{"page": page})
			}
		}
	}
}

// pagesOf returns the values of the label page, with duplicates.
func pagesOf(vec *prometheus.CounterVec) (out []string) {
	all := make(chan prometheus.Metric)
	go func() {
		vec.Collect(all)
		close(all)
	}()
	for m := range all {
		var x dto.Metric
		_ = m.Write(&x) // fails only for invalid UTF-8, which a trace cannot have
		for _, l := range x.GetLabel() {
			if l.GetName() == "page" {
				out = append(out, l.GetValue())
			}
		}
	}
	return out
}

// scriptMistakes are rejection reasons that indicate a bug of the browser script.
var scriptMistakes = [...]string{"malformed", "invalid", "trace_size"}
