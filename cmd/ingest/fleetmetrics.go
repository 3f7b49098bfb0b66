package main

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/store/shared"
)

// fleetMetrics shows the state of a machine on a bucket at the time it is asked.
type fleetMetrics struct{ node *shared.Node }

// Describe implements [prometheus.Collector]. It sends nothing, as that of storeMetrics.
func (m fleetMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m fleetMetrics) Collect(out chan<- prometheus.Metric) {
	send := func(name, help string, kind prometheus.ValueType, v float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), kind, v)
	}
	c := m.node.Counters()
	send("fieldtrie_fleet_segments_total", "Segments that this machine stored.", prometheus.CounterValue, float64(c.Segments))
	send("fieldtrie_fleet_segment_bytes_total", "Bytes of them.", prometheus.CounterValue, float64(c.SegmentBytes))
	send("fieldtrie_fleet_traces_total", "Traces that this machine stored, also those that were there already.", prometheus.CounterValue, float64(c.Traces))
	send("fieldtrie_fleet_refused_traces_total", "Traces that could not be stored, or did not find room in the queue.", prometheus.CounterValue, float64(c.Refused))
	send("fieldtrie_fleet_queue_traces", "Traces that wait to be stored.", prometheus.GaugeValue, float64(c.QueuedTraces))
	send("fieldtrie_fleet_queue_bytes", "Bytes of them.", prometheus.GaugeValue, float64(c.QueuedBytes))
	send("fieldtrie_fleet_spooled_total", "Segments that went to the spool, since the store did not answer.", prometheus.CounterValue, float64(c.Spooled))
	send("fieldtrie_fleet_spool_segments", "Segments that are in it.", prometheus.GaugeValue, float64(c.SpoolSegments))
	send("fieldtrie_fleet_spool_bytes", "Bytes of them.", prometheus.GaugeValue, float64(c.SpoolBytes))
	send("fieldtrie_fleet_rolled_up_traces_total", "Traces that this machine rolled up, each once for each of its pages.", prometheus.CounterValue, float64(c.RolledUp))
	send("fieldtrie_fleet_duplicates_total", "Traces that were there already when this machine rolled them up.", prometheus.CounterValue, float64(c.Duplicates))
	send("fieldtrie_fleet_unreadable_traces_total", "Traces that can not be decoded, and are in no sum.", prometheus.CounterValue, float64(c.Unreadable))
	send("fieldtrie_fleet_dropped_counts_total", "Page views without a trace, and Web Vitals, that found no room to wait in.", prometheus.CounterValue, float64(c.DroppedCounts))
	send("fieldtrie_fleet_lost_races_total", "Times that another machine was first to write a manifest.", prometheus.CounterValue, float64(c.LostRaces))
	send("fieldtrie_fleet_bad_segments_total", "Damaged segments that this machine set aside.", prometheus.CounterValue, float64(c.BadSegments))
	send("fieldtrie_fleet_shards", "Shards that this machine rolls up.", prometheus.GaugeValue, float64(c.Shards))
	send("fieldtrie_fleet_silent_seconds", "How long the store has not answered.", prometheus.GaugeValue, c.Silent.Seconds())
	send("fieldtrie_fleet_clock_offset_seconds", "How far the clock of the store is ahead of that of this machine.", prometheus.GaugeValue, c.ClockOffset.Seconds())
	send("fieldtrie_fleet_cache_hits_total", "Parts of objects that questions found in the cache.", prometheus.CounterValue, float64(c.CacheHits))
	send("fieldtrie_fleet_cache_misses_total", "Parts of objects that questions had to get from the store.", prometheus.CounterValue, float64(c.CacheMisses))
	for kind, n := range map[string]uint64{"put": c.Requests.Put, "get": c.Requests.Get, "list": c.Requests.List, "delete": c.Requests.Delete} {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("fieldtrie_fleet_requests_total", "Requests to the store, by what they are billed as; each attempt counts.", []string{"kind"}, nil),
			prometheus.CounterValue, float64(n), kind)
	}
	ofShard := func(name, help string, shard int, v float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, []string{"shard"}, nil), prometheus.GaugeValue, v, strconv.Itoa(shard))
	}
	for shard := range c.Lags {
		ofShard("fieldtrie_fleet_lag_seconds", "How old the oldest segment is that waits to be rolled up.", shard, c.Lags[shard].Seconds())
		ofShard("fieldtrie_fleet_waiting_segments", "Segments that wait to be rolled up.", shard, float64(c.Waiting[shard]))
		ofShard("fieldtrie_fleet_open_hour_seconds", "How long the oldest hour that is not closed has been over.", shard, c.Open[shard].Seconds())
	}
	send("fieldtrie_fleet_lost_manifests", "Shards that stand still, since their manifest is not there.", prometheus.GaugeValue, float64(c.Lost))
}
