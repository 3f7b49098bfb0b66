package main

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/test/simulate"
)

const (
	versionedViews = 20_000 // a side, in 14 days
	// versionedSigma gives page views a coefficient of variation of 0.87.
	versionedSigma = 0.75
	// versionedRuns divides the number of runs of each page, because one run compares all pages
	// three times.
	versionedRuns = 5
)

// versionFigures counts false alarms of releases with different browser versions.
func versionFigures(pages []*simulate.Page, runs int) (out []figure) {
	spreads := []struct {
		name          string
		effect        simulate.Versions
		alarms, width string // targets
	}{
		{"0", simulate.Versions{}, "<= 0.02", "<= 1.1"},
		{"05", simulate.Versions{Spread: 0.005}, "<= 0.02", "<= 1.2"},
		{"1", simulate.Versions{Spread: 0.01}, "<= 0.02", "<= 1.4"},
		{"3", simulate.Versions{Spread: 0.03}, "<= 0.02", ""},
		{"1_own", simulate.Versions{Spread: 0.01, Own: 0.01}, "<= 0.05", ""},
	}
	found := make([]simulate.VersionAlarms, len(spreads))
	forEach(len(spreads), func(i int) {
		s := scenario(versionedViews, max(runs/versionedRuns, 1))
		s.Sigma = versionedSigma
		found[i] = s.VersionAlarms(pages, spreads[i].effect)
	})
	for i, of := range spreads {
		x := found[i]
		name := fmt.Sprintf("compare/versions_%s", of.name)
		out = append(out,
			figure{name + "_false_alarms", x.Site.Any, "of runs, with the other pages", of.alarms},
			figure{name + "_false_alarms_total", x.Site.Total, "of runs, with the other pages", ""},
			figure{name + "_width", x.SiteWidth, "of the interval without the guard", of.width},
			figure{name + "_false_alarms_alone", x.Alone.Any, "of runs, with one page", ""},
			figure{name + "_width_alone", x.AloneWidth, "of the interval without the guard", ""},
			figure{name + "_false_alarms_unguarded", x.Unguarded.Any, "of runs", ""})
	}
	return out
}
