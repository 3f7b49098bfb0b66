package rules

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// series are metrics of a daemon, one sample a minute, in promtool's notation: FIRST+STEPxTIMES.
type series string

// minutes returns the length of series.
func (s series) minutes(t *testing.T) int {
	t.Helper()
	_, values, _ := strings.Cut(string(s), "} ")
	n := -1
	for v := range strings.FieldsSeq(values) {
		n++
		if _, times, many := strings.Cut(v, "x"); many {
			more, err := strconv.Atoi(times)
			if err != nil {
				t.Fatal(err)
			}
			n += more
		}
	}
	return n
}

// cases have series for each alert, with and without the problem. The first word of the name is the
// alert.
func cases() map[string]struct{ trouble, healthy []series } {
	return map[string]struct{ trouble, healthy []series }{
		"FieldtrieBudgetBlown": {
			[]series{`fieldtrie_budget_blown{instance="a",budget="home",page="/",metric="p75"} 1x60`},
			[]series{`fieldtrie_budget_blown{instance="a",budget="home",page="/",metric="p75"} 0x60`},
		},
		"FieldtrieDown": {
			[]series{`up{job="fieldtrie",instance="a"} 0x60`},
			[]series{`up{job="fieldtrie",instance="a"} 1x60`, `up{job="other"} 0x60`},
		},
		"FieldtrieStuck": {
			[]series{`fieldtrie_store_stuck{instance="a"} 1x60`},
			[]series{`fieldtrie_store_stuck{instance="a"} 0x60`},
		},
		"FieldtrieRefusing": {
			[]series{`fieldtrie_store_refusing_for_space{instance="a"} 1x60`},
			[]series{`fieldtrie_store_refusing_for_space{instance="a"} 0x60`},
		},
		"FieldtrieFailing": {
			[]series{`fieldtrie_ingest_requests_total{instance="a",code="202"} 0+900x60`,
				`fieldtrie_ingest_requests_total{instance="a",code="503"} 0+100x60`},
			[]series{`fieldtrie_ingest_requests_total{instance="a",code="202"} 0+990x60`,
				`fieldtrie_ingest_requests_total{instance="a",code="429"} 0+10x60`},
		},
		"FieldtrieScriptRejected": {
			[]series{`fieldtrie_ingest_script_rejected_total{instance="a"} 0+10x60`,
				`fieldtrie_ingest_traces_total{instance="a",result="accepted"} 0+1000x60`},
			[]series{`fieldtrie_ingest_script_rejected_total{instance="a"} 1x60`,
				`fieldtrie_ingest_traces_total{instance="a",result="accepted"} 0+1000x60`},
		},
		"FieldtrieQueriesFailing": {
			[]series{`fieldtrie_query_requests_total{instance="a",code="200"} 0+9x60`,
				`fieldtrie_query_requests_total{instance="a",code="504"} 0+1x60`},
			[]series{`fieldtrie_query_requests_total{instance="a",code="200"} 0+90x60`,
				`fieldtrie_query_requests_total{instance="a",code="400"} 0+50x60`},
		},
		"FieldtrieDiskLow": {
			[]series{`fieldtrie_store_free_bytes{instance="a"} 1000-10x60`,
				`fieldtrie_store_needed_bytes{instance="a"} 100x60`},
			[]series{`fieldtrie_store_free_bytes{instance="a"} 1000x60`,
				`fieldtrie_store_needed_bytes{instance="a"} 100x60`},
		},
		"FieldtrieNoTraces": {
			[]series{`fieldtrie_ingest_traces_total{instance="a",result="accepted"} 7x60`},
			[]series{`fieldtrie_ingest_traces_total{instance="a",result="accepted"} 0+1x60`},
		},
		"FieldtrieBucketSilent": {
			[]series{`fieldtrie_store_silent_seconds{instance="a"} 0+60x60`},
			[]series{`fieldtrie_store_silent_seconds{instance="a"} 14x60`},
		},
		"FieldtrieNotStoring": {
			[]series{`fieldtrie_store_refused_traces_total{instance="a"} 0+5x60`},
			[]series{`fieldtrie_store_refused_traces_total{instance="a"} 5x60`},
		},
		"FieldtrieManifestLost": {
			[]series{`fieldtrie_store_lost_manifests{instance="a"} 1x60`,
				`fieldtrie_store_lost_manifests{instance="b"} 0x60`},
			[]series{`fieldtrie_store_lost_manifests{instance="a"} 0x60`},
		},
		"FieldtrieQuarantinedSegments": {
			[]series{`fieldtrie_store_quarantined_segments_total{instance="a"} 1x60`},
			[]series{`fieldtrie_store_quarantined_segments_total{instance="a"} 0x60`},
		},
		"FieldtrieQuarantined": {
			[]series{`fieldtrie_store_quarantined_objects{instance="a"} 1x60`,
				`fieldtrie_store_quarantined_objects{instance="b"} 1x60`},
			[]series{`fieldtrie_store_quarantined_objects{instance="a"} 0x60`},
		},
		"FieldtrieLost": {
			[]series{`fieldtrie_store_lost_commits{instance="a"} 2x60`,
				`fieldtrie_store_lost_segments_total{instance="a"} 0x60`},
			[]series{`fieldtrie_store_lost_commits{instance="a"} 0x60`,
				`fieldtrie_store_lost_segments_total{instance="a"} 0x60`},
		},
		"FieldtrieUnreadable": {
			[]series{`fieldtrie_store_unreadable_traces_total{instance="a"} 1x60`},
			[]series{`fieldtrie_store_unreadable_traces_total{instance="a"} 0x60`},
		},
		"FieldtrieIncomplete": {
			[]series{`fieldtrie_store_unread_parts_total{instance="a"} 0x30 2x30`},
			[]series{`fieldtrie_store_unread_parts_total{instance="a"} 2x60`},
		},
		"FieldtrieLagging": {
			ofShards("lag_seconds", "0+60x60", "0+60x60", "15x60"),
			// One of the machines has not checked the shard for a long time.
			ofShards("lag_seconds", "0+60x60", "15x60", "15x60"),
		},
		"FieldtrieLagging of a directory": {
			ofShards("lag_seconds", "15x60", "15x60", "0+60x60"),
			ofShards("lag_seconds", "15x60", "15x60", "15x60"),
		},
		"FieldtrieHourOpen": {
			ofShards("open_hour_seconds", "3000+60x60", "3000+60x60", "120x60"),
			ofShards("open_hour_seconds", "3000+60x60", "120x60", "120x60"),
		},
		"FieldtrieHourOpen of a directory": {
			ofShards("open_hour_seconds", "120x60", "120x60", "3000+60x60"),
			ofShards("open_hour_seconds", "120x60", "120x60", "120x60"),
		},
		"FieldtrieSpooled": {
			[]series{`fieldtrie_store_spool_segments{instance="a"} 3x60`},
			[]series{`fieldtrie_store_spool_segments{instance="a"} 0x50 3x9`},
		},
		"FieldtrieClockWrong": {
			[]series{`fieldtrie_store_clock_offset_seconds{instance="a"} -90x60`},
			[]series{`fieldtrie_store_clock_offset_seconds{instance="a"} -2x60`},
		},
		"FieldtrieBusy": {
			[]series{`fieldtrie_ingest_refused_total{instance="a",reason="busy"} 0+1x60`},
			[]series{`fieldtrie_ingest_refused_total{instance="a",reason="busy"} 9x60`,
				`fieldtrie_ingest_refused_total{instance="a",reason="key"} 0+9x60`},
		},
		"FieldtrieSlow": {
			latencies("fieldtrie_ingest_request_seconds", 900, 980, 1000),
			latencies("fieldtrie_ingest_request_seconds", 900, 995, 1000),
		},
		"FieldtriePagesFolded": {
			[]series{`fieldtrie_ingest_folded_total{instance="a",what="page"} 0+1x60`},
			[]series{`fieldtrie_ingest_folded_total{instance="a",what="page"} 5x60`,
				`fieldtrie_ingest_folded_total{instance="a",what="label"} 0+1x60`},
		},
		"FieldtrieNamesFolded": {
			[]series{`fieldtrie_ingest_folded_total{instance="a",what="label"} 0+1x60`},
			[]series{`fieldtrie_ingest_folded_total{instance="a",what="label"} 5x60`,
				`fieldtrie_ingest_folded_total{instance="a",what="page"} 0+1x60`},
		},
		"FieldtriePageOverRate": {
			[]series{`fieldtrie_ingest_rejected_total{instance="a",reason="page_rate"} 0+1x60`},
			[]series{`fieldtrie_ingest_rejected_total{instance="a",reason="page_rate"} 1x60`,
				`fieldtrie_ingest_rejected_total{instance="a",reason="invalid"} 0+1x60`},
		},
		"FieldtrieFeatureRuleSkipped": {
			[]series{`fieldtrie_ingest_feature_rules_skipped_total{instance="a"} 0+1x60`},
			[]series{`fieldtrie_ingest_feature_rules_skipped_total{instance="a"} 3x60`},
		},
		"FieldtrieHeaderLost": {
			[]series{`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="header"} 0+10x60`,
				`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="profiled"} 0+90x60`},
			[]series{`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="header"} 0+2x60`,
				`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="profiled"} 0+98x60`},
		},
		"FieldtrieHeaderLost against a day ago": {
			[]series{`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="header"} 0+10x1440 14410+30x120`,
				`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="profiled"} 0+90x1440 129610+70x120`},
			[]series{`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="header"} 0+10x1440 14410+15x120`,
				`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="profiled"} 0+90x1440 129610+85x120`},
		},
		"FieldtrieScriptErrors": {
			[]series{`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="error"} 0+2x60`,
				`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="profiled"} 0+98x60`},
			[]series{`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="error"} 0x30 5x30`,
				`fieldtrie_ingest_page_views_total{instance="a",page="/",outcome="profiled"} 0+1x60`},
		},
		"FieldtrieCost": {
			[]series{`fieldtrie_sdk_seconds_total{instance="a",work="start"} 0+1x60`,
				`fieldtrie_sdk_seconds_total{instance="a",work="encode"} 0+1x60`,
				`fieldtrie_sdk_profiled_seconds_total{instance="a"} 0+100x60`},
			[]series{`fieldtrie_sdk_seconds_total{instance="a",work="start"} 0+1x60`,
				`fieldtrie_sdk_profiled_seconds_total{instance="a"} 0+300x60`},
		},
		"FieldtrieVitalPoor": {
			[]series{`fieldtrie_ingest_vital_page_views_total{instance="a",page="/",vital="lcp",rating="poor"} ` +
				`0+30x120`, `fieldtrie_ingest_vital_page_views_total{instance="a",page="/",vital="lcp",` +
				`rating="good"} 0+70x120`},
			[]series{`fieldtrie_ingest_vital_page_views_total{instance="a",page="/",vital="lcp",rating="poor"} ` +
				`0+20x120`, `fieldtrie_ingest_vital_page_views_total{instance="a",page="/",vital="lcp",` +
				`rating="good"} 0+80x120`},
		},
		"FieldtrieVitalPoor of few views": {
			[]series{`fieldtrie_ingest_vital_page_views_total{instance="a",page="/",vital="lcp",rating="poor"} ` +
				`0+30x120`},
			[]series{`fieldtrie_ingest_vital_page_views_total{instance="a",page="/",vital="lcp",rating="poor"} ` +
				`0+1x120`},
		},
		"FieldtrieQueriesWaiting": {
			[]series{`fieldtrie_queries_waiting{instance="a"} 2x60`},
			[]series{`fieldtrie_queries_waiting{instance="a"} 0 2 0 0 1 0x50 3`},
		},
		"FieldtrieQueriesSlow": {
			latencies("fieldtrie_query_request_seconds", 900, 950, 980),
			latencies("fieldtrie_query_request_seconds", 900, 990, 999),
		},
		"FieldtrieLoginsFailing": {
			[]series{`fieldtrie_access_refused_total{instance="a",reason="provider"} 0+1x60`},
			[]series{`fieldtrie_access_refused_total{instance="a",reason="provider"} 7x60`,
				`fieldtrie_access_refused_total{instance="a",reason="scope"} 0+1x60`},
		},
		"FieldtrieGuessing": {
			[]series{`fieldtrie_access_refused_total{instance="a",reason="unknown"} 0+1x60`,
				`fieldtrie_access_refused_total{instance="a",reason="busy"} 0+1x60`},
			[]series{`fieldtrie_access_refused_total{instance="a",reason="unknown"} 0+1x60`,
				`fieldtrie_access_refused_total{instance="a",reason="anonymous"} 0+9x60`},
		},
		"FieldtrieRulesBroken": {
			[]series{`fieldtrie_ingest_rules_reads_total{instance="a",rules="keys",result="error"} 0x30 1x30`},
			[]series{`fieldtrie_ingest_rules_reads_total{instance="a",rules="keys",result="error"} 1x60`,
				`fieldtrie_ingest_rules_reads_total{instance="a",rules="keys",result="ok"} 0+1x60`},
		},
		"FieldtrieChangesLate": {
			[]series{`fieldtrie_changes_evaluated_timestamp_seconds{instance="a"} -9000x60`},
			[]series{`fieldtrie_changes_evaluated_timestamp_seconds{instance="a"} -7000x60`},
		},
		"FieldtrieNotificationsRefused": {
			[]series{`fieldtrie_notifications_total{instance="a",channel="team",outcome="refused"} 0x30 1x30`},
			[]series{`fieldtrie_notifications_total{instance="a",channel="team",outcome="refused"} 3x60`,
				`fieldtrie_notifications_total{instance="a",channel="team",outcome="retry"} 0+1x60`},
		},
		"FieldtrieNotificationsWaiting": {
			[]series{`fieldtrie_notifications_waiting{instance="a"} 2x60`},
			[]series{`fieldtrie_notifications_waiting{instance="a"} 2x30 0 2x28`},
		},
		"FieldtrieDiskSlow": {
			[]series{`fieldtrie_store_oldest_wait_seconds{instance="a"} 4x60`},
			[]series{`fieldtrie_store_oldest_wait_seconds{instance="a"} 0x58 4 2`},
		},
		"FieldtrieQueueFull": {
			[]series{`fieldtrie_store_queue_traces{instance="a"} 13000x60`},
			[]series{`fieldtrie_store_queue_traces{instance="a"} 8000x60`},
		},
		"FieldtrieViewsDropped": {
			[]series{`fieldtrie_store_dropped_counts_total{instance="a"} 0x50 5x10`},
			[]series{`fieldtrie_store_dropped_counts_total{instance="a"} 5x60`},
		},
		"FieldtrieSymbolsDamaged": {
			[]series{`fieldtrie_symbols_damaged{instance="a"} 1x60`},
			[]series{`fieldtrie_symbols_damaged{instance="a"} 0x60`},
		},
		"FieldtrieShardUnowned": {
			append(ofShards("lag_seconds", "15x60", "15x60", "15x60"), `fieldtrie_store_shards{instance="a"} 0x60`,
				`fieldtrie_store_shards{instance="b"} 0x60`, `fieldtrie_store_shards{instance="c"} 4x60`),
			append(ofShards("lag_seconds", "15x60", "15x60", "15x60"), `fieldtrie_store_shards{instance="a"} 0x60`,
				`fieldtrie_store_shards{instance="b"} 1x60`, `fieldtrie_store_shards{instance="c"} 4x60`),
		},
		"FieldtrieNodesCompete": {
			[]series{`fieldtrie_store_lost_races_total{instance="a"} 0+2x120`},
			[]series{`fieldtrie_store_lost_races_total{instance="a"} 0+0.5x120`},
		},
		"FieldtrieBackupOld": {
			[]series{`fieldtrie_store_backup_timestamp_seconds{instance="a"} -200000x120`,
				`fieldtrie_store_backup_timestamp_seconds{instance="b"} -190000x120`},
			[]series{`fieldtrie_store_backup_timestamp_seconds{instance="a"} -200000x120`,
				`fieldtrie_store_backup_timestamp_seconds{instance="b"} -1000x120`},
		},
		"FieldtrieBackupOld of a directory": {
			[]series{`fieldtrie_store_backup_timestamp_seconds{instance="a"} -200000x120`,
				`fieldtrie_store_free_bytes{instance="a"} 1000x120`,
				`fieldtrie_store_backup_timestamp_seconds{instance="b"} -1000x120`},
			[]series{`fieldtrie_store_backup_timestamp_seconds{instance="a"} -1000x120`,
				`fieldtrie_store_free_bytes{instance="a"} 1000x120`},
		},
		"FieldtrieBraked": {
			[]series{`fieldtrie_brakes{instance="a"} 0x20 1x40`},
			[]series{`fieldtrie_brakes{instance="a"} 0x60`},
		},
		"FieldtrieClockDoubted": {
			[]series{`fieldtrie_store_clock_doubted{instance="a"} 1x60`},
			[]series{`fieldtrie_store_clock_doubted{instance="a"} 0x50 1x9`},
		},
	}
}

// latencies are series of a histogram: per minute, the number of requests of a thousand that took
// up to 0.5, 1 and 10 s. The others took up to 20.
func latencies(name string, half, one, ten int) (out []series) {
	for le, n := range map[string]int{"0.5": half, "1": one, "10": ten, "20": 1000, "+Inf": 1000} {
		out = append(out, series(fmt.Sprintf("%s_bucket{instance=\"a\",path=\"/\",le=%q} 0+%dx120", name, le, n)))
	}
	return out
}

// ofShards are series of a shard: of two machines on a bucket, and of one with a directory.
func ofShards(name, one, other, directory string) []series {
	of := func(instance, values string) series {
		return series(fmt.Sprintf("fieldtrie_store_%s{instance=%q,shard=\"3\"} %s", name, instance, values))
	}
	return []series{of("a", one), of("b", other), of("c", directory),
		`fieldtrie_store_free_bytes{instance="c"} 1000x60`}
}

// Prometheus accepts the file, and each alert fires within an hour of the problem, has texts, and
// is silent without it.
func TestAlerts(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	file, errs := rulefmt.ParseFile("../prometheus/alerts.yml", false, model.UTF8Validation, p, slog.Default())
	for _, err := range errs {
		t.Error(err)
	}
	alerts, untested := map[string]rulefmt.Rule{}, map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			alerts[r.Alert], untested[r.Alert] = r, true
		}
	}
	for name, c := range cases() {
		alert, _, _ := strings.Cut(name, " ")
		r, ok := alerts[alert]
		if !ok {
			t.Errorf("alert %s does not exist", alert)
			continue
		}
		delete(untested, alert)
		t.Run(name, func(t *testing.T) {
			if n := firing(t, p, r, c.trouble); n == 0 {
				t.Error("the alert does not fire")
			}
			if n := firing(t, p, r, c.healthy); n > 0 {
				t.Errorf("%d alerts fire without a reason", n)
			}
		})
	}
	for name := range untested {
		t.Errorf("%s has no series in this test", name)
	}
	text, err := os.ReadFile("../../../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, m := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(string(text), -1) {
		described = append(described, m[1])
	}
	if slices.Sort(described); !slices.Equal(described, slices.Sorted(maps.Keys(alerts))) {
		t.Errorf("docs/alerts.md describes %q", described)
	}
	// A rule's section in the documentation names the rule's metrics.
	for name, r := range alerts {
		_, section, _ := strings.Cut(string(text), "### "+name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		metric := regexp.MustCompile(`fieldtrie_\w+|up\b`).FindString(r.Expr)
		if !strings.Contains(section, strings.TrimSuffix(metric, "_bucket")) {
			t.Errorf("the section of %s lacks the metric %s", name, metric)
		}
	}
}

// firing returns the number of alerts of a rule that fire after an hour of series, or after all of
// them if they are longer. Each must link to its section in the daemon's documentation.
func firing(t *testing.T, p parser.Parser, r rulefmt.Rule, list []series) (n int) {
	t.Helper()
	load := "load 1m\n"
	for _, s := range list {
		load += "  " + string(s) + "\n"
	}
	end := 60
	for _, l := range list {
		end = max(end, l.minutes(t))
	}
	load += fmt.Sprintf("  up{job=\"fieldtrie\",instance=\"other\"} 1x%d\n", end)
	storage := promqltest.LoadedStorage(t, load)
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1e6)
	expr, err := p.ParseExpr(r.Expr)
	if err != nil {
		t.Fatal(err)
	}
	rule := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels),
		labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.Default())
	for at := time.Unix(0, 0); !at.After(time.Unix(int64(60*end), 0)); at = at.Add(time.Minute) {
		if _, err := rule.Eval(t.Context(), 0, at, rules.EngineQueryFunc(engine, storage), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range rule.ActiveAlerts() {
		if a.State != rules.StateFiring {
			continue
		}
		n++
		a.Annotations.Range(func(l labels.Label) {
			if strings.Contains(l.Value, "<error") || strings.Contains(l.Value, "<no value>") {
				t.Errorf("%s: %s", l.Name, l.Value)
			}
		})
		if link := a.Annotations.Get("runbook_url"); !regexp.MustCompile(`^http://(a|b|c|other)/docs/alerts\.html#` +
			strings.ToLower(r.Alert) + `$`).MatchString(link) {
			t.Errorf("the runbook link is %q", link)
		}
	}
	return n
}
