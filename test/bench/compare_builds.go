package main

import "github.com/fieldtrie/fieldtrie/test/simulate"

const (
	buildViews = 20_000 // a side
	// editedFunctions is how many of the about 300 functions of a page a release edits.
	editedFunctions = 5
)

// buildFigures counts findings about functions that were edited and about others, with symbols of
// both builds and without them.
func buildFigures(pages []*simulate.Page, runs int) []figure {
	runs = max(runs/5, 1) // page views are four times as many
	of := make([]simulate.Builds, len(pages))
	forEach(len(pages), func(i int) {
		s := scenario(buildViews, runs)
		s.Seed = uint64(i)
		of[i] = s.Builds(pages[i], simulate.By{Device: true}, editedFunctions, plantedFactor)
	})
	var mean simulate.Builds
	for _, x := range of {
		n := float64(len(pages))
		mean.FalseEdited += x.FalseEdited / n
		mean.FalseSame += x.FalseSame / n
		mean.Found += x.Found / n
		mean.FoundWithout += x.FoundWithout / n
	}
	return []figure{
		{"compare/false_edited", mean.FalseEdited, "of the findings about edited functions", "<= 0.05"},
		{"compare/false_not_edited", mean.FalseSame, "of the findings about functions that were not edited", "<= 0.05"},
		{"compare/found_edited", mean.Found, "of runs: 5 % of an edited function with 2 % of the page", ""},
		{"compare/found_without_symbols", mean.FoundWithout, "of the same", ""},
	}
}
