package main

import (
	"github.com/fieldtrie/fieldtrie/test/simulate"
)

// restFigures counts functions that are called changed where all of the page changed: it became
// slower as a whole, its visits became longer, or one function changed so much that it is much of
// the page. The page itself has changed then, so that functions alone are counted.
func restFigures(pages []*simulate.Page, byLength []*simulate.Page, runs int) []figure {
	slower, longer, same := scenario(comparedViews, runs), scenario(comparedViews, runs), scenario(comparedViews, runs)
	slower.B = simulate.Devices()
	for i := range slower.B {
		slower.B[i].Factor *= 1.2
	}
	longer.Longer = true
	device := simulate.By{Device: true}
	type counts struct{ slower, cut, longer, others float64 }
	of := make([]counts, len(pages))
	forEach(len(pages), func(i int) {
		slower, longer, same := slower, longer, same
		slower.Seed, longer.Seed, same.Seed = 4*uint64(i), 4*uint64(i)+1, 4*uint64(i)+2
		of[i].slower = slower.Alarms(pages[i], device)[0].Functions
		of[i].cut = same.Alarms(byLength[i], device)[0].Functions
		of[i].longer = longer.Alarms(byLength[i], device)[0].Functions
		of[i].others = same.Power(pages[i], device, []int{0}, 1.5)[0].False
	})
	var mean counts
	for _, x := range of {
		n := float64(len(of))
		mean = counts{mean.slower + x.slower/n, mean.cut + x.cut/n, mean.longer + x.longer/n, mean.others + x.others/n}
	}
	return []figure{
		{"compare/false_alarms_page_slower", mean.slower, "of runs", "<= 0.05"},
		{"compare/false_alarms_lengths", mean.cut, "of runs", "<= 0.05"},
		{"compare/false_alarms_longer", mean.longer, "of runs", "<= 0.05"},
		{"compare/false_discoveries_large_change", mean.others, "of alarms", "<= 0.05"},
	}
}
