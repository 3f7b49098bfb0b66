package watching

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// metrics collects metrics of changes and notifications.
type metrics struct {
	board  *changes.Board
	braked func(*changes.Register) []changes.Brake
	told   *prometheus.CounterVec
}

func newMetrics(b *changes.Board, braked func(*changes.Register) []changes.Brake, to *notify.File) *metrics {
	m := &metrics{b, braked, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fieldtrie_notifications_total",
		Help: "Sendings to a channel, by outcome: accepted, retry (it is sent again), refused (for good).",
	}, []string{"channel", "outcome"})}
	if to == nil {
		return m
	}
	for i := range to.Channels { // start at 0, so that an alert sees the first increase
		for _, outcome := range []notify.Outcome{notify.Accepted, notify.Retry, notify.Refused} {
			m.told.WithLabelValues(to.Channels[i].Name, string(outcome))
		}
	}
	return m
}

// Describe implements [prometheus.Collector]. It sends nothing, like the collector of a node.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// readTime bounds how long a scrape waits for the changes.
const readTime = 5 * time.Second

// Collect implements [prometheus.Collector]. Unknown values have no series.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	m.told.Collect(out)
	health := m.board.Health()
	count := func(name, help string, n int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, []string{"result"}, nil),
			prometheus.CounterValue, float64(n), labels...)
	}
	const evaluations = "fieldtrie_changes_evaluations_total"
	const help = "Evaluations of this node, by result: saved, lost (another node was first), failed."
	count(evaluations, help, health.Evaluations, "saved")
	count(evaluations, help, health.Lost, "lost")
	count(evaluations, help, health.Failed, "failed")
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	r, err := m.board.Register(ctx)
	if err != nil {
		return
	}
	states := map[watch.State]int{watch.Open: 0, watch.Acknowledged: 0, watch.Expected: 0, watch.Resolved: 0}
	for i := range r.Changes {
		states[r.Changes[i].State]++
	}
	state := prometheus.NewDesc("fieldtrie_changes",
		"Changes that are known, by state: open, acknowledged, expected, resolved.", []string{"state"}, nil)
	for s, n := range states {
		out <- prometheus.MustNewConstMetric(state, prometheus.GaugeValue, float64(n), string(s))
	}
	if !r.Evaluated.IsZero() {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("fieldtrie_changes_evaluated_timestamp_seconds",
			"When pages were looked at for changes last, by whichever node.", nil, nil),
			prometheus.GaugeValue, float64(r.Evaluated.Unix()))
	}
	brakes := m.braked(r)
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("fieldtrie_brakes",
		"Pages of which fewer page views are profiled, since that cost visitors more than max_cost.", nil, nil),
		prometheus.GaugeValue, float64(len(brakes)))
	rate := prometheus.NewDesc("fieldtrie_brake_rate",
		"Share of the page views of a page that may be profiled, since profiling cost visitors more than max_cost.",
		[]string{"page"}, nil)
	for _, b := range brakes {
		out <- prometheus.MustNewConstMetric(rate, prometheus.GaugeValue, b.Rate, b.Page)
	}
	if !r.Costs.IsZero() {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("fieldtrie_costs_evaluated_timestamp_seconds",
			"End of the last hour after which it was looked at what profiling costs.", nil, nil),
			prometheus.GaugeValue, float64(r.Costs.Unix()))
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("fieldtrie_notifications_waiting",
		"Notifications that a channel has not got yet.", nil, nil), prometheus.GaugeValue, float64(len(r.Outbox)))
}
