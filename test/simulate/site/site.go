package site

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/test/simulate"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Begin is the first hour of all plans, a Monday.
func Begin() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

// Site is a drawn plan. It is a [watch.Observer] of one page.
type Site struct {
	plan     Plan
	recorded []simulate.Recording
	devices  []simulate.Device
	hours    [][]cell    // by hour: each release that had page views
	byDay    [][]float64 // by day: the factors of functions
	days     []*watch.Day
	scripts  []string
	scriptOf []int
	weights  map[state][]float64
	versions versions
}

// cell is the page views of a release in an hour.
type cell struct {
	release int
	views   float64
	drawn   [][]drawn // by device and recording
	vitals  [3]float64
}

type drawn struct{ views, factors, squares float64 }

// state is what the factors of functions depend on.
type state struct{ release, hour int }

// New draws the page views of a plan.
func New(p Plan) *Site {
	rng := rand.New(rand.NewPCG(p.Seed, 1))
	s := &Site{plan: p, recorded: p.Page.Recordings(), devices: devices(), days: make([]*watch.Day, p.Days),
		weights: map[state][]float64{}}
	s.versions = versionsOf(p.Versions)
	number := map[string]int{}
	for _, f := range p.Page.Functions {
		if _, ok := number[f.Resource]; !ok {
			number[f.Resource] = len(s.scripts)
			s.scripts = append(s.scripts, f.Resource)
		}
		s.scriptOf = append(s.scriptOf, number[f.Resource])
	}
	for range p.Days {
		f := make([]float64, len(p.Page.Functions))
		for i := range f {
			f[i] = math.Exp(p.FunctionDay*rng.NormFloat64() - p.FunctionDay*p.FunctionDay/2)
		}
		s.byDay = append(s.byDay, f)
	}
	pageDay := 1.0
	for h := range 24 * p.Days {
		if h%24 == 0 {
			pageDay = math.Exp(p.PageDay * rng.NormFloat64())
		}
		s.hours = append(s.hours, s.draw(rng, h, pageDay))
	}
	return s
}

// season is 1 on average over the week: mostly a daily cycle, a quarter of it weekly.
func (p *Plan) season(hour, phase int) float64 {
	x := 2 * math.Pi * float64(hour+phase)
	return 1 + p.Season*(0.75*math.Sin(x/24)+0.25*math.Sin(x/(7*24)))
}

// shares returns the share of each release of the page views of an hour. The newest one grows until
// it has all.
func (p *Plan) shares(hour int) []float64 {
	out := make([]float64, len(p.Releases))
	left := 1.0
	for i, r := range slices.Backward(p.Releases) {
		if hour < r.Hour {
			continue
		}
		share := left
		if i > 0 && p.Ramp > 0 {
			share = left * min(1, float64(hour-r.Hour+1)/float64(p.Ramp+1))
		}
		out[i] = share
		left -= share
	}
	return out
}

func (s *Site) draw(rng *rand.Rand, hour int, pageDay float64) (out []cell) {
	p := &s.plan
	if p.Outage.has(hour) {
		return nil
	}
	rate := p.Views / 24 * p.season(hour, 14)
	speed := p.season(hour, 4) * pageDay
	for release, share := range p.shares(hour) {
		n := poisson(rng, rate*share)
		bots := 0
		if p.Bots.has(hour) {
			bots = poisson(rng, 4*rate*share)
		}
		if n+bots == 0 {
			continue
		}
		c := cell{release: release, views: float64(n + bots), drawn: make([][]drawn,
			len(s.devices)*s.versions.number())}
		for d := range c.drawn {
			c.drawn[d] = make([]drawn, len(s.recorded))
		}
		for i := range n + bots {
			d, v, factor := s.view(rng, hour)
			factor *= speed
			if i >= n { // bots load the page from a fast machine, and leave
				d, v, factor = 0, 0, 0.3
			}
			version, effect := s.versions.draw(rng, hour, d)
			factor *= effect
			x := &c.drawn[d*s.versions.number()+version][v]
			x.views++
			x.factors += factor
			x.squares += factor * factor
		}
		for k := range c.vitals {
			c.vitals[k] = math.Exp(rng.NormFloat64()*vitalSpread/math.Sqrt(c.views)) * math.Pow(speed, vitalSpeed)
		}
		out = append(out, c)
	}
	return out
}

// view draws the device, the recording and the speed of a page view.
func (s *Site) view(rng *rand.Rand, hour int) (device, recording int, factor float64) {
	p := &s.plan
	u := rng.Float64()
	moved := p.Drift * float64(hour) / float64(24*p.Days)
	for device < len(s.devices)-1 {
		share := s.devices[device].Share
		if device == 0 {
			share -= moved
		}
		if u < share {
			break
		}
		u -= share
		device++
	}
	factor = s.devices[device].Factor * math.Exp(p.Sigma*rng.NormFloat64()-p.Sigma*p.Sigma/2)
	if b := p.Browser; b.Until > b.From && rng.Float64() < float64(hour-b.From)/float64(b.Until-b.From) {
		factor *= 0.98
	}
	return device, rng.IntN(len(s.recorded)), factor
}

// poisson draws a number of page views. Large numbers are drawn from a normal distribution.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	n, left := 0, math.Exp(-mean)
	for u := rng.Float64(); u > left; u *= rng.Float64() {
		n++
	}
	return n
}

// factors returns the factor for the time of each function in an hour of a release.
func (s *Site) factors(release, hour int) []float64 {
	key := state{release, hour}
	if f, ok := s.weights[key]; ok {
		return f
	}
	f := slices.Clone(s.byDay[hour/24])
	for _, e := range s.plan.Effects {
		s.apply(f, &e, release, hour)
	}
	s.weights[key] = f
	return f
}

func (s *Site) apply(f []float64, e *Effect, release, hour int) {
	p := &s.plan
	from := e.Hours.From
	if e.Release != "" {
		i := slices.IndexFunc(p.Releases, func(r Release) bool { return r.Name == e.Release })
		if release < i {
			return
		}
		from = max(from, p.Releases[i].Hour)
	}
	if e.Hours != (Hours{}) && !e.Hours.has(hour) {
		return
	}
	factor := e.Factor
	if e.Growing > 0 {
		factor = 1 + (e.Factor-1)*min(1, float64(hour/24-from/24)/float64(e.Growing))
	}
	functions := e.Functions
	if len(functions) == 0 {
		for i := range f {
			f[i] *= factor
		}
	}
	for _, i := range functions {
		if e.To > 0 { // per page view on average, because the other function is in other views
			f[e.To] += (1 - factor) * f[i] * p.Page.Mean[i] / p.Page.Mean[e.To]
		}
		f[i] *= factor
	}
}

// side sums up the page views of a release, or of all for -1, in some hours, by stratum.
type side struct {
	views     []float64
	time      []compare.Amount
	features  [][]compare.Amount // by script and stratum
	functions [][]compare.Amount // by function and stratum
	vitals    [3]float64
	all       float64
	versions  []map[string]float64     // page views by stratum
	cells     map[[2]int]browsers.Cell // by day and device
}

// sum sums up hours. stratum returns the stratum of an hour and a kind of page view, which is a
// device with a browser family.
func (s *Site) sum(release, from, until, strata int, stratum func(hour, kind int) int) *side {
	n := len(s.plan.Page.Functions)
	out := &side{views: make([]float64, strata), time: make([]compare.Amount, strata),
		versions: make([]map[string]float64, strata), cells: map[[2]int]browsers.Cell{}}
	for range n {
		out.functions = append(out.functions, make([]compare.Amount, strata))
	}
	for range s.scripts {
		out.features = append(out.features, make([]compare.Amount, strata))
	}
	for hour := max(from, 0); hour < min(until, len(s.hours)); hour++ {
		for i := range s.hours[hour] {
			c := &s.hours[hour][i]
			if release >= 0 && c.release != release {
				continue
			}
			f := s.factors(c.release, hour)
			for i := range c.drawn {
				d, version := i/s.versions.number(), i%s.versions.number()
				to := stratum(hour, d*s.versions.families()+s.versions.family(version))
				views, time := out.views[to], out.time[to]
				s.addCell(out, c.drawn[i], f, to)
				if s.versions.list != nil {
					now := browsers.Sum{Views: out.views[to] - views, Time: out.time[to].Sum - time.Sum,
						Squares: out.time[to].Squares - time.Squares}
					out.addVersion(to, [2]int{hour / 24, d}, s.versions.list[version].Name, now)
				}
			}
			for k := range c.vitals {
				out.vitals[k] += c.views * c.vitals[k]
			}
			out.all += c.views
		}
	}
	return out
}

func (s *Site) addCell(to *side, of []drawn, factor []float64, stratum int) {
	in := make([]float64, len(s.scripts))
	for v, x := range of {
		if x.views == 0 {
			continue
		}
		r := &s.recorded[v]
		all := 0.0
		clear(in)
		for i, f := range r.Function {
			ms := r.Ms[i] * factor[f]
			all += ms
			in[s.scriptOf[f]] += ms
		}
		to.views[stratum] += x.views
		plus(&to.time[stratum], x, all, all)
		for i, ms := range in {
			if ms > 0 {
				plus(&to.features[i][stratum], x, ms, all)
			}
		}
		for i, f := range r.Function {
			ms := r.Ms[i] * factor[f]
			plus(&to.functions[f][stratum], x, ms, all)
		}
	}
}

// plus adds page views with ms in a function, on a fast device, and all in the page view.
func plus(to *compare.Amount, x drawn, ms, all float64) {
	if ms == 0 {
		return
	}
	to.Seen += x.views
	to.Sum += x.factors * ms
	to.Squares += x.squares * ms * ms
	to.Product += x.squares * ms * all
}

// vitalSpread is how much the 75th percentile varies, times the root of the page views.
const vitalSpread = 1.2

// vitalSpeed is how much Web Vitals depend on the speed of scripts: most of their time is something
// else.
const vitalSpeed = 0.3

var _ watch.Observer = (*Site)(nil)

func hourOf(t time.Time) int { return int(t.Sub(Begin()) / time.Hour) }

// Traffic implements [watch.Observer].
func (s *Site) Traffic(_ context.Context, since, until time.Time) ([]watch.Traffic, error) {
	out := watch.Traffic{Page: s.plan.Name}
	for h := max(hourOf(since), 0); h < min(hourOf(until), len(s.hours)); h++ {
		for _, c := range s.hours[h] {
			out.Hours = append(out.Hours, watch.ReleaseHour{Hour: Begin().Add(time.Duration(h) * time.Hour),
				Release: s.plan.Releases[c.release].Name, Views: int64(c.views)})
		}
	}
	return []watch.Traffic{out}, nil
}

// Compare implements [watch.Observer]. Strata are devices by browser family; if both spans are one,
// hours.
func (s *Site) Compare(_ context.Context, page string, before, after watch.Span,
	o compare.Options) (out query.Comparison, err error) {
	strata := len(s.devices) * s.versions.families()
	stratum := func(_, kind int) int { return kind }
	if before.Since.Equal(after.Since) && before.Until.Equal(after.Until) {
		first := max(hourOf(after.Since), 0)
		strata = max(min(hourOf(after.Until), len(s.hours))-first, 1)
		stratum = func(hour, _ int) int { return hour - first }
	}
	var sides [2]*side
	for i, span := range []watch.Span{before, after} {
		release := slices.IndexFunc(s.plan.Releases, func(r Release) bool { return r.Name == span.Release })
		if release < 0 {
			return out, fmt.Errorf("no release %q", span.Release)
		}
		sides[i] = s.sum(release, hourOf(span.Since), hourOf(span.Until), strata, stratum)
	}
	in := compare.Input{A: s.input(sides[0]), B: s.input(sides[1])}
	s.setCode(&in, before.Release, after.Release)
	for i := range strata {
		in.Strata = append(in.Strata, trie.MakeLabels("stratum", fmt.Sprint(i)))
	}
	out.Result = compare.Compare(in, o)
	for k, v := range vitals() {
		a, b := sides[0].vital(k), sides[1].vital(k)
		d := query.VitalChange{Name: v.name, Unit: v.unit, A: a, B: b}
		half := math.Hypot(a.High-a.Value, b.High-b.Value)
		d.Difference = query.Estimate{Value: b.Value - a.Value, Low: b.Value - a.Value - half,
			High: b.Value - a.Value + half}
		out.Vitals = append(out.Vitals, d)
	}
	return out, nil
}

func (s *Site) input(x *side) (out compare.Side) {
	out = compare.Side{Views: x.views, Time: x.time, Versions: x.versions, Cells: x.allCells()}
	for i, f := range s.plan.Page.Functions {
		total := 0.0
		for _, a := range x.functions[i] {
			total += a.Sum
		}
		out.Functions = append(out.Functions, compare.Function{Frame: f, Self: x.functions[i], Total: total})
	}
	for i, name := range s.scripts {
		out.Features = append(out.Features, compare.Feature{Name: name, Time: x.features[i]})
	}
	return out
}

type measure struct {
	name, unit string
	usual      float64
}

func vitals() []measure {
	return []measure{{"lcp", "ms", 2200}, {"inp", "ms", 180}, {"cls", "score", 0.08}}
}

func (x *side) vital(k int) query.Estimate {
	v := vitals()[k].usual * x.vitals[k] / max(x.all, 1)
	half := 1.96 * v * vitalSpread / math.Sqrt(max(x.all, 1))
	return query.Estimate{Value: v, Low: max(v-half, v/100), High: v + half}
}

// Days implements [watch.Observer].
func (s *Site) Days(_ context.Context, page string, since, until time.Time) (out []watch.Day, err error) {
	strata := len(s.devices) * s.versions.families()
	for d := max(hourOf(since)/24, 0); d < min(hourOf(until)/24, s.plan.Days); d++ {
		if s.days[d] == nil {
			x := s.sum(-1, 24*d, 24*d+24, strata, func(_, kind int) int { return kind })
			of := watch.Day{Day: Begin().AddDate(0, 0, d), Views: x.all, Strata: map[string]watch.DayStratum{}}
			of.Versions = x.allCells()
			for k := range strata {
				stratum := watch.DayStratum{Views: x.views[k], Time: x.time[k], Features: map[string]compare.Amount{}}
				for i, name := range s.scripts {
					stratum.Features[name] = x.features[i][k]
				}
				of.Strata[fmt.Sprint(k)] = stratum
				of.Time = compare.Amount{Seen: of.Time.Seen + x.time[k].Seen, Sum: of.Time.Sum + x.time[k].Sum,
					Squares: of.Time.Squares + x.time[k].Squares, Product: of.Time.Product + x.time[k].Product}
			}
			of.Functions = s.input(x).Functions
			for k, v := range vitals() {
				of.Vitals = append(of.Vitals, vital.Report{Name: v.name, Unit: v.unit, Views: int64(x.all),
					PageViews: int64(4 * x.all), P75: x.vital(k)})
			}
			s.days[d] = &of
		}
		out = append(out, *s.days[d])
	}
	return out, nil
}
