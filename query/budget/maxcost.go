package budget

import (
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// parseMaxCost parses the limits for the cost of profiling, see docs/cost.md.
func parseMaxCost(v strictyaml.Value) (l cost.Limits, err error) {
	if v == (strictyaml.Value{}) {
		return l, nil
	}
	names := []string{"since"}
	for _, kind := range rollup.VitalKinds() {
		if kind.Name != cost.Placebo {
			names = append(names, kind.Name)
		}
	}
	fields, err := v.Fields(names...)
	if err != nil {
		return l, err
	}
	for _, name := range names[1:] {
		field, ok := fields[name]
		if !ok {
			continue
		}
		limit, err := parseCostLimit(name, field)
		if err != nil {
			return l, err
		}
		l.Of = append(l.Of, limit)
	}
	if len(l.Of) == 0 {
		return l, v.Errorf("max_cost: no Web Vital is limited; say one of %s, such as lcp: 2%%",
			strings.Join(slices.Sorted(slices.Values(names[1:])), ", "))
	}
	text, err := fields["since"].Text()
	if err != nil || text == "" {
		return l, err
	}
	if l.Since, err = time.Parse(time.RFC3339, text); err != nil {
		return l, fields["since"].Errorf("max_cost: since: %.40q is no time such as 2026-11-27T12:00:00Z", text)
	}
	return l, nil
}

// parseCostLimit parses the limit of a Web Vital: a percentage, a time, or a score for cls.
func parseCostLimit(vital string, v strictyaml.Value) (cost.Limit, error) {
	l := cost.Limit{Vital: vital}
	kind, _ := rollup.VitalKindOf(vital)
	if kind.Score {
		score, err := v.Float()
		if err != nil || !(score > 0 && score <= 1) {
			return l, v.Errorf("max_cost: %s: it is no score above 0 and up to 1, such as 0.01", vital)
		}
		l.Most = score
		return l, nil
	}
	text, err := v.Text()
	if err != nil {
		return l, err
	}
	if percent, err := ParsePercent(text); err == nil && percent > 0 {
		l.Most, l.Relative = percent/100, true
		return l, nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d <= 0 || d > maxLimit {
		return l, v.Errorf("max_cost: %s: %.40q is no limit above 0 such as 2%% or 4ms", vital, text)
	}
	l.Most = float64(d) / float64(time.Millisecond)
	return l, nil
}
