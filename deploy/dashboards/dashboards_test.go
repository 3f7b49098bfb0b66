// Package dashboards_test tests the files of this folder with a running daemon.
package dashboards_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

// budgetLabels are the labels of the budget metrics, which a daemon without budgets does not have.
var budgetLabels = []string{"budget", "page", "metric", "unit"}

// known returns the names of all metrics that a query may use: metrics of the daemon, of budgets,
// of channels, and of change detection.
func known(metrics string) map[string]bool {
	names := map[string]bool{
		"fieldtrie_budget_value": true, "fieldtrie_budget_limit": true, "fieldtrie_budget_blown": true,
		"fieldtrie_budget_views": true, "up": true,
		"fieldtrie_notifications_total": true, "fieldtrie_changes_evaluated_timestamp_seconds": true,
	}
	for line := range strings.Lines(metrics) {
		if name := regexp.MustCompile(`^[a-z_]+`).FindString(line); name != "" {
			names[name] = true
		}
	}
	return names
}

// startDaemon starts a daemon with one trace and returns the URL of its private address.
func startDaemon(t *testing.T, program, data string) string {
	t.Helper()
	public, private := freeaddr.Of(t), freeaddr.Of(t)
	cmd := exec.Command(program, "--data", data, "--listen", public, "--query-listen", private)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get("http://" + private + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("ingest is not ready: %v", err)
		}
	}
	trace, err := os.ReadFile("../../testdata/traces/vue.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	send(t, "http://"+public+"/v1/traces", trace, http.Header{"Content-Type": {"application/json"},
		"Content-Encoding": {"gzip"}})
	send(t, "http://"+public+"/v1/views", []byte(`{"page": "/", "outcome": "unsampled", "vitals": {"lcp": 900}}`),
		http.Header{"Content-Type": {"text/plain"}})
	get(t, "http://"+private+"/v1/backup")
	return "http://" + private
}

// send sends data that the daemon must accept.
func send(t *testing.T, to string, body []byte, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("%s: %s", to, resp.Status)
	}
}

// dashboard is the part of a dashboard that the tests check.
type dashboard struct {
	UID        string
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
	Panels []struct {
		ID          int
		Type, Title string
		Description string
		GridPos     struct{ X, Y, W, H int }
		Targets     []target
	}
}

// target is the query of a panel or variable.
type target struct {
	Datasource                              struct{ Type, UID string }
	RefID, Expr                             string
	ProfileTypeID, LabelSelector, QueryType string
	Type, LabelName                         string
	GroupBy                                 []string
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	data, err := os.ReadFile("fieldtrie.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDaemon(t *testing.T) {
	program := programs.Path(t, "ingest")
	private := startDaemon(t, program, filepath.Join(t.TempDir(), "data"))
	// Without this query, its metrics would be missing and responses might lack the trace.
	get(t, private+"/api/v1/pages")
	metrics := get(t, private+"/metrics")
	fakebucket.Env(t.Setenv)
	bucket := httptest.NewServer(fakebucket.New(1).Client())
	defer bucket.Close()
	machine := startDaemon(t, program, "s3://"+fakebucket.Name+"/p?"+url.Values{"endpoint": {bucket.URL},
		"region": {"r"}}.Encode())
	ofBucket := get(t, machine+"/metrics")
	names := known(metrics + ofBucket)
	t.Run("lint", func(t *testing.T) {
		for _, text := range []string{metrics, ofBucket} {
			problems, err := promlint.New(strings.NewReader(text)).Lint()
			if err != nil {
				t.Error(err)
			}
			for _, p := range problems {
				t.Errorf("%s: %s", p.Metric, p.Text)
			}
		}
	})
	t.Run("dashboard", func(t *testing.T) { testDashboard(t, private, names) })
	t.Run("alerts", func(t *testing.T) { testAlerts(t, names) })
}

// The daemon answers the queries of all panels and variables, and has their metrics.
func testDashboard(t *testing.T, private string, names map[string]bool) {
	d := readDashboard(t)
	variables := map[string]bool{}
	for _, v := range d.Templating.List {
		variables[v.Name] = true
		if v.Type != "query" {
			continue
		}
		var q target
		if err := json.Unmarshal(v.Query, &q); err != nil {
			t.Fatal(err)
		}
		if q.Type != "labelValue" || q.LabelName != v.Name {
			t.Errorf("variable %s queries %+v", v.Name, q)
		}
		ask(t, private, "LabelValues", map[string]any{"name": q.LabelName,
			"matchers": []string{q.ProfileTypeID + "{}"}})
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Description == "" || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("panel %d %q: a duplicate id, no title or description, too wide, or without a query",
				p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range p.Targets {
			checkVariables(t, p.Title, variables, q.Expr+q.LabelSelector+q.Datasource.UID)
			switch q.Datasource.Type {
			case "prometheus":
				checkExpression(t, p.Title, q.Expr, names)
			case "grafana-pyroscope-datasource":
				askPanel(t, private, q)
			default:
				t.Errorf("panel %q queries %q", p.Title, q.Datasource.Type)
			}
		}
	}
}

// askPanel sends the query of a target like Grafana.
func askPanel(t *testing.T, private string, q target) {
	t.Helper()
	now := time.Now()
	selector := regexp.MustCompile(`\$\{\w+:regex\}`).ReplaceAllString(q.LabelSelector, ".*")
	if selector == q.LabelSelector || strings.Contains(selector, "$") {
		t.Errorf("%s has no variables, or some that are not regular expressions", q.LabelSelector)
	}
	for _, label := range q.GroupBy {
		if !slices.Contains([]string{"page", "feature", "release", "environment", "phase", "visibility", "device",
			"browser", "connection"}, label) {
			t.Errorf("label %s does not exist", label)
		}
	}
	question := map[string]any{
		"profileTypeID": q.ProfileTypeID, "labelSelector": selector, "start": now.Add(-time.Hour).UnixMilli(),
		"end": now.UnixMilli(),
	}
	method := map[string]string{"metrics": "SelectSeries", "profile": "SelectMergeStacktraces",
		"heatmap": "SelectHeatmap"}[q.QueryType]
	if method != "SelectMergeStacktraces" {
		question["step"], question["groupBy"] = 15, q.GroupBy
	}
	answer := ask(t, private, method, question)
	// The trace has no feature.
	if !slices.Contains(q.GroupBy, "feature") && !strings.Contains(answer, `"labels"`) &&
		!strings.Contains(answer, `"slots"`) && !strings.Contains(answer, `"total"`) {
		t.Errorf("%s %v: %.200s", method, question, answer)
	}
}

// checkVariables checks that an expression uses only existing variables.
func checkVariables(t *testing.T, where string, variables map[string]bool, text string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(text, -1) {
		if !variables[m[1]] {
			t.Errorf("%s: variable %s does not exist", where, m[1])
		}
	}
}

// checkExpression checks the names in an expression of PromQL.
func checkExpression(t *testing.T, where, expr string, names map[string]bool) {
	t.Helper()
	found := regexp.MustCompile(`\b(fieldtrie_\w+|up)(?:\{([^}]*)\})?`).FindAllStringSubmatch(expr, -1)
	if len(found) == 0 {
		t.Errorf("%s: %q has no metric", where, expr)
	}
	for _, m := range found {
		if !names[m[1]] {
			t.Errorf("%s: metric %s does not exist", where, m[1])
		}
		for _, label := range regexp.MustCompile(`(\w+)(?:=|!)`).FindAllStringSubmatch(m[2], -1) {
			if strings.HasPrefix(m[1], "fieldtrie_budget_") && !slices.Contains(budgetLabels, label[1]) {
				t.Errorf("%s: %s has no label %s", where, m[1], label[1])
			}
		}
	}
}

// Alert rules use existing metrics and have texts.
func testAlerts(t *testing.T, names map[string]bool) {
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	readYAML(t, "prometheus/alerts.yml", &file)
	seen := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || seen[r.Alert] || r.Labels["severity"] == "" || r.Annotations["summary"] == "" ||
				r.Annotations["description"] == "" {
				t.Errorf("%s: no name, a duplicate name, no severity, summary or description", r.Alert)
			}
			seen[r.Alert] = true
			checkExpression(t, r.Alert, r.Expr, names)
			if _, err := time.ParseDuration(r.For); r.For != "" && err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("%d alerts", len(seen))
	}
}

// The other files are valid and consistent.
func TestProvisioning(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type, Access, URL string
			JSONData                     map[string]any    `yaml:"jsonData"`
			SecureJSONData               map[string]string `yaml:"secureJsonData"`
		}
	}
	readYAML(t, "provisioning/datasources/fieldtrie.yaml", &sources)
	var types []string
	for _, s := range sources.Datasources {
		types = append(types, s.Type)
		if s.UID == "" || s.URL == "" || s.Access != "proxy" {
			t.Errorf("%+v", s)
		}
	}
	if sources.APIVersion != 1 || !slices.Equal(types, []string{"grafana-pyroscope-datasource", "prometheus"}) {
		t.Errorf("%+v", sources)
	}
	for _, v := range readDashboard(t).Templating.List {
		var query string
		if v.Type == "datasource" && (json.Unmarshal(v.Query, &query) != nil || !slices.Contains(types, query)) {
			t.Errorf("variable %s has the type %q, known are %v", v.Name, query, types)
		}
	}
	var dashboards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	readYAML(t, "provisioning/dashboards/fieldtrie.yaml", &dashboards)
	if len(dashboards.Providers) != 1 || dashboards.Providers[0].Type != "file" ||
		dashboards.Providers[0].Options.Path == "" {
		t.Errorf("%+v", dashboards)
	}
	var prometheus struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName string `yaml:"job_name"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "prometheus/prometheus.yml", &prometheus)
	if !slices.Equal(prometheus.RuleFiles, []string{"alerts.yml"}) || len(prometheus.ScrapeConfigs) != 1 ||
		prometheus.ScrapeConfigs[0].JobName != "fieldtrie" {
		t.Errorf("%+v", prometheus)
	}
}

func readYAML(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// ask calls a method of the querier and returns the response.
func ask(t *testing.T, private, method string, question any) string {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(private+"/querier.v1.QuerierService/"+method, "application/json", bytes.NewReader(body))
	return read(t, resp, err, fmt.Sprint(method, " ", string(body)))
}

// get returns a response that includes all acknowledged traces.
func get(t *testing.T, from string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cache-Control", "no-cache")
	resp, err := http.DefaultClient.Do(r)
	return read(t, resp, err, from)
}

func read(t *testing.T, resp *http.Response, err error, what string) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s %s %v", what, resp.Status, data, err)
	}
	return string(data)
}
