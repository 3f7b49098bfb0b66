package collect

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// metrics are what a daemon shows of its receiving side.
type metrics struct {
	requests *prometheus.CounterVec // by status and path
	refused  *prometheus.CounterVec // requests, by reason
	sites    *prometheus.CounterVec // requests with a key, by site and result
	traces   *prometheus.CounterVec // by result
	rejected *prometheus.CounterVec // traces, by reason
	script   *prometheus.CounterVec // of these, what the browser script should not have sent, by reason
	bytes    prometheus.Counter
	seconds  prometheus.Histogram
	inFlight prometheus.GaugeFunc
	folded   *prometheus.CounterVec // traces, by what of them
	untagged prometheus.Counter
	unruled  prometheus.Counter // features
	skewed   prometheus.Counter
	marked   prometheus.Counter // traces
	cut      prometheus.Counter
	thinned  prometheus.Counter
	views    *prometheus.CounterVec // page views, by page and outcome
	vitals   *prometheus.CounterVec // page views, by page, Web Vital and rating

	// What the SDK says that it costs, and the time for which it does.
	work     [3]prometheus.Counter // seconds to start, stop, encode
	sent     prometheus.Counter
	dropped  prometheus.Counter
	profiled prometheus.Counter
}

// newMetrics makes the metrics and registers them, unless r is nil.
func newMetrics(r prometheus.Registerer, inFlight func() int64) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	work := vec("fieldtrie_sdk_seconds_total", "Main-thread time that the SDK spent in browsers, by work: start, stop, encode.", "work")
	m := &metrics{
		requests: vec("fieldtrie_ingest_requests_total", "Requests to POST /v1/traces and /v1/views, by HTTP status and path.", "code", "path"),
		refused:  vec("fieldtrie_ingest_refused_total", "Requests of which nothing was accepted, by reason.", "reason"),
		sites:    vec("fieldtrie_ingest_site_requests_total", "Requests with a key, by its site and by what became of them: accepted, refused. Keys of the command line have no site.", "site", "result"),
		traces:   vec("fieldtrie_ingest_traces_total", "Traces, by what became of them: accepted, duplicate, rejected.", "result"),
		rejected: vec("fieldtrie_ingest_rejected_total", "Traces that were refused for what they hold, by reason.", "reason"),
		script:   vec("fieldtrie_ingest_script_rejected_total", "Traces in the format of the browser script that were refused as malformed, invalid or too large, by reason: a mistake of the script, or somebody who imitates it.", "reason"),
		bytes:    counter("fieldtrie_ingest_bytes_total", "Bytes of request bodies after decompression."),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "fieldtrie_ingest_request_seconds", Help: "Time to answer a request with traces, commit included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		inFlight: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "fieldtrie_ingest_in_flight_bytes", Help: "Memory that the bodies of the requests at work take.",
		}, func() float64 { return float64(inFlight()) }),
		folded:   vec("fieldtrie_ingest_folded_total", "Traces of which something is stored as (other), since there were too many distinct ones, by what: page, feature, release, environment, label.", "what"),
		untagged: counter("fieldtrie_ingest_uncounted_tags_total", "Features, releases and environments of traces that the catalogue does not count, since the trace has too many or they are too long."),
		unruled:  counter("fieldtrie_ingest_feature_rules_skipped_total", "Features of rules that a trace did not get, since it would have too many spans with them."),
		skewed:   counter("fieldtrie_ingest_skewed_clocks_total", "Traces whose client clock was too far off to be kept."),
		marked:   counter("fieldtrie_ingest_marked_traces_total", "Traces with markers of the browser, which say when it was at garbage collection, style, layout or paint: see docs/sdk.md."),
		cut:      counter("fieldtrie_ingest_cut_traces_total", "Traces whose samples claimed more time than a trace can have: the rest of them was cut off."),
		thinned:  counter("fieldtrie_ingest_dropped_spans_total", "Features and labels of traces that began while too many others lasted."),
		views:    vec("fieldtrie_ingest_page_views_total", "Page views, by page and by what became of their profile. Reports count as many as they stand for.", "page", "outcome"),
		vitals:   vec("fieldtrie_ingest_vital_page_views_total", "Page views that reported a Web Vital, by page, vital and rating: good, needs improvement, poor. Reports count as many as they stand for.", "page", "vital", "rating"),
		sent:     counter("fieldtrie_sdk_sent_bytes_total", "Bytes that the SDK sent from browsers, as far as a later trace says so."),
		dropped:  counter("fieldtrie_sdk_dropped_traces_total", "Traces that the SDK could not send and gave up, as far as a later trace says so."),
		profiled: counter("fieldtrie_sdk_profiled_seconds_total", "Time in browsers for which the samples of the traces speak."),
	}
	for i, label := range []string{"start", "stop", "encode"} {
		m.work[i] = work.WithLabelValues(label)
	}
	for _, reason := range scriptMistakes {
		m.script.WithLabelValues(reason)
	}
	for _, reason := range []string{"busy", "no_space", "stuck"} { // from 0 on, so that an alert sees the first
		m.refused.WithLabelValues(reason)
	}
	m.rejected.WithLabelValues("page_rate")
	for _, what := range []string{kindPage, kindFeature, kindRelease, kindEnvironment, kindLabel} {
		m.folded.WithLabelValues(what)
	}
	if r != nil {
		r.MustRegister(m.requests, m.refused, m.traces, m.rejected, m.script, m.bytes, m.seconds, m.inFlight, m.folded, m.untagged, m.unruled, m.skewed, m.cut, m.thinned, m.marked)
		r.MustRegister(m.views, m.vitals, m.sites, work, m.sent, m.dropped, m.profiled)
	}
	return m
}

// Forget removes pages from the metrics.
func (c *Collector) Forget(gone func(page string) bool) {
	for _, vec := range []*prometheus.CounterVec{c.metrics.views, c.metrics.vitals} {
		for _, page := range pagesOf(vec) {
			if gone(page) {
				vec.DeletePartialMatch(prometheus.Labels{"page": page})
			}
		}
	}
}

// pagesOf returns the values of the label page, some of them repeatedly.
func pagesOf(vec *prometheus.CounterVec) (out []string) {
	all := make(chan prometheus.Metric)
	go func() {
		vec.Collect(all)
		close(all)
	}()
	for m := range all {
		var x dto.Metric
		_ = m.Write(&x) // it fails for values that are no UTF-8, which a trace cannot have
		for _, l := range x.GetLabel() {
			if l.GetName() == "page" {
				out = append(out, l.GetValue())
			}
		}
	}
	return out
}

// scriptMistakes are the reasons for which a document is refused that the browser script should not have made.
var scriptMistakes = [...]string{"malformed", "invalid", "trace_size"}
