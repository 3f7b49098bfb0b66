package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestDashboards queries a daemon that receives the page views of a site. All queries must be
// answered.
func TestDashboards(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a daemon")
	}
	t.Parallel()
	name := filepath.Join(t.TempDir(), "report.json")
	var out, log bytes.Buffer
	args := []string{"--site", "--rate", "100", "--for", "3s", "--dashboards", "10", "--poll", "1s", "--json-report",
		name, traces}
	if err := run(t.Context(), args, &out, &log); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &log)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Mode != "site" || !r.Verified {
		t.Errorf("got mode %q, verified %v", r.Mode, r.Verified)
	}
	if d := r.Dashboards; d.All.Failed > 0 || d.Count != 10 {
		t.Errorf("%d of %d answers of %d dashboards failed: %s", d.All.Failed, d.All.Answers, d.Count, d.LastError)
	}
	for _, endpoint := range []string{"series", "top", "LabelValues", "SelectSeries", "SelectHeatmap",
		"SelectMergeStacktraces"} {
		if a := r.Dashboards.Endpoints[endpoint]; a.Answers == 0 || a.LatencyMS["p99"] == 0 {
			t.Errorf("%s: got %+v, want answers", endpoint, a)
		}
	}
}

func TestGrafanaRegex(t *testing.T) {
	if got, want := grafanaRegex("/a.b/c-d"), `\/a\.b\/c-d`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
