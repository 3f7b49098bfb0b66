package rules

import (
	"fmt"
	"log/slog"
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

// series are what a daemon says each minute, as promtool writes it: FIRST+STEPxTIMES.
type series string

// cases have series that mean trouble, and some that do not, for each alert, which is the first word of the name.
func cases() map[string]struct{ trouble, healthy []series } {
	return map[string]struct{ trouble, healthy []series }{
		"FieldtrieBudgetBlown": {
			[]series{`fieldtrie_budget_blown{budget="home",page="/",metric="p75"} 1x60`},
			[]series{`fieldtrie_budget_blown{budget="home",page="/",metric="p75"} 0x60`},
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
			[]series{`fieldtrie_ingest_requests_total{instance="a",code="202"} 0+900x60`, `fieldtrie_ingest_requests_total{instance="a",code="503"} 0+100x60`},
			[]series{`fieldtrie_ingest_requests_total{instance="a",code="202"} 0+990x60`, `fieldtrie_ingest_requests_total{instance="a",code="429"} 0+10x60`},
		},
		"FieldtrieScriptRejected": {
			[]series{`fieldtrie_ingest_script_rejected_total{instance="a"} 0+10x60`, `fieldtrie_ingest_traces_total{instance="a",result="accepted"} 0+1000x60`},
			[]series{`fieldtrie_ingest_script_rejected_total{instance="a"} 1x60`, `fieldtrie_ingest_traces_total{instance="a",result="accepted"} 0+1000x60`},
		},
		"FieldtrieQueriesFailing": {
			[]series{`fieldtrie_query_requests_total{instance="a",code="200"} 0+9x60`, `fieldtrie_query_requests_total{instance="a",code="504"} 0+1x60`},
			[]series{`fieldtrie_query_requests_total{instance="a",code="200"} 0+90x60`, `fieldtrie_query_requests_total{instance="a",code="400"} 0+50x60`},
		},
		"FieldtrieDiskLow": {
			[]series{`fieldtrie_store_free_bytes{instance="a"} 1000-10x60`, `fieldtrie_store_needed_bytes{instance="a"} 100x60`},
			[]series{`fieldtrie_store_free_bytes{instance="a"} 1000x60`, `fieldtrie_store_needed_bytes{instance="a"} 100x60`},
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
			[]series{`fieldtrie_store_lost_manifests{instance="a"} 1x60`, `fieldtrie_store_lost_manifests{instance="b"} 0x60`},
			[]series{`fieldtrie_store_lost_manifests{instance="a"} 0x60`},
		},
		"FieldtrieBadSegments": {
			[]series{`fieldtrie_store_bad_segments_total{instance="a"} 1x60`},
			[]series{`fieldtrie_store_bad_segments_total{instance="a"} 0x60`},
		},
		"FieldtrieUnreadable": {
			[]series{`fieldtrie_store_unreadable_traces_total{instance="a"} 1x60`},
			[]series{`fieldtrie_store_unreadable_traces_total{instance="a"} 0x60`},
		},
		"FieldtrieLagging": {
			ofShards("lag_seconds", "0+60x60", "0+60x60", "15x60"),
			// One of the machines has not looked for long.
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
		"FieldtrieClockDoubted": {
			[]series{`fieldtrie_store_clock_doubted{instance="a"} 1x60`},
			[]series{`fieldtrie_store_clock_doubted{instance="a"} 0x50 1x9`},
		},
	}
}

// ofShards are series of a shard: of two machines on a bucket, and of one with a directory.
func ofShards(name, one, other, directory string) []series {
	of := func(instance, values string) series {
		return series(fmt.Sprintf("fieldtrie_store_%s{instance=%q,shard=\"3\"} %s", name, instance, values))
	}
	return []series{of("a", one), of("b", other), of("c", directory), `fieldtrie_store_free_bytes{instance="c"} 1000x60`}
}

// Prometheus reads the file, and each alert fires within an hour of trouble, says what is wrong, and is silent without it.
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
			t.Errorf("there is no alert %s", alert)
			continue
		}
		delete(untested, alert)
		t.Run(name, func(t *testing.T) {
			if n := firing(t, p, r, c.trouble); n == 0 {
				t.Error("it does not fire")
			}
			if n := firing(t, p, r, c.healthy); n > 0 {
				t.Errorf("%d fire without a reason", n)
			}
		})
	}
	for name := range untested {
		t.Errorf("%s has no series here", name)
	}
}

// firing returns how many alerts a rule fires when an hour of series is over.
func firing(t *testing.T, p parser.Parser, r rulefmt.Rule, list []series) (n int) {
	t.Helper()
	load := "load 1m\n"
	for _, s := range list {
		load += "  " + string(s) + "\n"
	}
	storage := promqltest.LoadedStorage(t, load)
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1e6)
	expr, err := p.ParseExpr(r.Expr)
	if err != nil {
		t.Fatal(err)
	}
	rule := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.Default())
	for at := time.Unix(0, 0); !at.After(time.Unix(3600, 0)); at = at.Add(time.Minute) {
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
			if strings.Contains(l.Value, "error") || strings.Contains(l.Value, "<no value>") {
				t.Errorf("%s: %s", l.Name, l.Value)
			}
		})
	}
	return n
}
