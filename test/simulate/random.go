package simulate

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Random draws two sides as on real sites: from no page views to many, with several kinds of
// traffic, with much or nothing in common, and occasionally with absurd values. It is for tests of
// the texts about comparisons.
func Random(rng *rand.Rand) (in compare.Input, o compare.Options) {
	kinds := []string{"desktop", "mobile", "tablet", "old", "new"}
	kinds = kinds[:1+rng.IntN(len(kinds))]
	for _, kind := range kinds {
		in.Strata = append(in.Strata, trie.MakeLabels("device", kind))
	}
	in.A, in.B = randomSide(rng, len(kinds), nil), compare.Side{}
	if rng.IntN(5) == 0 { // the same visitors
		in.B = randomSide(rng, len(kinds), in.A.Views)
	} else {
		in.B = randomSide(rng, len(kinds), nil)
	}
	if rng.IntN(3) > 0 {
		randomVersions(rng, &in.A)
		randomVersions(rng, &in.B)
		in.Browsers = browsers.Evidence{Score: rng.Float64() / 1e3, Information: rng.Float64(), Squares: rng.Float64()}
	}
	o.MinViews = []int{0, 0, 2, 5, 1000}[rng.IntN(5)]
	return in, o
}

// randomVersions draws the browser versions of a side. Some are slower than others.
func randomVersions(rng *rand.Rand, s *compare.Side) {
	names := []string{"Chrome 157", "Chrome 158", "Chrome 159", "Edge 158", "Safari"}
	cell := browsers.Cell{Versions: map[string]browsers.Sum{}}
	for _, n := range s.Views {
		of := map[string]float64{}
		for range rng.IntN(5) {
			of[names[rng.IntN(len(names))]] += math.Floor(n / 4 * rng.Float64())
		}
		s.Versions = append(s.Versions, of)
		for _, name := range slices.Sorted(maps.Keys(of)) {
			n, mean := of[name], 100*(1+0.1*rng.Float64())
			cell.Versions[name] = cell.Versions[name].Plus(browsers.Sum{Views: n, Time: n * mean,
				Squares: 2 * n * mean * mean})
		}
	}
	s.Cells = append(s.Cells, cell)
}

// randomSide draws one side with the given number of kinds of traffic; views are its page views, or
// nil to draw them.
func randomSide(rng *rand.Rand, kinds int, views []float64) (s compare.Side) {
	s.Views = views
	most := math.Pow(10, 4*rng.Float64())
	for len(s.Views) < kinds {
		n := math.Floor(most * rng.Float64() * rng.Float64())
		if rng.IntN(4) == 0 {
			n = 0
		}
		s.Views = append(s.Views, n)
	}
	mean := 1 + 500*rng.Float64()*rng.Float64()
	s.Time = randomTimes(rng, s.Views, mean)
	for i, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"} {
		if rng.IntN(4) == 0 {
			continue
		}
		frame := trie.Frame{Name: name, Resource: "https://www.example.com/a.js", Line: uint32(10*i + 1), Column: 1}
		f := compare.Function{Frame: frame, Self: randomTimes(rng, s.Views, mean/float64(i+2))}
		if rng.IntN(10) == 0 {
			f.Self = f.Self[:min(1, len(f.Self))]
		}
		if rng.IntN(3) > 0 {
			like := 0.8 + 0.6*rng.Float64()
			for k := range f.Self {
				f.Self[k].Product = like * f.Self[k].Sum * s.Time[k].Sum / s.Views[k]
			}
		}
		s.Functions = append(s.Functions, f)
	}
	for i := range rng.IntN(3) {
		s.Features = append(s.Features, compare.Feature{Name: fmt.Sprint("feature", i), Time: randomTimes(rng,
			s.Views, mean/3)})
	}
	return s
}

// randomTimes draws the times of page views of each kind in one function, feature or page, a few ms
// each.
func randomTimes(rng *rand.Rand, views []float64, mean float64) (out []compare.Amount) {
	spread := 1 + 3*rng.Float64()*rng.Float64()
	for _, n := range views {
		seen := n
		if rng.IntN(3) == 0 {
			seen = math.Floor(n * rng.Float64())
		}
		x := seen * mean * (0.9 + 0.2*rng.Float64())
		a := compare.Amount{Seen: seen, Sum: x}
		if seen > 0 {
			a.Squares = x * x / seen * spread
		}
		switch odd := rng.IntN(60); {
		case n == 0: // no page view has any time
		case odd == 0:
			a.Squares = 0
		case odd == 1:
			a.Sum = math.NaN()
		case odd == 2:
			a.Sum, a.Squares = 1e90, 1e99
		}
		out = append(out, a)
	}
	return out
}
