package collect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/rules/site"
)

// SamplingRules set the share of a page's views that should be profiled. The zero value has no
// rules.
type SamplingRules struct {
	rules []samplingRule // the first match wins
}

type samplingRule struct {
	pattern []string // segments
	rate    float64  // 0 to 1
}

// ParseSamplingRules parses rules, one a line: a pattern as in [ParsePageRules], white space, and a
// rate from 0 (none) to 1 (all). The pattern ** matches every page, including the page of traces
// without one. Empty lines and lines that begin with # are skipped.
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

// Rate returns the rate of the first rule that matches page. ok is false if there is none.
func (r SamplingRules) Rate(page string) (rate float64, ok bool) {
	_, page = site.Cut(page) // rules apply to the pages of all sites
	var segments []string
	path := strings.HasPrefix(page, "/")
	if path {
		segments = segmentsOf(page)
	}
	for _, rule := range r.rules {
		// PageUnknown is not a path, so only the rule ** matches it.
		if all := len(rule.pattern) > 0 && rule.pattern[0] == "**"; all || path && fits(rule.pattern, segments) {
			return rule.rate, true
		}
	}
	return 0, false
}

// Steer sets upper bounds of the rates of pages, which override rules and the rates of browsers. It
// may be called while requests are served.
func (c *Collector) Steer(most map[string]float64) { c.most.Store(&most) }

// rate returns the rate to send to browsers for a page. ok is false if there is none.
func (c *Collector) rate(page string) (rate float64, ok bool) {
	rate, ok = c.sampling.Load().Rate(page)
	if by := c.most.Load(); by != nil {
		if most, bounded := (*by)[page]; bounded && (!ok || most < rate) {
			return most, true
		}
	}
	return rate, ok
}

// SetSampling replaces the sampling rules. It may be called while requests are served.
func (c *Collector) SetSampling(r SamplingRules) { c.sampling.Store(&r) }
