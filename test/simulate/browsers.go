package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Versions configures the browser versions of two consecutive releases, each for a fortnight. Two
// browser families have a new version each fortnight.
type Versions struct {
	Spread float64 // standard deviation of the effect of a version on the page
	Own    float64 // standard deviation of its effect on a function, in addition
}

// fortnight is the days between two versions, and between two releases.
const fortnight = 14

// versioned is the page views of a release by day, device and browser version.
type versioned struct {
	page    *Page
	devices []Device
	version []string
	drawn   []drawn       // by day, device, version and real view
	spent   [][][]float64 // by version, real view and its functions: ms
	all     [][]float64   // by version and real view: ms
}

func families() []string { return []string{"Chrome", "Edge"} }

// adopted returns the share of page views with a version, so many days after its release: 61 %
// after 7 days, 97 % after 14.
func adopted(days float64) float64 { return 1 / (1 + math.Exp((5.97-days)/2.31)) }

// drawVersions draws two releases.
func (s Scenario) drawVersions(p *Page, of Versions, run int) (a, b *versioned) {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(run)))
	const each = 4 // versions of a family
	x := versioned{page: p}
	for _, f := range families() {
		for k := range each {
			x.version = append(x.version, fmt.Sprintf("%s %d", f, 150+k))
			page := of.Spread * rng.NormFloat64()
			own := make([]float64, len(p.Functions))
			for i := range own {
				own[i] = of.Own * rng.NormFloat64()
			}
			spent, all := make([][]float64, len(p.views)), make([]float64, len(p.views))
			for v := range p.views {
				for _, sp := range p.views[v].spent {
					ms := sp.ms * max(1+page+own[sp.function], 0.1)
					spent[v], all[v] = append(spent[v], ms), all[v]+ms
				}
			}
			x.spent, x.all = append(x.spent, spent), append(x.all, all)
		}
	}
	draw := func(views, first int, devices []Device) *versioned {
		x := x
		x.devices, x.drawn = devices, make([]drawn, fortnight*len(devices)*len(x.version)*len(p.views))
		for range views {
			d := deviceOf(rng, devices)
			factor := devices[d].Factor * math.Exp(s.Sigma*rng.NormFloat64()-s.Sigma*s.Sigma/2)
			day, family := rng.IntN(fortnight), rng.IntN(len(families()))
			at := float64(first+day) + rng.Float64()
			version := 0
			for k := 1; k < each && rng.Float64() < adopted(at-float64((k-1)*fortnight)); k++ {
				version = k
			}
			to := &x.drawn[((day*len(devices)+d)*len(x.version)+family*each+version)*len(p.views)+
				rng.IntN(len(p.views))]
			to.views, to.factors, to.squares = to.views+1, to.factors+factor, to.squares+factor*factor
		}
		return &x
	}
	return draw(s.ViewsA, 0, s.A), draw(s.ViewsB, fortnight, s.B)
}

func deviceOf(rng *rand.Rand, devices []Device) (d int) {
	for u := rng.Float64(); u >= devices[d].Share && d < len(devices)-1; d++ {
		u -= devices[d].Share
	}
	return d
}

// strata returns the labels of devices and browser families.
func (x *versioned) strata() (out []trie.Labels) {
	for _, d := range x.devices {
		for _, f := range families() {
			out = append(out, trie.MakeLabels("browser", f, "device", d.Name))
		}
	}
	return out
}

// side returns the sums of the release.
func (x *versioned) side() compare.Side {
	p, n := x.page, len(x.devices)*len(families())
	s := compare.Side{Views: make([]float64, n), Time: make([]compare.Amount, n)}
	for _, f := range p.Functions {
		s.Functions = append(s.Functions, compare.Function{Frame: f, Self: make([]compare.Amount, n)})
	}
	for _, name := range p.scripts {
		s.Features = append(s.Features, compare.Feature{Name: name, Time: make([]compare.Amount, n)})
	}
	s.Versions = make([]map[string]float64, n)
	for i := range s.Versions {
		s.Versions[i] = map[string]float64{}
	}
	s.Cells = make([]browsers.Cell, fortnight*len(x.devices))
	for at, d := range x.drawn {
		if d.views == 0 {
			continue
		}
		at, view := at/len(p.views), at%len(p.views)
		cell, version := at/len(x.version), at%len(x.version)
		device, name := cell%len(x.devices), x.version[version]
		to := device * len(families())
		if browsers.FamilyOf(name) == families()[1] {
			to++
		}
		all := x.all[version][view]
		time := d.amount(all, all)
		s.Views[to] += d.views
		plus(&s.Time[to], time)
		in := make([]float64, len(p.scripts))
		for i, ms := range x.spent[version][view] {
			function := p.views[view].spent[i].function
			plus(&s.Functions[function].Self[to], d.amount(ms, all))
			in[p.scriptOf[function]] += ms
		}
		for i, ms := range in {
			plus(&s.Features[i].Time[to], d.amount(ms, all))
		}
		s.Versions[to][name] += d.views
		if s.Cells[cell].Versions == nil {
			s.Cells[cell] = browsers.Cell{Kind: x.devices[device].Name, Versions: map[string]browsers.Sum{}}
		}
		s.Cells[cell].Versions[name] = s.Cells[cell].Versions[name].Plus(browsers.Sum{Views: d.views, Time: time.Sum,
			Squares: time.Squares})
	}
	return s
}

// VersionAlarms has the alarms of comparisons without a guard for browser versions, with a guard
// that knows only the compared page, and with one that knows the other pages of the site.
type VersionAlarms struct {
	Unguarded, Alone, Site Alarms
	// Widths of the interval of the total, divided by those without the guard. They are means.
	AloneWidth, SiteWidth float64
}

// VersionAlarms compares two releases of each page with the same code, seen by different browser
// versions.
func (s Scenario) VersionAlarms(pages []*Page, of Versions) (out VersionAlarms) {
	each := 1 / float64(s.Runs*len(pages))
	for run := range s.Runs {
		sides := make([]compare.Input, len(pages))
		evidence := make([]browsers.Evidence, len(pages))
		for i, p := range pages {
			s := s
			s.Seed = s.Seed<<16 + uint64(i)
			a, b := s.drawVersions(p, of, run)
			sides[i] = compare.Input{Strata: a.strata(), A: a.side(), B: b.side()}
			evidence[i] = browsers.Estimate(a.version, slices.Concat(sides[i].A.Cells, sides[i].B.Cells),
				browsers.Evidence{}).Evidence
		}
		for i, in := range sides {
			var others browsers.Evidence
			for k, e := range evidence {
				if k != i {
					others = others.Plus(e)
				}
			}
			compared := func(in compare.Input, to *Alarms) float64 {
				r := compare.Compare(in, compare.Options{})
				to.add(&r, each)
				return *r.Total.Shown.High - *r.Total.Shown.Low
			}
			alone, site, unguarded := in, in, in
			site.Browsers = others
			unguarded.A.Versions, unguarded.B.Versions = nil, nil
			plain := compared(unguarded, &out.Unguarded)
			out.AloneWidth += each * compared(alone, &out.Alone) / plain
			out.SiteWidth += each * compared(site, &out.Site) / plain
		}
	}
	return out
}
