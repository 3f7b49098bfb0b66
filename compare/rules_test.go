package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomSide draws page views as sites have them, from few to many, of some kinds of traffic, and now and then
// absurd ones. names are those of functions that it may have.
func randomSide(rng *rand.Rand, kinds int, names []string) (s Side) {
	most := math.Pow(10, 4*rng.Float64())
	for range kinds {
		n := math.Floor(most * rng.Float64() * rng.Float64())
		if rng.IntN(4) == 0 {
			n = 0
		}
		s.Views = append(s.Views, n)
	}
	times := func(mean float64) (out []Amount) {
		spread := 1 + 3*rng.Float64()*rng.Float64()
		for _, n := range s.Views {
			seen := n
			if rng.IntN(3) == 0 {
				seen = math.Floor(n * rng.Float64())
			}
			x := seen * mean * (0.9 + 0.2*rng.Float64())
			a := Amount{Seen: seen, Sum: x}
			if seen > 0 {
				a.Squares = x * x / seen * spread
			}
			switch odd := rng.IntN(60); {
			case n == 0: // nobody spent any time
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
	mean := 1 + 500*rng.Float64()*rng.Float64()
	s.Time = times(mean)
	for i, name := range names {
		if rng.IntN(4) > 0 {
			f := Function{Frame: frame(name, "a.js", uint32(10*i+1), 1), Self: times(mean / float64(i+2))}
			if rng.IntN(10) == 0 {
				f.Self = f.Self[:min(1, len(f.Self))]
			}
			s.Functions = append(s.Functions, f)
		}
	}
	if rng.IntN(2) == 0 {
		s.Features = append(s.Features, Feature{"cart", times(mean / 3)})
	}
	return s
}

// TestRules has random comparisons judged by the definitions of what they say, not by how they are made.
func TestRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 1))
	names := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
	kinds := []string{"desktop", "mobile", "tablet", "old", "new"}
	said := map[Status]int{}
	for i := range 10_000 {
		n := 1 + rng.IntN(len(kinds))
		in := Input{Strata: strata(kinds[:n]...), A: randomSide(rng, n, names), B: randomSide(rng, n, names)}
		if i%5 == 0 { // the same people
			in.B.Views = in.A.Views
		}
		r := Compare(in, Options{MinViews: []int{0, 0, 2, 5, 1000}[rng.IntN(5)]})
		for _, problem := range contradictions(in, &r, said) {
			t.Errorf("run %d: %s", i, problem)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	for _, s := range []Status{Slower, Faster, New, Gone, WithinNoise, NotKnown, TooFew} {
		if said[s] < 100 {
			t.Errorf("%q was said %d times: the runs try too little", s, said[s])
		}
	}
}

// contradictions returns what in a result contradicts its definition, or itself.
func contradictions(in Input, r *Result, said map[Status]int) (out []string) {
	wrong := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if min(sum(in.A.Views), sum(in.B.Views)) < float64(r.MinViews) && r.Enough {
		wrong("%v page views are enough of %d", r.Views, r.MinViews)
	}
	if r.Enough == (r.Uncovered == nil) || r.Enough == (r.Rest.Change == nil) {
		wrong("enough %t, uncovered %v, rest %v", r.Enough, r.Uncovered, r.Rest)
	}
	if r.Enough == (len(r.Warnings) > 0 && strings.HasPrefix(r.Warnings[0], "too few")) {
		wrong("enough %t, %q", r.Enough, r.Warnings)
	}
	changes := map[string]Change{"total": r.Total}
	for _, f := range r.Features {
		changes["feature "+f.Name] = f.Change
	}
	for _, f := range r.Functions {
		changes[f.Name] = f.Change
		if f.Share != nil && !r.Total.Status.Alarm() {
			wrong("%s has %g of a change that is %s", f.Name, *f.Share, r.Total.Status)
		}
	}
	for name, c := range changes {
		said[c.Status]++
		for _, problem := range c.contradictions(r.Enough) {
			wrong("%s: %s: %s", name, problem, c)
		}
	}
	return out
}

func (c Change) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c Change) contradictions(enough bool) (out []string) {
	check := func(ok bool, problem string) {
		if !ok {
			out = append(out, problem)
		}
	}
	intervalOf := func(e *Estimate) (low, high float64, known bool) {
		if e == nil || e.Low == nil || e.High == nil {
			return 0, 0, false
		}
		check(*e.Low <= e.Value && e.Value <= *e.High, "a value is outside of its interval")
		return *e.Low, *e.High, true
	}
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-6*(1+math.Abs(c.Mean.A)+math.Abs(c.Mean.B)) }
	low, high, known := intervalOf(c.Adjusted)
	intervalOf(c.Mix)
	intervalOf(&c.Difference)
	check(near(c.Difference.Value, c.Mean.B-c.Mean.A), "the difference is not that of the means")
	check(c.Level > 0 && c.Level < 1, "intervals have no level")
	check((c.Status == TooFew) != enough, "too few is not what is not enough")
	if !enough {
		check(c.Adjusted == nil && c.Mix == nil && c.LeftOut == nil && c.Relative == nil && c.Detectable == nil, "a cause is named for what is not known")
		return out
	}
	check(c.Adjusted != nil, "the change is missing")
	switch c.Status {
	case Slower, New:
		check(known && low > 0, "a change whose interval holds 0, or is missing")
	case Faster, Gone:
		check(known && high < 0, "a change whose interval holds 0, or is missing")
	case WithinNoise, Moved:
		check(known && low <= 0 && 0 <= high, "no change beside an interval without 0")
	case NotKnown:
		check(!known && c.Detectable == nil, "an interval of what is not known")
	}
	if c.Mix != nil {
		check(near(c.Difference.Value, c.Adjusted.Value+c.Mix.Value+*c.LeftOut), "the parts do not add up")
	}
	return out
}

// TestMixInterval draws two releases with the same code and the same people, so that what traffic makes is 0,
// and holds how often the interval has it against the level.
func TestMixInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 2))
	means := []float64{100, 300, 800}
	draw := func() (s Side) {
		s.Views, s.Time = make([]float64, 3), make([]Amount, 3)
		for range 1000 {
			k := rng.IntN(3)
			x := means[k] * rng.ExpFloat64()
			s.Views[k]++
			s.Time[k] = s.Time[k].plus(Amount{1, x, x * x})
		}
		return s
	}
	const runs, level = 2000, 0.99
	missed := 0
	for range runs {
		r := Compare(Input{Strata: strata("a", "b", "c"), A: draw(), B: draw()}, Options{})
		if m := r.Total.Mix; *m.Low > 0 || *m.High < 0 {
			missed++
		}
		if math.Abs(r.Total.Level-level) > 1e-12 {
			t.Fatalf("level %g", r.Total.Level)
		}
	}
	// 1 % of 2,000 are 20, give or take three times 4.4.
	if missed < 7 || missed > 34 {
		t.Errorf("the interval missed 0 in %d of %d runs", missed, runs)
	}
}
