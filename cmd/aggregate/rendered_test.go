package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// storeOfChange creates a data directory with page views of two releases, and returns their
// comparison from the API. In r2 hydrate takes longer and slow devices are more frequent.
func storeOfChange(t *testing.T) (dir string, c query.Comparison, a, b query.Result) {
	t.Helper()
	dir = t.TempDir()
	node, end := storetest.OpenDirectory(t, dir, nil)
	r := rand.New(rand.NewPCG(56, 1))
	var recs []store.Record
	for n := range 600 {
		later := n % 2
		slow := r.IntN(10) < 3+3*later
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{Page: "/feed", ViewID: fmt.Sprintf("%016d", n), Interval: 10_000,
			Release: []string{"r1", "r2"}[later],
			Labels:  trie.MakeLabels("device", map[bool]string{false: "desktop-high", true: "mobile-low"}[slow])}
		main := trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1}
		at := int64(0)
		for i, name := range []string{"hydrate", "render"} {
			samples := 4 + r.IntN(9)
			if i == 0 {
				samples += 5 * later
			}
			if slow {
				samples *= 2
			}
			leaf := tr.Insert(main, trie.Frame{Name: name, Resource: "https://x.example/app.js", Line: uint32(7 + i),
				Column: 1})
			for range samples {
				tr.Samples = append(tr.Samples, trie.Sample{Time: at, Node: leaf})
				at += 10_000
			}
		}
		tr.Samples = append(tr.Samples, trie.Sample{Time: at, Marker: trie.MarkerIdle})
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Pages: []string{"/feed"}, Payload: payload}
		copy(rec.ID.View[:], tr.Context.ViewID)
		recs = append(recs, rec)
	}
	if _, err := node.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	end()
	node, end = storetest.OpenDirectory(t, dir, nil)
	defer end()
	src := query.Local{Reader: node}
	w := httptest.NewRecorder()
	api.Handler(src, api.Options{}).ServeHTTP(w, httptest.NewRequest("GET",
		"/api/v1/compare?page=/feed&release=r2&compare_release=r1&since=24h", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || !c.Enough {
		t.Fatalf("%v, %d: %.300s", err, w.Code, w.Body)
	}
	side := func(release string) selection.Selection {
		return selection.Selection{Page: "/feed", Where: []selection.Matcher{{Key: "release", Op: selection.Equal,
			Value: release}}}
	}
	a, b, err := query.Sides(t.Context(), src, side("r1"), side("r2"), compare.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir, c, a, b
}

// Every rendering of a comparison has the numbers of the API, with three digits. web/test covers
// the dashboard. SARIF has only budgets, so it is not part of this test.
func TestOneComparisonEverywhere(t *testing.T) {
	dir, c, a, b := storeOfChange(t)
	if c.Total.Mix == nil || c.Total.Shown.Value == c.Total.Measured.B-c.Total.Measured.A {
		t.Fatal("nothing was adjusted, so it does not matter which of the numbers are shown")
	}
	changes := map[string]*compare.Change{"JavaScript": &c.Total}
	for i := range c.Functions {
		if c.Functions[i].Relative == nil || c.Functions[i].Shown.Low == nil {
			continue
		}
		changes[c.Functions[i].Name] = &c.Functions[i].Change
	}
	if x := changes["hydrate"]; x == nil || !x.Status.Alarm() {
		t.Fatalf("hydrate is not found: %+v", x)
	}
	flags := []string{"--data", dir, "--page", "/feed", "--release", "r2", "--compare-release", "r1"}
	written := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); err != nil && args[0] != "verdict" {
			t.Fatalf("%q: %v\n%s", args, err, stderr.String())
		}
		return stdout.String()
	}
	shows := func(where, text string, want ...float64) {
		t.Helper()
		for _, v := range want {
			if !shown(text, v) {
				t.Errorf("%s has no %s: %s", where, terminal.Number(v), text)
			}
		}
	}
	table, report := written(flags...), written(append([]string{"report"}, flags...)...)
	for name, x := range changes {
		numbers := []float64{x.Shown.Value, *x.Shown.Low, *x.Shown.High, x.Mean.A, x.Mean.B}
		shows("the table", lineWith(t, table, name+" "), append(numbers, 100**x.Relative)...)
		switch {
		case name == "JavaScript":
			shows("the report", lineWith(t, report, "**Slower**"), append(numbers, c.Views.A, c.Views.B)...)
		case x.Status.Alarm():
			shows("the report", lineWith(t, report, "<code>"+name+"</code>"), numbers...)
		}
	}
	var again query.Comparison
	if err := json.Unmarshal([]byte(written(append(flags, "--format", "json")...)), &again); err != nil ||
		*again.Total.Relative != *c.Total.Relative || again.Total.Mean != c.Total.Mean ||
		again.Total.Shown.Value != c.Total.Shown.Value || *again.Total.Shown.Low != *c.Total.Shown.Low ||
		*again.Total.Shown.High != *c.Total.Shown.High {
		t.Errorf("as JSON: %v, %+v, not %+v", err, again.Total, c.Total)
	}
	mean := c.Total.Mean.A
	shows("the verdict", written(append([]string{"verdict"}, flags...)...), c.Views.A, c.Views.B, 100**c.Total.Relative,
		100**c.Total.Shown.Low/mean, 100**c.Total.Shown.High/mean)
	for side, want := range map[*query.Result]float64{&a: c.Total.Mean.A, &b: c.Total.Mean.B} {
		total := 0.0
		for _, f := range side.Profile.Functions() {
			total += float64(f.Self) / 1000 / float64(side.Profile.Views)
		}
		shows("the flame graph", fmt.Sprintf("%.3f", total), want)
	}
	for name, x := range asked(t, dir) {
		want := changes[name]
		if want == nil {
			continue
		}
		shows("the tool "+name, fmt.Sprintf("%g %g %g %g %g", x.Before, x.After, x.Change.Value, x.Change.Low,
			x.Change.High),
			want.Mean.A, want.Mean.B, want.Shown.Value, *want.Shown.Low, *want.Shown.High)
	}
}

// toolChange is a change in a response to agents.
type toolChange struct {
	Name   string
	Before float64                            `json:"before_ms"`
	After  float64                            `json:"after_ms"`
	Change struct{ Value, Low, High float64 } `json:"change_ms"`
}

// asked returns the changes in the response of aggregate mcp's compare tool, by name.
func asked(t *testing.T, dir string) map[string]toolChange {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runMain+"=mcp --data "+dir)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "compare",
		Arguments: map[string]any{"page": "/feed", "release": "r2", "compare_release": "r1"}})
	if err != nil || res.IsError {
		t.Fatalf("%v, %+v", err, res)
	}
	text, err := json.Marshal(res.StructuredContent)
	var got struct {
		Total     toolChange
		Functions []toolChange
	}
	if err != nil || json.Unmarshal(text, &got) != nil || len(got.Functions) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	out := map[string]toolChange{"JavaScript": got.Total}
	for _, f := range got.Functions {
		out[f.Name] = f
	}
	return out
}

var numberInText = regexp.MustCompile(`[+-]?\d+(?:\.\d+)?`)

// shown reports whether text contains v, with or without its sign, rounded like [terminal.Number].
func shown(text string, v float64) bool {
	for _, found := range numberInText.FindAllString(text, -1) {
		x, err := strconv.ParseFloat(found, 64)
		if err == nil && (terminal.Number(x) == terminal.Number(v) || terminal.Number(x) == terminal.Number(-v)) {
			return true
		}
	}
	return false
}

// lineWith returns the first line that contains a text.
func lineWith(t *testing.T, text, with string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, with) {
			return line
		}
	}
	t.Fatalf("no line with %s in\n%s", with, text)
	return ""
}
