package cost

import (
	"cmp"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// pair is a stratum with both arms.
type pair struct {
	profiled, control side
	weight            float64
}

// side is an arm of a stratum.
type side struct {
	bars []rollup.Bar
	all  float64 // sum of the weights of its page views
	n    float64 // effective sample size (L. Kish, Survey Sampling, 1965)
	poor float64 // share, from 0 to 1
	// log is the mean of the logarithms of the values, and spread their variance.
	log, spread float64
}

// leastValue replaces smaller values before taking logarithms: values below a millisecond contain
// no information about a page.
const leastValue = 1000

func sideOf(v *rollup.Vital) side {
	s := side{bars: slices.Collect(v.Histogram.All()), all: float64(v.Weight),
		poor: float64(v.Poor) / float64(v.Weight)}
	if v.WeightSquares > 0 {
		s.n = s.all * s.all / float64(v.WeightSquares)
	}
	for _, b := range s.bars {
		share, log := float64(b.Count)/s.all, logOf(b)
		s.log += share * log
		s.spread += share * log * log
	}
	s.spread = max(0, s.spread-s.log*s.log)
	return s
}

// logOf returns the logarithm of the values of a bar.
func logOf(b rollup.Bar) float64 {
	return math.Log(max(float64(b.Low), leastValue)*max(float64(b.High), leastValue)) / 2
}

// below returns the share of the page views with less than x. Values are assumed to be uniform
// within their bar.
func (s *side) below(x float64) float64 {
	sum := 0.0
	for _, b := range s.bars {
		switch {
		case x >= float64(b.High):
			sum += float64(b.Count)
		case x > float64(b.Low):
			sum += float64(b.Count) * (x - float64(b.Low)) / float64(b.High-b.Low)
		}
	}
	return sum / s.all
}

// mixture is an arm over all strata with their weights.
type mixture struct {
	sides   []*side
	weights []float64 // add up to 1
	bars    []part    // of all strata
}

// part is a bar with its share of the mixture.
type part struct{ low, high, share float64 }

// arms holds both arms of the strata that have both, and all page views of these strata.
type arms struct{ profiled, control, both *mixture }

func armsOf(pairs []pair) arms {
	total := 0.0
	for _, p := range pairs {
		total += p.weight
	}
	var profiled, control []*side
	var weights []float64
	for i := range pairs {
		profiled, control = append(profiled, &pairs[i].profiled), append(control, &pairs[i].control)
		weights = append(weights, pairs[i].weight/total)
	}
	half := make([]float64, len(weights))
	for i, w := range weights {
		half[i] = w / 2
	}
	return arms{mixtureOf(profiled, weights), mixtureOf(control, weights), mixtureOf(slices.Concat(profiled, control),
		slices.Concat(half, half))}
}

func mixtureOf(sides []*side, weights []float64) *mixture {
	m := &mixture{sides: sides, weights: weights}
	shares := map[[2]int64]float64{}
	for i, s := range sides {
		for _, b := range s.bars {
			shares[[2]int64{b.Low, b.High}] += weights[i] * float64(b.Count) / s.all
		}
	}
	for at, share := range shares {
		m.bars = append(m.bars, part{float64(at[0]), float64(at[1]), share})
	}
	slices.SortFunc(m.bars, func(a, b part) int { return cmp.Compare(a.low, b.low) })
	return m
}

// quantile returns the value below which the share q lies.
func (m *mixture) quantile(q float64) float64 {
	sum := 0.0
	for _, b := range m.bars {
		if sum+b.share >= q {
			return b.low + (b.high-b.low)*max(q-sum, 0)/b.share
		}
		sum += b.share
	}
	return m.bars[len(m.bars)-1].high
}

// interval returns quantile q with its interval of z standard errors. The interval follows from the
// standard error of the share below the quantile, within each stratum.
func (m *mixture) interval(q, z float64) (value, low, high float64) {
	value = m.quantile(q)
	_, d := m.below(value)
	d *= z
	return value, m.quantile(max(q-d, 0)), m.quantile(min(q+d, 1))
}

// below returns the share of the page views with less than x, and its standard error.
func (m *mixture) below(x float64) (share, deviation float64) {
	return m.share(func(s *side) float64 { return s.below(x) })
}

// log returns the mean of the logarithms, and its standard error.
func (m *mixture) log() (mean, deviation float64) {
	mean, variance := m.mean(func(s *side) (value, spread float64) { return s.log, s.spread })
	return mean, math.Sqrt(variance)
}

// mean returns the weighted mean of a value over the strata, with the variance between page views
// and the variance of the mean.
func (m *mixture) mean(of func(*side) (value, spread float64)) (mean, variance float64) {
	for i, s := range m.sides {
		value, spread := of(s)
		mean += m.weights[i] * value
		variance += m.weights[i] * m.weights[i] * spread / (s.n - 1)
	}
	return mean, variance
}

// poor returns the share of poor page views, and its standard error.
func (m *mixture) poor() (share, deviation float64) {
	return m.share(func(s *side) float64 { return s.poor })
}

// share returns the weighted mean of a share over the strata, and its standard error. For a share
// of 0 or 1 the standard error is not 0 but as if one more page view were added (A. Agresti and B.
// Caffo, The American Statistician 54, 2000).
func (m *mixture) share(of func(*side) float64) (share, deviation float64) {
	share, variance := m.mean(func(s *side) (value, spread float64) {
		p := of(s)
		return p, p * (1 - p)
	})
	views := 0.0
	for _, s := range m.sides {
		views += s.n
	}
	p := (share*views + 1) / (views + 2)
	return share, math.Sqrt(max(variance, min(p*(1-p), 2/views)/views))
}
