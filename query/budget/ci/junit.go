package ci

import (
	"encoding/xml"
	"io"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// The XML of JUnit, as far as its readers agree:
// https://github.com/testmoapp/junitxml.
type (
	testSuites struct {
		XMLName xml.Name    `xml:"testsuites"`
		Suites  []testSuite `xml:"testsuite"`
	}
	testSuite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		File    string   `xml:"file,attr"`
		Line    int      `xml:"line,attr"`
		Failure *outcome `xml:"failure"`
		Error   *outcome `xml:"error"`
		Skipped *outcome `xml:"skipped"`
		Output  string   `xml:"system-out,omitempty"`
	}
	outcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
	}
)

func writeJUnit(w io.Writer, e Evaluation) error {
	suite := testSuite{Name: "fieldtrie budgets", Tests: len(e.Budgets), Failures: count(e.Budgets, budget.Blown),
		Errors: count(e.Budgets, budget.Failed), Skipped: count(e.Budgets, budget.TooFew, budget.NoData)}
	for i := range e.Budgets {
		s := &e.Budgets[i]
		c := testCase{Name: output.Printable(s.Name), Class: "budgets", File: e.File, Line: s.Line}
		if s.Owner != "" {
			c.Class = "budgets." + output.Printable(s.Owner)
		}
		what := &outcome{Message: message(s), Type: string(s.Verdict)}
		switch s.Verdict {
		case budget.Blown:
			c.Failure = what
		case budget.Failed:
			c.Error = what
		case budget.TooFew, budget.NoData:
			c.Skipped = &outcome{Message: string(s.Verdict) + ": " + what.Message}
		default:
			c.Output = what.Message
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(testSuites{Suites: []testSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
