package ci

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// The written part of SARIF 2.1.0:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Comments give
// the sections.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct { // 3.11
		Text string `json:"text"`
	}
	sarifResult struct { // 3.27
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Kind      string          `json:"kind"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// Fingerprints identify a result across runs, as the line of a budget may
		// change.
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct { // 3.28
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct { // 3.29
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct { // 3.4
		URI string `json:"uri"`
	}
	sarifRegion struct { // 3.30
		StartLine int `json:"startLine"`
	}
)

func writeSARIF(w io.Writer, e Evaluation) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "fieldtrie", Version: e.Version, Rules: []sarifRule{}}},
		Results: []sarifResult{}}
	at := url.URL{Path: filepath.ToSlash(e.File)}
	for i := range e.Budgets {
		s := &e.Budgets[i]
		name := output.Printable(s.Name)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{name, sarifText{output.Printable(s.What())}})
		// Only failures have a level other than none (3.27.10); open means that too
		// little is known (3.27.9).
		kind, level := "pass", "none"
		switch s.Verdict {
		case budget.Blown, budget.Failed:
			kind, level = "fail", "error"
		case budget.TooFew, budget.NoData:
			kind = "open"
		}
		run.Results = append(run.Results, sarifResult{RuleID: name, RuleIndex: i, Kind: kind, Level: level,
			Message:      sarifText{message(s)},
			Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{at.String()}, sarifRegion{max(1, s.Line)}}}},
			Fingerprints: map[string]string{"budget/v1": name}})
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
