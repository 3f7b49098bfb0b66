package main

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/test/simulate"
)

// sumsFigures measures comparisons that know only what rollups keep of functions: their variation
// over all devices together.
func sumsFigures(pages []*simulate.Page, runs int) []figure {
	same, shifted, other := scenario(comparedViews, runs), scenario(comparedViews, runs), scenario(comparedViews, runs)
	for d, share := range []float64{0.2, 0.4, 0.4} {
		shifted.B[d].Share = share
	}
	for d, every := range []int{3, 1, 2} { // visitors of each device class behave differently
		other.A[d].Every, other.B[d].Every = every, every
	}
	summed := simulate.By{Device: true, Summed: true}
	alarms, moved, others := make([]float64, len(pages)), make([]float64, len(pages)), make([]float64, len(pages))
	power := make([][]simulate.Power, len(pages))
	forEach(len(pages), func(i int) {
		same, shifted, other := same, shifted, other
		same.Seed, shifted.Seed, other.Seed = 4*uint64(i), 4*uint64(i)+1, 4*uint64(i)+2
		alarms[i] = same.Alarms(pages[i], summed)[0].Functions
		moved[i] = shifted.Alarms(pages[i], summed)[0].Functions
		others[i] = other.Alarms(pages[i], summed)[0].Functions
		var functions []int
		for f := range min(plantedIn, len(pages[i].Functions)) {
			functions = append(functions, f)
		}
		power[i] = scenario(comparedViews, runs).Power(pages[i], summed, functions, plantedFactor)
	})
	var reached float64
	var views []float64
	all := slices.Concat(power...)
	for _, x := range all {
		if x.Found >= 0.9 {
			reached += 1 / float64(len(all))
		}
		short := x.Detectable / (plantedFactor - 1)
		views = append(views, comparedViews*short*short)
	}
	n := float64(len(pages))
	return []figure{
		{"compare/false_alarms_sums", sum(alarms) / n, "of runs, functions", "<= 0.05"},
		{"compare/false_alarms_sums_mix", sum(moved) / n, "of runs, functions", "<= 0.05"},
		{"compare/false_alarms_sums_by_device", sum(others) / n, "of runs, functions", "<= 0.05"},
		{"compare/power_reached_sums", reached, "of the 3 heaviest of each page", ""},
		{"compare/views_median_sums", median(views), "views a side for 5 %", ""},
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// restFigures counts functions that are reported as changed where the whole page changed: it became
// slower as a whole, its visits became longer, or one function changed so much that it is a large
// part of the page. The page did change in these cases, so only functions are counted.
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
