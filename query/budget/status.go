package budget

import (
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/query"
)

// Verdict is the result of a budget.
type Verdict string

// Verdicts of a budget.
const (
	OK     Verdict = "ok"
	Blown  Verdict = "blown"         // the value exceeds the limit, or did and is not yet below the hysteresis
	TooFew Verdict = "too few views" // for a verdict
	NoData Verdict = "no data"
	Failed Verdict = "error" // the budget cannot be evaluated; see Text
)

// Status is a budget with the result of its latest evaluation.
type Status struct {
	Name     string    `json:"name"`
	Owner    string    `json:"owner,omitempty"`
	Page     string    `json:"page,omitempty"`
	Feature  string    `json:"feature,omitempty"`
	Function *Function `json:"function,omitempty"`
	Code     *Code     `json:"code,omitempty"`
	Labels   []string  `json:"label,omitempty"`
	Metric   Metric    `json:"metric"`
	Of       Kind      `json:"of,omitempty"`
	Unit     string    `json:"unit"` // "ms", "percent" or "score"
	Since    string    `json:"since"`
	Limit    float64   `json:"limit"`
	MinViews int64     `json:"min_views"`
	// Hysteresis is a share of the limit.
	Hysteresis float64 `json:"hysteresis"`

	Verdict Verdict `json:"status"`
	// Blown is the last known verdict, which alerts use.
	Blown bool `json:"blown"`
	// Sure reports whether the whole interval of the value lies on one side of the limit.
	Sure  bool            `json:"sure"`
	Value *query.Estimate `json:"value,omitempty"` // nil if unknown
	Views int64           `json:"views"`           // page views that the value is based on
	Text  string          `json:"text,omitempty"`  // the error, or why the budget is still exceeded
	Line  int             `json:"-"`               // line in the file, from 1
	// Warnings lists data of the store that could not be read.
	Warnings []string `json:"warnings,omitempty"`
}

// Units of limits and values.
const (
	unitTime  = "ms"
	unitShare = "percent"
	unitScore = "score"
)

// statusOf returns the status of a budget before its evaluation.
func statusOf(b *Budget) Status {
	s := Status{Name: b.Name, Owner: b.Owner, Page: b.Page, Feature: b.Feature, Function: b.Function, Code: b.Code,
		Metric: b.Metric, Of: b.Of,
		Unit: unitTime, Since: b.Since, Limit: b.Limit, MinViews: b.MinViews, Hysteresis: b.Hysteresis, Line: b.Line}
	if b.Metric == Reach {
		s.Unit = unitShare
	}
	if _, score := b.vital(); score {
		s.Unit = unitScore
	}
	for _, m := range b.Where {
		s.Labels = append(s.Labels, m.String())
	}
	return s
}

// What describes the limited quantity, such as "p75 self of renderFeed on /feed".
func (s *Status) What() string {
	words := []string{string(s.Metric)}
	if s.Of != "" && s.Of != Time {
		words = append(words, strings.ReplaceAll(string(s.Of), "_", " "))
	}
	if s.Function != nil {
		words = append(words, "of "+s.Function.Name)
	}
	if s.Code != nil {
		words = append(words, "of "+s.Code.By+" "+s.Code.Name)
	}
	if s.Feature != "" {
		words = append(words, "of feature "+s.Feature)
	}
	if s.Page != "" {
		words = append(words, "on "+s.Page)
	}
	if len(s.Labels) > 0 {
		words = append(words, "with "+strings.Join(s.Labels, ", "))
	}
	return strings.Join(words, " ")
}

// Judge sets the verdict for a known value: Blown if it exceeds the limit. Sure is set if the whole
// interval is on the same side.
func (s *Status) Judge() {
	v := s.Value
	switch {
	case s.Views == 0 || v == nil:
		s.Verdict, s.Value = NoData, nil
	case s.Views < s.MinViews:
		s.Verdict = TooFew
	case v.Value > s.Limit:
		s.Verdict, s.Sure = Blown, v.High > 0 && v.Low > s.Limit
	default:
		s.Verdict, s.Sure = OK, v.High > 0 && v.High <= s.Limit
	}
	s.Blown = s.Verdict == Blown
}

// State remembers which budgets are exceeded between evaluations. The zero value is empty.
type State struct{ blown map[string]bool }

// Apply updates the statuses of an evaluation with the previous ones: an exceeded budget
// stays so until its value is below the limit by the hysteresis. If a budget has no verdict
// now, Blown stays as it was. Removed budgets are forgotten.
func (s *State) Apply(all []Status) {
	blown := map[string]bool{}
	for i := range all {
		x := &all[i]
		was := s.blown[x.Name]
		switch again := x.Limit * (1 - x.Hysteresis); {
		case x.Verdict == OK && was && x.Value.Value >= again:
			x.Verdict, x.Blown, x.Sure = Blown, true, false
			x.Text = fmt.Sprintf("within its limit again, and ok once it is below %.4g", again)
		case x.Verdict != OK && x.Verdict != Blown:
			x.Blown = was
		}
		blown[x.Name] = x.Blown
	}
	s.blown = blown
}
