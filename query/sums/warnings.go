package sums

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// MissingPages returns a warning about pages that have no page views on one side, or "".
func MissingPages(strata []compare.Stratum) string {
	views := map[string]compare.Pair{}
	for _, s := range strata {
		if page, ok := s.Labels[compare.KeyPage]; ok {
			v := views[page]
			views[page] = compare.Pair{A: v.A + s.Views.A, B: v.B + s.Views.B}
		}
	}
	var of [2][]string
	for _, page := range slices.Sorted(maps.Keys(views)) {
		switch v := views[page]; {
		case v.B == 0 && v.A > 0:
			of[1] = append(of[1], page)
		case v.A == 0 && v.B > 0:
			of[0] = append(of[0], page)
		}
	}
	var out []string
	for side, pages := range of {
		if len(pages) == 0 {
			continue
		}
		more := ""
		if n := len(pages) - mostMissing; n > 0 {
			pages, more = pages[:mostMissing], fmt.Sprintf(" and %d more", n)
		}
		out = append(out, fmt.Sprintf("no page views of %s%s in %c", strings.Join(pages, ", "), more, 'A'+side))
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, ", and ") + ": their time is not compared"
}

// mostMissing limits the pages that the warning names.
const mostMissing = 5

// UnsampledWarning returns a warning if the shares of missing samples, from 0 to 1, differ so much
// that they may cause a change. It returns "" otherwise.
func UnsampledWarning(a, b float64) string {
	if math.Abs(a-b) < output.WorthSaying {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the samples of A and %.0f %% of the samples of B are missing: part of a change "+
		"may be missing time", 100*a, 100*b)
}

// LengthsWarning returns a warning if the page views of one side, adjusted to A's traffic, were
// profiled for much longer: a function that runs once has a smaller share of a longer visit. It
// returns "" otherwise.
func LengthsWarning(a, b *Side) string {
	length, views := Lengths(a, b)
	// The standard deviation of lengths is about as large as their mean.
	if length.A == 0 || math.Abs(length.B/length.A-1) < max(0.1, 3*math.Sqrt(1/views.A+1/views.B)) {
		return ""
	}
	return fmt.Sprintf("visits lasted %.3g s in B and %.3g s in A: functions that run once per visit may look changed",
		length.B/1e6, length.A/1e6)
}
