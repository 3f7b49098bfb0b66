package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Recording is the times of one real page view by function. It lacks functions without time.
type Recording struct {
	Function []int // numbers of Page.Functions
	Ms       []float64
}

// Recordings returns the real page views of the page.
func (p *Page) Recordings() []Recording {
	out := make([]Recording, len(p.views))
	for i, v := range p.views {
		for _, s := range v.spent {
			out[i].Function, out[i].Ms = append(out[i].Function, s.function), append(out[i].Ms, s.ms)
		}
	}
	return out
}

// Vary returns the page with n page views for each real one, in which the time of each function
// varies independently: sigma is the standard deviation of its logarithm. It is for pages with a
// single recording.
func (p *Page) Vary(rng *rand.Rand, n int, sigma float64) *Page {
	out := &Page{Name: p.Name, Functions: slices.Clone(p.Functions), groups: p.groups}
	for _, v := range p.views {
		for range n {
			x := view{group: v.group}
			for _, s := range v.spent {
				x.spent = append(x.spent, spent{s.function, s.ms * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2)})
			}
			out.views = append(out.views, x)
		}
	}
	out.finish()
	return out
}

// Nearest returns the named function whose share of the time of the page is nearest to the given
// one, as a ratio.
func (p *Page) Nearest(share float64) (function int) {
	total := 0.0
	for _, ms := range p.Mean {
		total += ms
	}
	best := math.Inf(1)
	for i, ms := range p.Mean {
		if off := math.Abs(math.Log(ms / total / share)); p.Functions[i].Name != "" && p.Functions[i].Resource != "" &&
			off < best {
			best, function = off, i
		}
	}
	return function
}
