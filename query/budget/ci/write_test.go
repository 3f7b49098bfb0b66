package ci

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

var update = flag.Bool("update", false, "rewrite what is compared with")

// evaluation returns a budget for each verdict, one of them with a name that could break formats.
func evaluation() Evaluation {
	one := func(name string, v budget.Verdict, value float64) budget.Status {
		s := budget.Status{Name: name, Metric: budget.P75, Unit: "ms", Limit: 25, MinViews: 100, Verdict: v,
			Views: 1234, Line: 3}
		if value > 0 {
			s.Value = &query.Estimate{Value: value, Low: value - 1, High: value + 1.5}
		}
		return s
	}
	blown := one("feed stays fast", budget.Blown, 31.25)
	blown.Owner, blown.Page, blown.Sure = "team-feed", "/feed", true
	hostile := one("a,b: 100%\n::error::x <b>&\"]]>\x00\u202e", budget.Blown, 25.5)
	hostile.Page, hostile.Line = "/x::y\r\n,z", 12
	few := one("rare", budget.TooFew, 20)
	few.Views = 7
	failed := one("broken", budget.Failed, 0)
	failed.Text = "label \"x\" is not stored"
	share := one("reach", budget.OK, 12.5)
	share.Unit = "percent"
	score := one("shift", budget.OK, 0)
	score.Unit, score.Value = "score", &query.Estimate{Value: 0.05}
	return Evaluation{File: "ci/budgets 1.yaml", Version: "v1.2.3", Budgets: []budget.Status{blown, hostile, few,
		one("none", budget.NoData, 0), failed, share, score}}
}

func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		var got bytes.Buffer
		if err := Write(&got, format, evaluation()); err != nil {
			t.Fatal(err)
		}
		name := "testdata/" + format + ".golden"
		if *update {
			if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %v\n%s", format, err, got.String())
		}
	}
	if err := Write(nil, "xml", evaluation()); err == nil || !strings.Contains(err.Error(), "github, junit, sarif") {
		t.Errorf("got %v", err)
	}
}

// TestGitHub checks that each line is one command, whatever names contain.
func TestGitHub(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "github", evaluation()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 5 {
		t.Errorf("%d annotations, want 5: two budgets are blown, one failed and two are unknown:\n%s", len(lines),
			b.String())
	}
	for _, line := range lines {
		command, _, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		if !ok || !strings.HasPrefix(command, "error file=ci/budgets 1.yaml,line=") && !strings.HasPrefix(command,
			"notice file=ci/budgets 1.yaml,line=") || strings.Count(command, "=") != 3 {
			t.Errorf("%q", line)
		}
	}
}

// TestJUnit and TestSARIF decode the output, and check the fields that CI systems use.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "junit", evaluation()); err != nil {
		t.Fatal(err)
	}
	var got testSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Suites[0]
	if s.Tests != 7 || s.Failures != 2 || s.Errors != 1 || s.Skipped != 2 || len(s.Cases) != 7 {
		t.Errorf("got %+v", s)
	}
	for i, c := range s.Cases {
		outcomes := 0
		for _, o := range []*outcome{c.Failure, c.Error, c.Skipped} {
			if o != nil {
				outcomes++
			}
		}
		if ok := evaluation().Budgets[i].Verdict == budget.OK; ok != (outcomes == 0) || outcomes > 1 {
			t.Errorf("%s has %d outcomes", c.Name, outcomes)
		}
	}
}

func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "sarif", evaluation()); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	var got sarifLog
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	run := got.Runs[0]
	if got.Version != "2.1.0" || len(run.Results) != 7 {
		t.Errorf("got %+v", got)
	}
	for _, r := range run.Results {
		if rule := run.Tool.Driver.Rules[r.RuleIndex]; rule.ID != r.RuleID {
			t.Errorf("result of %s leads to rule %s", r.RuleID, rule.ID)
		}
		if (r.Kind == "fail") != (r.Level == "error") || r.Kind != "fail" && r.Level != "none" {
			t.Errorf("%s: kind %s, level %s", r.RuleID, r.Kind, r.Level)
		}
		if at := r.Locations[0].Physical; at.Artifact.URI != "ci/budgets%201.yaml" || at.Region.StartLine < 1 {
			t.Errorf("%s: %+v", r.RuleID, at)
		}
	}
}
