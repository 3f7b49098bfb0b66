package main

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/internal/commandline"
)

// newBuildInfo returns the usual build_info metric.
func newBuildInfo(v commandline.Version) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "fieldtrie_build_info",
		Help: "1, with the version of the daemon, its commit, the time of the commit, and the compiler.",
		ConstLabels: prometheus.Labels{"version": v.Version, "revision": v.Revision, "date": v.Date, "goversion": v.Go,
			"platform": v.Platform},
	})
	info.Set(1)
	return info
}

// newReads returns the counter of files with rules that were read again.
func newReads() *prometheus.CounterVec {
	reads := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fieldtrie_ingest_rules_reads_total",
		Help: "Files with rules that were read again after SIGHUP, by rules: config, sampling, keys, access, " +
			"budgets, owners, and by result: ok, error.",
	}, []string{"rules", "result"})
	// from 0 on, so that an alert sees the first
	for _, rules := range []string{"config", "sampling", "keys", "access", "budgets", "owners"} {
		reads.WithLabelValues(rules, "ok")
		reads.WithLabelValues(rules, "error")
	}
	return reads
}

// newSurplus returns the counter of connections that were closed because there were too many.
func newSurplus() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "fieldtrie_connections_closed_total",
		Help: "Connections closed because there were too many, those that were idle for the longest " +
			"time first.",
	})
}

// Describe implements [prometheus.Collector]. It sends nothing, which makes the collector
// unchecked, so its metrics are only defined in Collect.
func (n *node) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector], with the state of the store at the time of the call.
func (n *node) Collect(out chan<- prometheus.Metric) {
	metric := func(name, help string, kind prometheus.ValueType, v float64, label, value string) {
		labels := prometheus.Labels{}
		if label != "" {
			labels[label] = value
		}
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("fieldtrie_store_"+name, help, nil, labels), kind, v)
	}
	send := func(name, help string, kind prometheus.ValueType, v float64) { metric(name, help, kind, v, "", "") }
	c := n.Counters()
	send("segments_total", "Segments that this node stored.", prometheus.CounterValue, float64(c.Segments))
	send("segment_bytes_total", "Bytes of them.", prometheus.CounterValue, float64(c.SegmentBytes))
	send("traces_total", "Traces that this node stored, also those that were there already.", prometheus.CounterValue,
		float64(c.Traces))
	send("refused_traces_total", "Traces that could not be stored, or did not find room in the queue.",
		prometheus.CounterValue, float64(c.Refused))
	send("queue_traces", "Traces that wait to be stored.", prometheus.GaugeValue, float64(c.QueuedTraces))
	send("queue_bytes", "Bytes of them.", prometheus.GaugeValue, float64(c.QueuedBytes))
	send("spooled_total", "Segments that went to the spool, since the store did not answer.", prometheus.CounterValue,
		float64(c.Spooled))
	send("spool_segments", "Segments that are in it.", prometheus.GaugeValue, float64(c.SpoolSegments))
	send("spool_bytes", "Bytes of them.", prometheus.GaugeValue, float64(c.SpoolBytes))
	send("rolled_up_traces_total", "Traces that this node rolled up, each once for each of its pages.",
		prometheus.CounterValue, float64(c.RolledUp))
	send("duplicates_total", "Traces that were stored before.", prometheus.CounterValue, float64(c.Duplicates))
	send("unreadable_traces_total", "Traces that cannot be decoded, and are in no rollup.", prometheus.CounterValue,
		float64(c.Unreadable))
	send("dropped_counts_total", "Page views without a trace, and Web Vitals, dropped because too many waited.",
		prometheus.CounterValue, float64(c.DroppedCounts))
	send("lost_races_total", "Times that another node was first to write a manifest.", prometheus.CounterValue,
		float64(c.LostRaces))
	send("quarantined_segments_total", "Damaged segments that this node quarantined.", prometheus.CounterValue,
		float64(c.QuarantinedSegments))
	send("lost_segments_total", "Segments that this node acknowledged, and that are neither there nor rolled up.",
		prometheus.CounterValue, float64(c.LostSegments))
	send("quarantined_objects", "Runs and rollups of all shards that cannot be read, so that responses lack them.",
		prometheus.GaugeValue, float64(c.Quarantined))
	send("shards", "Shards that this node rolls up.", prometheus.GaugeValue, float64(c.Shards))
	send("silent_seconds", "How long the store has not answered.", prometheus.GaugeValue, c.Silent.Seconds())
	send("clock_offset_seconds", "How far the clock of the store is ahead of that of this node.", prometheus.GaugeValue,
		c.ClockOffset.Seconds())
	send("cache_hits_total", "Parts of objects that queries found in the cache.", prometheus.CounterValue,
		float64(c.CacheHits))
	send("cache_misses_total", "Parts of objects that queries had to get from the store.", prometheus.CounterValue,
		float64(c.CacheMisses))
	send("unread_parts_total",
		"Parts of the store that queries should have read and could not: damaged, missing, or not delivered.",
		prometheus.CounterValue, float64(c.Unread))
	for kind, count := range map[string]uint64{"put": c.Requests.Put, "get": c.Requests.Get, "list": c.Requests.List,
		"delete": c.Requests.Delete} {
		metric("requests_total", "Requests to the store, by what they are billed as; each attempt counts.",
			prometheus.CounterValue, float64(count), "kind", kind)
	}
	ofShard := func(name, help string, shard int, v float64) {
		metric(name, help, prometheus.GaugeValue, v, "shard", strconv.Itoa(shard))
	}
	for shard := range c.Lags {
		ofShard("lag_seconds", "How old the oldest segment is that waits to be rolled up.", shard,
			c.Lags[shard].Seconds())
		ofShard("waiting_segments", "Segments that wait to be rolled up.", shard, float64(c.Waiting[shard]))
		ofShard("open_hour_seconds", "How long the oldest hour that is not closed has been over.", shard,
			c.Open[shard].Seconds())
	}
	send("lost_manifests", "Shards that stand still, since their manifest is not there.", prometheus.GaugeValue,
		float64(c.Lost))
	if last := n.backedUp.Load(); last != nil {
		send("backup_timestamp_seconds", "When the last whole backup that this node knows of was begun.",
			prometheus.GaugeValue, float64(last.Unix()))
	}
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	stuck := n.Stuck() != nil
	send("oldest_wait_seconds",
		"How long the request that has waited longest for the disk has waited, 0 if none waits.", prometheus.GaugeValue,
		n.OldestWait().Seconds())
	send("stuck", "1 if nothing was written for too long and traces are refused, else 0.",
		prometheus.GaugeValue, is(stuck))
	send("clock_doubted", "1 if nothing is deleted by its age since a clock may be wrong, else 0.",
		prometheus.GaugeValue, is(n.Doubt() != nil))
	if lost, ok := n.LostCommits(); ok {
		send("lost_commits", "Acknowledged records of commits that were missing or damaged when this node started.",
			prometheus.GaugeValue, float64(lost))
	}
	room, onDisk := n.Room()
	if !onDisk || stuck { // then what looks at the disk may never come back
		return
	}
	send("free_bytes", "Bytes of the filesystem that are left.", prometheus.GaugeValue, float64(room.Free))
	send("needed_bytes", "Bytes that must be free for traces to be accepted.", prometheus.GaugeValue,
		float64(room.Needed))
	send("refusing_for_space", "1 if traces are refused because too little space is free, else 0.",
		prometheus.GaugeValue, is(room.Refusing))
	if bytes, err := n.Taken(); err == nil {
		send("disk_bytes", "Bytes that traces and rollups take on the disk.", prometheus.GaugeValue, float64(bytes))
	}
}
