package site

import (
	"fmt"
	"math/rand/v2"

	"github.com/fieldtrie/fieldtrie/test/simulate"
)

// Month returns a plan of 30 days in which nothing is wrong with the code: ten releases, a season
// of 40 %, devices that drift by 10 points, an outage of 5 hours, 3 hours of bots with four times
// the page views of people, and a new version of the browser.
func Month(page *simulate.Page, views float64, seed uint64) Plan {
	rng := rand.New(rand.NewPCG(seed, 2))
	p := Plan{Page: page, Name: page.Name, Days: 30, Views: views, Seed: seed, Season: 0.4, Sigma: 0.2, PageDay: 0.02,
		FunctionDay: 0.005, Drift: 0.1, Ramp: 6}
	p.Releases = []Release{{Name: "r0", Hour: 0}}
	for i := range 10 {
		p.Releases = append(p.Releases, Release{fmt.Sprint("r", i+1), 24*(1+27*i/10) + rng.IntN(30)})
	}
	start := func(hours int) Hours {
		from := 24 + rng.IntN(24*(p.Days-2)-hours)
		return Hours{from, from + hours}
	}
	p.Outage, p.Bots = start(5), start(3)
	p.Browser.From = 24 * (5 + rng.IntN(10))
	p.Browser.Until = p.Browser.From + 10*24
	return p
}

// Browsers plants versions of two browser families, with a new version of each family every
// fortnight. Their effects have the standard deviation spread.
func (p *Plan) Browsers(spread float64) {
	rng := rand.New(rand.NewPCG(p.Seed, 4))
	p.Browser = Hours{}
	first := rng.IntN(14 * 24)
	for _, family := range []string{"Chrome", "Edge"} {
		for k := range 4 {
			p.Versions = append(p.Versions, Version{fmt.Sprintf("%s %d", family, 150+k), spread * rng.NormFloat64(),
				first + (k-1)*14*24})
		}
	}
}

// NewVersion plants a slower browser version, which all page views get. No release is slower.
func (p *Plan) NewVersion(effect float64) {
	p.Browser = Hours{}
	p.Versions = []Version{{"Chrome 157", 0, -14 * 24}, {"Chrome 158", effect, 12 * 24}}
}

// Harm plants a change of 10 to 30 % in one of the heavier functions of two releases.
func (p *Plan) Harm() {
	rng := rand.New(rand.NewPCG(p.Seed, 3))
	for _, r := range []int{3 + rng.IntN(3), 7 + rng.IntN(3)} {
		f := p.Page.Nearest(0.02 + 0.1*rng.Float64())
		p.Effects = append(p.Effects, Effect{Functions: []int{f}, Factor: 1.1 + 0.2*rng.Float64(),
			Release: p.Releases[r].Name})
	}
}

// Slow plants a change of a function with the given share of the page, in the sixth release.
func (p *Plan) Slow(share, factor float64) {
	p.Effects = append(p.Effects, Effect{Functions: []int{p.Page.Nearest(share)}, Factor: factor,
		Release: p.Releases[6].Name})
}

// Creep plants a change of the heaviest function that grows by 1 % a day for ten days, independent
// of releases.
func (p *Plan) Creep() {
	from := 24 * 12
	p.Effects = append(p.Effects, Effect{Functions: []int{p.Page.Nearest(0.2)}, Factor: 1.1, Hours: Hours{from,
		24 * p.Days}, Growing: 10})
}

// Spike plants 6 hours in which all functions take twice as long, soon after a release.
func (p *Plan) Spike() {
	from := p.Releases[6].Hour + int(p.Seed%12)
	p.Effects = append(p.Effects, Effect{Factor: 2, Hours: Hours{from, from + 6}})
}

// SpikeOf plants 6 hours in which one function takes three times as long, soon after a release.
func (p *Plan) SpikeOf(share float64) {
	from := p.Releases[6].Hour + int(p.Seed%12)
	p.Effects = append(p.Effects, Effect{Functions: []int{p.Page.Nearest(share)}, Factor: 3, Hours: Hours{from,
		from + 6}})
}

// Refactor moves 60 % of the time of a function to another one of the same file, if there are two.
func (p *Plan) Refactor() bool {
	f := p.Page.Nearest(0.05)
	for i := range p.Page.Functions {
		if i > 0 && i != f && p.Page.Functions[i].Resource == p.Page.Functions[f].Resource &&
			p.Page.Mean[i] > 0.2*p.Page.Mean[f] {
			p.Effects = append(p.Effects, Effect{Functions: []int{f}, Factor: 0.4, Release: p.Releases[5].Name, To: i})
			return true
		}
	}
	return false
}
