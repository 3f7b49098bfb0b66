package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// report is the result of a run.
type report struct {
	Mode        string `json:"mode"` // "hard" or "site"
	Form        string `json:"form"` // "binary" or "json"
	Connections int    `json:"connections"`
	Batch       int    `json:"batch"`
	Pages       int    `json:"pages"`
	Nodes       int    `json:"nodes"` // daemons

	Seconds      float64        `json:"seconds"`
	OfferedRate  float64        `json:"offered_traces_per_s"`
	AchievedRate float64        `json:"acknowledged_traces_per_s"`
	BodyBytes    float64        `json:"body_bytes_per_trace"`
	Sent         uint64         `json:"sent_traces"`   // repeats included
	Unsent       uint64         `json:"unsent_traces"` // due while all connections were busy
	Acknowledged uint64         `json:"acknowledged_traces"`
	Duplicates   uint64         `json:"duplicate_traces"` // of the acknowledged, according to the responses
	Stored       uint64         `json:"stored_traces"`    // distinct
	Unclear      uint64         `json:"unclear_traces"`   // further ones, possibly stored
	Requests     uint64         `json:"requests"`         // retries included
	Refused      map[int]uint64 `json:"refused_requests_by_status"`
	Rejected     uint64         `json:"rejected_traces"`
	Broken       uint64         `json:"unanswered_requests"`
	Unconnected  uint64         `json:"unconnected_requests"`
	Retries      uint64         `json:"retries"`
	GivenUp      uint64         `json:"given_up_traces"`

	LatencyMS map[string]float64 `json:"latency_ms"` // of accepted requests, from their due time
	// UsualP99MS is the p99 of the median second (on long runs, ten seconds). A disk that is
	// slow for some seconds dominates the overall p99, but does not affect this one.
	UsualP99MS float64 `json:"usual_p99_ms"`

	MemoryBytes int64 `json:"memory_bytes,omitempty"` // limit of the daemon
	// peak, with mapped files; these are evicted under pressure
	PeakGroupBytes int64     `json:"peak_memory_with_files,omitempty"`
	Attack         *attacked `json:"attack,omitempty"`
	Cheap          *cheap    `json:"cheap,omitempty"`
	StopSeconds    float64   `json:"stop_s,omitempty"` // from SIGTERM to its exit, under the attack
	Dashboards     *polled   `json:"dashboards,omitempty"`

	CPUSeconds     float64    `json:"daemon_cpu_s"` // until everything is rolled up
	CPUPerTraceMS  float64    `json:"daemon_cpu_ms_per_trace"`
	OwnCPUSeconds  float64    `json:"load_cpu_s"`
	PeakRSSBytes   int64      `json:"daemon_peak_rss_bytes"`
	PeakAnonBytes  int64      `json:"daemon_peak_anonymous_bytes"`
	DiskLiveBytes  int64      `json:"disk_bytes"`
	DiskBytes      int64      `json:"disk_bytes_after_stop"`
	DiskPerTrace   float64    `json:"disk_bytes_per_trace"`
	Kills          int        `json:"kills"`
	Restarted      *restarted `json:"restarted,omitempty"`
	RestartSeconds float64    `json:"slowest_restart_s"`

	Pauses           int     `json:"pauses,omitempty"`
	PauseSeconds     float64 `json:"pause_s,omitempty"` // of each pause
	StoreDownSeconds float64 `json:"store_down_s,omitempty"`
	Wiped            int     `json:"wiped_parts_of_store,omitempty"`
	// of fieldtrie_store_lag_seconds, read every second
	LongestLag    float64 `json:"longest_lag_s,omitempty"`
	SettleSeconds float64 `json:"settle_s,omitempty"` // from the end of the load until everything was rolled up

	Verified         bool     `json:"verified"`
	VerifiedPages    int      `json:"verified_pages"`
	EverywherePages  int      `json:"pages_verified_on_each,omitempty"`
	VerifiedTraces   uint64   `json:"verified_traces"`
	FoundTraces      uint64   `json:"found_traces"` // on these pages; at most the verified plus the unclear ones
	SplitViews       uint64   `json:"split_views"`  // on these pages; may count twice
	FoldedViews      uint64   `json:"folded_views"` // possibly missing in responses about a label, as reported there
	Questions        int      `json:"verified_questions"`
	VerifySeconds    float64  `json:"verify_s"`
	Differences      int      `json:"differences"`
	FirstDifferences []string `json:"first_differences,omitempty"`
}

func newReport(c *config) *report {
	o := c.options
	r := &report{Mode: c.mode(), Form: "binary", Connections: o.Connections, Batch: o.Batch, Pages: o.Pages,
		Nodes: max(c.nodes, len(o.Addrs))}
	if o.JSON {
		r.Form = "json"
	}
	return r
}

// mode returns the kind of page views sent.
func (c *config) mode() string {
	if c.options.Site {
		return "site"
	}
	return "hard"
}

var percentiles = []struct {
	name  string
	share float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}

// addLoad adds the results of the load.
func (r *report) addLoad(g *loadgen.Generator, daemons []*watch, own *watch) {
	n := g.Counts()
	s := g.Elapsed().Seconds()
	r.Seconds = round(s)
	r.Sent, r.Unsent, r.Acknowledged, r.Duplicates = n.Traces, n.Unsent, n.Acknowledged, n.Duplicates
	r.Stored, r.Unclear = g.Stored()
	r.Requests, r.Refused, r.Rejected, r.Broken, r.Unconnected = n.Requests, n.Refused, n.Rejected, n.Broken,
		n.Unconnected
	r.Retries, r.GivenUp = n.Retries, n.GivenUp
	if s > 0 {
		r.OfferedRate, r.AchievedRate = round(float64(n.Traces+n.Unsent)/s), round(float64(n.Acknowledged)/s)
	}
	if n.Requests > 0 {
		r.BodyBytes = round(float64(n.Bytes) / float64(n.Requests) / float64(r.Batch))
	}
	r.LatencyMS = map[string]float64{"max": milliseconds(g.Latency.Max())}
	for _, p := range percentiles {
		r.LatencyMS[p.name] = milliseconds(g.Latency.Percentile(p.share))
	}
	r.OwnCPUSeconds = round(own.used().Seconds())
	for _, w := range daemons {
		r.CPUSeconds = round(r.CPUSeconds + w.used().Seconds())
		r.PeakRSSBytes, r.PeakAnonBytes = max(r.PeakRSSBytes, w.rss), max(r.PeakAnonBytes, w.anon)
	}
}

func (r *report) addVerdict(v loadgen.Verdict, took time.Duration) {
	r.Verified, r.VerifySeconds = true, round(took.Seconds())
	r.VerifiedPages, r.VerifiedTraces, r.FoundTraces, r.Questions = v.Pages, v.Traces, v.Found, v.Questions
	r.FoldedViews, r.EverywherePages = v.Folded, v.Everywhere
	r.SplitViews, r.Differences, r.FirstDifferences = v.Split, v.Count, v.Differences
}

// perTrace adds the figures known only at the end.
func (r *report) perTrace() {
	if r.Acknowledged > 0 {
		r.CPUPerTraceMS = round(1000 * r.CPUSeconds / float64(r.Acknowledged))
	}
	disk := r.DiskBytes
	if disk == 0 {
		disk = r.DiskLiveBytes
	}
	if r.Stored > 0 {
		r.DiskPerTrace = round(float64(disk) / float64(r.Stored))
	}
}

func milliseconds(d time.Duration) float64 { return round(d.Seconds() * 1000) }

// round rounds a figure to its significant digits.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// print writes r as a table.
func (r *report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("mode", "%s, %d pages", r.Mode, r.Pages)
	row("sent", "%d traces in %.1f s, %s, %.0f bytes each, batches of %d over %d connections", r.Sent, r.Seconds,
		r.Form, r.BodyBytes, r.Batch, r.Connections)
	row("rate", "%.0f traces/s offered, %.0f/s acknowledged", r.OfferedRate, r.AchievedRate)
	if r.Unsent > 0 {
		row("too late", "%d traces were due and not sent, as all connections were busy; the latency leaves them out",
			r.Unsent)
	}
	row("acknowledged", "%d traces, %d of them duplicates as far as the responses know, %d distinct", r.Acknowledged,
		r.Duplicates, r.Stored)
	for _, status := range slices.Sorted(maps.Keys(r.Refused)) {
		row("refused", "%d requests with status %d", r.Refused[status], status)
	}
	if r.Rejected+r.Broken+r.Unconnected+r.Retries+r.GivenUp > 0 {
		row("failed", "%d requests without an answer, %d without a connection, %d traces rejected", r.Broken,
			r.Unconnected, r.Rejected)
		row("retries", "%d; %d traces given up, %d of them possibly stored", r.Retries,
			r.GivenUp, r.Unclear)
	}
	l := r.LatencyMS
	row("latency", "p50 %.1f ms, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f, from when a request was due; p99 of the "+
		"median second %.1f",
		l["p50"], l["p90"], l["p99"], l["p99.9"], l["max"], r.UsualP99MS)
	if d := r.Dashboards; d != nil {
		d.print(row)
	}
	if a := r.Attack; a != nil {
		a.print(row)
	}
	if x := r.Cheap; x != nil {
		for name, of := range map[string]responses{"questions": x.Questions, "health": x.Health} {
			l := of.LatencyMS
			row("cheap "+name, "%d answers: p50 %.1f ms, p90 %.1f, p99 %.1f, max %.1f; %d failed", of.Answers, l["p50"],
				l["p90"], l["p99"], l["max"], of.Failed)
		}
		row("stop", "%.1f s from SIGTERM to the end", r.StopSeconds)
	}
	if r.PeakRSSBytes > 0 {
		row("daemon", "%.1f s of processor time, %.3f ms a trace; peak memory %.0f MiB resident, %.0f MiB anonymous",
			r.CPUSeconds, r.CPUPerTraceMS, mebi(r.PeakRSSBytes), mebi(r.PeakAnonBytes))
	}
	if r.MemoryBytes > 0 {
		row("memory", "%.0f MiB allowed, %.0f MiB used with files", mebi(r.MemoryBytes), mebi(r.PeakGroupBytes))
	}
	row("load", "%.1f s of processor time", r.OwnCPUSeconds)
	if r.DiskLiveBytes > 0 {
		row("disk", "%.1f MiB, %.1f MiB after the stop, %.0f bytes a trace", mebi(r.DiskLiveBytes), mebi(r.DiskBytes),
			r.DiskPerTrace)
	}
	if x := r.Restarted; x != nil {
		row("restart", "%.1f s to end, %.2f s to be ready; the first query of all pages %.2f s, again %.2f; "+
			"aggregate without a daemon %.2f s, %.0f MiB resident",
			x.Stop, x.Ready, x.First, x.Again, x.Cold, mebi(x.ColdPeakBytes))
	}
	r.printTrouble(row)
	r.printVerdict(row)
	return t.Flush()
}

func (r *report) printVerdict(row func(name, format string, args ...any)) {
	if !r.Verified {
		row("verified", "no")
		return
	}
	verdict := "exactly what was acknowledged"
	switch {
	case r.Differences > 0:
		verdict = fmt.Sprintf("NOT what was acknowledged, %d differences", r.Differences)
	case r.Unclear > 0:
		verdict = fmt.Sprintf("everything acknowledged, once, and %d possibly stored traces",
			int64(r.FoundTraces)-int64(r.VerifiedTraces))
	}
	row("verified", "%s: %d traces of %d pages by %d questions in %.1f s", verdict, r.VerifiedTraces, r.VerifiedPages,
		r.Questions, r.VerifySeconds)
	if r.Nodes > 1 {
		row("", "each page at a daemon taken by chance, %d at each of %d daemons with the same answers, as is the "+
			"catalogue", r.EverywherePages, r.Nodes)
	}
	if r.SplitViews > 0 {
		row("", "%d page views may count twice, as an hour ended between their chunks", r.SplitViews)
	}
	if r.FoldedViews > 0 {
		row("", "%d page views exceeded the label limit of sums: counts for a device may be lower by this many",
			r.FoldedViews)
	}
	if len(r.FirstDifferences) > 0 {
		row("", "%s", strings.Join(r.FirstDifferences, "\n\t"))
	}
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }
