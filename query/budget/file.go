package budget

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// File holds the contents of a file of budgets.
type File struct {
	Budgets  []Budget
	Features feature.Rules
	Watch    watch.Settings // settings of change detection
	MaxCost  cost.Limits    // limits for the cost of profiling
}

// Metric is the limited quantity.
type Metric string

// Metrics. Times are in ms per page view.
const (
	P50   Metric = "p50"
	P75   Metric = "p75"
	P95   Metric = "p95"
	Mean  Metric = "mean"
	Reach Metric = "reach" // the percentage of page views with a feature or a function
)

// Kind is the kind of time that is limited, or the name of a Web Vital of pages, as in
// [rollup.VitalKinds].
type Kind string

// Kinds of time for pages, features and functions.
const (
	Time      Kind = "time"
	LongTasks Kind = "long_tasks" // tasks of 50 ms and more
	Self      Kind = "self"
	Total     Kind = "total" // including callees
)

// Budget is a limit for a quantity.
type Budget struct {
	Name     string
	Owner    string
	Page     string // or a pattern such as /shop/**; "" is all pages together
	Feature  string
	Function *Function // nil: all code
	Code     *Code     // nil: all code; not with a Function
	Where    []selection.Matcher
	Metric   Metric
	Of       Kind    // "" for Reach
	Limit    float64 // ms, percent for Reach, or a score for cls
	MinViews int64
	Since    string // a duration, such as 24h
	Line     int    // line in the file, from 1
	// Hysteresis is a share of the limit: the value of an exceeded budget must fall below the limit
	// by this much for it to be ok again.
	Hysteresis float64
}

// Function selects the functions of a budget.
type Function struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"` // pattern of the script's URL, in which * is any text
}

// Code selects the part of the code of a budget, as in [query.Parts].
type Code struct {
	By   string `json:"by"`   // "owner", "team", "package" or "file"
	Name string `json:"name"` // see [Code.fits]
}

const (
	// MaxBudgets limits the budgets of a file, because each needs several time series.
	MaxBudgets = 500
	// maxText is the maximum length of a text, in bytes.
	maxText = 500
	// maxLabels limits the conditions of a budget.
	maxLabels = 10

	defaultMinViews   = 100
	defaultSince      = "24h"
	defaultHysteresis = 0.05
	maxSince          = 400 * 24 * time.Hour
	maxLimit          = time.Hour
	maxMinViews       = 1_000_000_000
)

// Parse reads a file, see docs/budgets.md. Errors name the line.
func Parse(r io.Reader) (*File, error) {
	v, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	top, err := v.Fields("budgets", "features", "watch", "max_cost")
	if err != nil {
		return nil, err
	}
	var f File
	if items, _ := top["budgets"].Items(); len(items) > MaxBudgets {
		return nil, top["budgets"].Errorf("%d budgets, the most is %d", len(items), MaxBudgets)
	}
	wrong := []error{top["budgets"].Each(func(item strictyaml.Value) error {
		b, err := parseBudget(item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(f.Budgets, func(other Budget) bool { return other.Name == b.Name }) {
			return item.Errorf("a second budget with the name %.100q", b.Name)
		}
		b.Line = item.Line()
		f.Budgets = append(f.Budgets, b)
		return nil
	})}
	f.Features, err = parseFeatures(top["features"])
	wrong = append(wrong, err)
	f.Watch, err = parseWatch(top["watch"])
	wrong = append(wrong, err)
	f.MaxCost, err = parseMaxCost(top["max_cost"])
	if err := errors.Join(append(wrong, err)...); err != nil {
		return nil, err
	}
	if none := (strictyaml.Value{}); len(f.Budgets) == 0 && top["features"] == none && top["watch"] == none &&
		top["max_cost"] == none {
		return nil, errors.New("neither budgets, features, watch nor max_cost in it")
	}
	return &f, nil
}

func parseFeatures(list strictyaml.Value) (feature.Rules, error) {
	var rules []feature.Rule
	err := list.Each(func(item strictyaml.Value) error {
		fields, err := item.Fields("name", "page", "package", "function", "resource")
		if err != nil {
			return err
		}
		var r feature.Rule
		if err := texts(fields, map[string]*string{"name": &r.Name, "page": &r.Page, "package": &r.Package,
			"function": &r.Function, "resource": &r.Resource}); err != nil {
			return err
		}
		if err := r.Check(); err != nil {
			return item.Errorf("feature %.100q: %w", r.Name, err)
		}
		rules = append(rules, r)
		return nil
	})
	if err != nil {
		return feature.Rules{}, err
	}
	all, err := feature.NewRules(rules)
	if err != nil { // too many rules
		err = list.Errorf("%w", err)
	}
	return all, err
}

// texts parses the text fields, which must not be empty.
func texts(fields map[string]strictyaml.Value, to map[string]*string) error {
	for key, field := range to {
		v, there := fields[key]
		if !there {
			continue
		}
		text, err := v.Text()
		if err != nil {
			return err
		}
		unfit := func(r rune) bool { return r < ' ' || r == 0x7f }
		if text == "" || len(text) > maxText || strings.ContainsFunc(text, unfit) {
			return v.Errorf("%s: give it a text of up to %d bytes, without control characters", key, maxText)
		}
		*field = text
	}
	return nil
}

func parseBudget(item strictyaml.Value) (b Budget, err error) {
	fields, err := item.Fields("name", "owner", "page", "feature", "function", "code", "label", "metric", "of", "limit",
		"min_views", "since", "hysteresis")
	if err != nil {
		return b, err
	}
	var metric, of, limit string
	err = texts(fields, map[string]*string{"name": &b.Name, "owner": &b.Owner, "page": &b.Page, "feature": &b.Feature,
		"metric": &metric, "of": &of, "limit": &limit, "since": &b.Since})
	if err != nil {
		return b, err
	}
	if b.Name == "" {
		return b, item.Errorf("a budget without a name")
	}
	if b.Page != "" {
		if err := feature.CheckPage(b.Page); err != nil {
			return b, fields["page"].Errorf("%w", err)
		}
	}
	if b.Function, err = parseFunction(fields["function"]); err != nil {
		return b, err
	}
	if b.Code, err = parseCode(fields["code"]); err != nil {
		return b, err
	}
	if b.Where, err = parseLabels(fields["label"]); err != nil {
		return b, err
	}
	if err := b.setMetric(metric, of, limit); err != nil {
		return b, item.Errorf("budget %.100q: %w", b.Name, err)
	}
	return b, b.setBounds(fields)
}

// parseFunction parses a name, or a mapping with a name and the pattern of a resource.
func parseFunction(v strictyaml.Value) (*Function, error) {
	if v == (strictyaml.Value{}) {
		return nil, nil
	}
	var f Function
	fields := map[string]strictyaml.Value{"name": v}
	if _, err := v.Text(); err != nil {
		if fields, err = v.Fields("name", "resource"); err != nil {
			return nil, err
		}
	}
	if err := texts(fields, map[string]*string{"name": &f.Name, "resource": &f.Resource}); err != nil {
		return nil, err
	}
	if f.Name == "" {
		return nil, v.Errorf("function: it has no name")
	}
	return &f, nil
}

func parseLabels(list strictyaml.Value) (where []selection.Matcher, err error) {
	_, err = list.Texts(func(text string) error {
		m, err := selection.ParseMatcher(text)
		if err == nil && (m.Key == "page" || m.Key == "feature") {
			err = fmt.Errorf("label %s: a budget has a field %s of its own", text, m.Key)
		}
		where = append(where, m)
		return err
	})
	if err == nil && len(where) > maxLabels {
		err = list.Errorf("%d labels, the most is %d", len(where), maxLabels)
	}
	return where, err
}

// setMetric parses the metric, the kind of time and the limit.
func (b *Budget) setMetric(metric, of, limit string) error {
	b.Metric, b.Of = Metric(metric), Kind(of)
	if b.Code != nil && b.Function != nil {
		return errors.New("function and code: a budget is about one of them")
	}
	if b.Code != nil && b.Metric != Mean {
		return fmt.Errorf("metric %.40q: use mean for code, because percentiles and reach are stored by function",
			metric)
	}
	switch b.Metric {
	case Reach:
		if b.Feature == "" && b.Function == nil {
			return errors.New("reach needs a feature or a function")
		}
		if b.Of != "" {
			return errors.New("reach is not a time: leave out of")
		}
		percent, err := ParsePercent(limit)
		if err != nil || percent == 0 {
			return fmt.Errorf("limit %.40q: the limit of reach is a percentage such as 12%%", limit)
		}
		b.Limit = percent
		return nil
	case P50, P75, P95, Mean:
	case "":
		return errors.New("metric is missing: p50, p75, p95, mean or reach")
	default:
		return fmt.Errorf("metric %.40q: known are p50, p75, p95, mean, reach", metric)
	}
	kinds := []Kind{Time, LongTasks}
	if b.Function != nil || b.Code != nil {
		kinds = []Kind{Self, Total}
	}
	if _, known := rollup.VitalKindOf(of); known {
		return b.setVital(metric, limit)
	}
	if b.Of == "" {
		b.Of = kinds[0]
	}
	if !slices.Contains(kinds, b.Of) {
		return fmt.Errorf("of %.40q: known are %s and %s; functions and code have self and total, all else time, "+
			"long_tasks and the Web Vitals lcp, inp, cls, fcp, ttfb", of, kinds[0], kinds[1])
	}
	d, err := time.ParseDuration(limit)
	if err != nil || d <= 0 || d > maxLimit {
		return fmt.Errorf("limit %.40q: that of %s is a duration such as 250ms or 1.5s, up to an hour", limit, metric)
	}
	b.Limit = float64(d) / float64(time.Millisecond)
	return nil
}

// setVital parses the limit of a Web Vital.
func (b *Budget) setVital(metric, limit string) error {
	kind, _ := rollup.VitalKindOf(string(b.Of))
	switch {
	case b.Metric == Mean:
		return fmt.Errorf("metric %s: those of %s are p50, p75 and p95", metric, b.Of)
	case b.Feature != "" || b.Function != nil || b.Code != nil:
		return fmt.Errorf("of %s: Web Vitals are those of pages, and not of what runs in them: leave out feature, "+
			"function and code", b.Of)
	case b.Page == "" || strings.HasSuffix(b.Page, "/**"):
		return fmt.Errorf("of %s: Web Vitals are kept page by page: name one page", b.Of)
	}
	if kind.Score {
		score, err := strconv.ParseFloat(limit, 64)
		if err != nil || !(score > 0 && score <= 1000) {
			return fmt.Errorf("limit %.40q: that of cls is a score such as 0.1", limit)
		}
		b.Limit = score
		return nil
	}
	d, err := time.ParseDuration(limit)
	if err != nil || d <= 0 || d > maxLimit {
		return fmt.Errorf("limit %.40q: that of %s is a duration such as 200ms or 2.5s, up to an hour", limit, b.Of)
	}
	b.Limit = float64(d) / float64(time.Millisecond)
	return nil
}

// vital returns the Web Vital that b limits, if any.
func (b *Budget) vital() (vital, score bool) {
	kind, vital := rollup.VitalKindOf(string(b.Of))
	return vital, kind.Score
}

// setBounds parses the requirements for a verdict.
func (b *Budget) setBounds(fields map[string]strictyaml.Value) error {
	b.MinViews, b.Hysteresis = defaultMinViews, defaultHysteresis
	if v, there := fields["min_views"]; there {
		n, err := v.Float()
		if err != nil {
			return err
		}
		if n < 1 || n > maxMinViews || n != math.Trunc(n) {
			return v.Errorf("min_views: a whole number from 1 to %d", maxMinViews)
		}
		b.MinViews = int64(n)
	}
	if b.Since == "" {
		b.Since = defaultSince
	}
	if d, err := selection.ParseAge(b.Since); err != nil || d < time.Minute || d > maxSince {
		return fields["since"].Errorf("since: %.40q is not a duration such as 24h or 7d, from a minute to 400 days",
			b.Since)
	}
	if v, there := fields["hysteresis"]; there {
		text, err := v.Text()
		if err != nil {
			return err
		}
		percent, err := ParsePercent(text)
		if err != nil || percent == 100 {
			return v.Errorf("hysteresis: %.40q is not a percentage such as 10%%, below 100%%", text)
		}
		b.Hysteresis = percent / 100
	}
	return nil
}

// ParsePercent parses a percentage from 0% to 100%.
func ParsePercent(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(f >= 0 && f <= 100) || math.Signbit(f) {
		return 0, fmt.Errorf("%.40q is not a percentage such as 12%%", text)
	}
	return f, nil
}

// Covers reports whether b applies to a page. All pages together are not a page.
func (b *Budget) Covers(page string) bool {
	return b.Page == page || b.Page != "" && feature.FitsPage(b.Page, page)
}
