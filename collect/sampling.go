package collect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/rules/site"
)

// SamplingRules say which share of the views of a page should be profiled. The zero
// value says nothing about any page.
type SamplingRules struct {
	rules []samplingRule // first match wins
}

type samplingRule struct {
	pattern []string // segments
	rate    float64  // 0 to 1
}

// ParseSamplingRules reads rules, one a line: a pattern as in [ParsePageRules], white
// space, and a rate from 0 (none) to 1 (all). The pattern ** alone is every page, that of
// traces that do not say their page too. Empty lines and those that begin with # are
// skipped.
func ParseSamplingRules(r io.Reader) (SamplingRules, error) {
	var rules SamplingRules
	err := readRules(r, func(line string) error {
		rule, err := parseSamplingRule(line)
		rules.rules = append(rules.rules, rule)
		return err
	})
	if err != nil {
		return SamplingRules{}, err
	}
	return rules, nil
}

func parseSamplingRule(line string) (rule samplingRule, err error) {
	i := strings.LastIndexAny(line, " \t") // a path may have spaces
	if i < 0 {
		return rule, fmt.Errorf("is not a pattern and a rate, such as /shop/:item 0.05")
	}
	pattern, text := strings.TrimSpace(line[:i]), line[i+1:]
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate >= 0 && rate <= 1) || math.Signbit(rate) {
		return rule, fmt.Errorf("ends with %q, which is not a rate from 0 to 1", text)
	}
	if pattern == "**" {
		pattern = "/**"
	}
	segments, err := parsePageRule(pattern)
	return samplingRule{segments, rate}, err
}

// Rate returns the rate of the first rule that page fits. ok is false if there is none.
func (r SamplingRules) Rate(page string) (rate float64, ok bool) {
	_, page = site.Cut(page) // the rules are about pages of all sites
	var segments []string
	path := strings.HasPrefix(page, "/")
	if path {
		segments = segmentsOf(page)
	}
	for _, rule := range r.rules {
		// PageUnknown is no path, so no rule but the one for everything is about it.
		if all := len(rule.pattern) > 0 && rule.pattern[0] == "**"; all || path && fits(rule.pattern, segments) {
			return rule.rate, true
		}
	}
	return 0, false
}

// Steer bounds the rates of pages, whatever rules and browsers say. It may be called while traces are received.
func (c *Collector) Steer(most map[string]float64) { c.most.Store(&most) }

// rate returns the rate that browsers are told for the views of a page. ok is false if they are told none.
func (c *Collector) rate(page string) (rate float64, ok bool) {
	rate, ok = c.sampling.Load().Rate(page)
	if by := c.most.Load(); by != nil {
		if most, bounded := (*by)[page]; bounded && (!ok || most < rate) {
			return most, true
		}
	}
	return rate, ok
}

// SetSampling replaces the sampling rules. It may be called while traces are received.
func (c *Collector) SetSampling(r SamplingRules) { c.sampling.Store(&r) }
