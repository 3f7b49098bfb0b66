package compare

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// uniform returns n page views with times spread evenly around a mean. All of them contain the
// thing.
func uniform(n, mean float64) Amount {
	return Amount{Seen: n, Sum: n * mean, Squares: n * mean * mean * 1.1}
}

func strata(names ...string) (out []trie.Labels) {
	for _, name := range names {
		out = append(out, trie.MakeLabels("device", name))
	}
	return out
}

// sideOf returns a side with one stratum in which functions take the given times in ms.
func sideOf(views float64, ms map[string]float64) Side {
	s := Side{Views: []float64{views}}
	all := 0.0
	for _, name := range []string{"alpha", "beta", "gamma", "delta"} {
		if ms[name] > 0 {
			s.Functions = append(s.Functions, Function{Frame: frame(name, "a.js", 1, 1),
				Self: []Amount{uniform(views, ms[name])}, Total: views * ms[name], Reach: views})
			all += ms[name]
		}
	}
	s.Features = []Feature{{"cart", []Amount{uniform(views, all/2)}}}
	s.Time = []Amount{uniform(views, all)}
	return s
}

func statuses(r Result) map[string]Status {
	out := map[string]Status{"": r.Total.Status}
	for _, f := range r.Features {
		out["feature "+f.Name] = f.Status
	}
	for _, f := range r.Functions {
		out[f.Name] = f.Status
	}
	return out
}

func TestStatuses(t *testing.T) {
	a := sideOf(4000, map[string]float64{"alpha": 10, "beta": 20, "gamma": 5})
	b := sideOf(4000, map[string]float64{"alpha": 14, "beta": 20, "delta": 4})
	want := map[string]Status{"": Slower, "feature cart": Slower, "alpha": Slower, "beta": WithinNoise, "gamma": Gone,
		"delta": New}
	// gamma is last seen in a.js:1. delta has another name, so it is not the same function.
	got := Compare(Input{Strata: strata(""), A: a, B: b}, Options{})
	if !reflect.DeepEqual(statuses(got), want) {
		t.Errorf("got %v, want %v", statuses(got), want)
	}
	back := Compare(Input{Strata: strata(""), A: b, B: a}, Options{})
	opposite := map[Status]Status{Slower: Faster, New: Gone, Gone: New, WithinNoise: WithinNoise}
	for name, s := range statuses(back) {
		if opposite[want[name]] != s {
			t.Errorf("%q is %q with swapped sides, want the opposite of %q", name, s, want[name])
		}
	}
	if got.Total.Adjusted.Value != -back.Total.Adjusted.Value || got.Total.P != back.Total.P {
		t.Errorf("the total changed by %v, and by %v with swapped sides", got.Total, back.Total)
	}
	share := *got.Rest.Share
	for _, f := range got.Functions {
		share += *f.Share
	}
	if math.Abs(share-1) > 1e-9 {
		t.Errorf("the shares sum to %g", share)
	}
	if few := Compare(Input{Strata: strata(""), A: a, B: b}, Options{MinViews: 4001}); few.Enough ||
		few.Total.Status != TooFew ||
		few.Functions[0].Status != TooFew || !strings.Contains(few.Warnings[0],
		"4001 are needed on each side, A has 4000 and B has 4000") {
		t.Errorf("with too few views: %v %q", statuses(few), few.Warnings)
	}
}

func TestSame(t *testing.T) {
	a := sideOf(4000, map[string]float64{"alpha": 10, "beta": 20, "gamma": 5})
	r := Compare(Input{Strata: strata(""), A: a, B: a}, Options{})
	for name, s := range statuses(r) {
		if s != WithinNoise {
			t.Errorf("%q is %q", name, s)
		}
	}
	for _, f := range r.Functions {
		if f.Adjusted.Value != 0 || f.P != 1 || f.Share != nil {
			t.Errorf("%v", f)
		}
	}
}

// TestMixAlone changes only how many page views come from which device.
func TestMixAlone(t *testing.T) {
	side := func(desktop, mobile float64) Side {
		return Side{Views: []float64{desktop, mobile}, Time: []Amount{uniform(desktop, 100), uniform(mobile, 400)},
			Functions: []Function{{Frame: frame("alpha", "a.js", 1, 1), Self: []Amount{uniform(desktop, 100),
				uniform(mobile, 400)}}}}
	}
	r := Compare(Input{Strata: strata("desktop", "mobile"), A: side(3000, 1000), B: side(1000, 3000)}, Options{})
	if f := r.Functions[0]; math.Abs(f.Adjusted.Value) > 1e-9 || math.Abs(f.Mix.Value-150) > 1e-9 || *f.Mix.Low <= 0 ||
		f.Measured.B-f.Measured.A != 150 || f.Status != WithinNoise {
		t.Errorf("got %+v", f)
	}
	blind := Input{Strata: strata("desktop", "mobile"), A: side(3000, 1000), B: side(1000, 3000)}
	for _, s := range []*Side{&blind.A, &blind.B} {
		x := s.Functions[0].Self
		s.Functions[0].Self = []Amount{x[0].Plus(x[1])}
	}
	if f := Compare(blind, Options{}).Functions[0]; !f.Unadjusted || f.Status != Slower || f.Mix != nil {
		t.Errorf("without strata: %+v", f)
	}
}

func TestStrata(t *testing.T) {
	views := func(v ...float64) Side {
		s := Side{Views: v}
		for i, n := range v {
			s.Time = append(s.Time, uniform(n, float64(100*(i+1))))
		}
		return s
	}
	r := Compare(Input{Strata: strata("both", "only a", "small", "small too", "only b"),
		A: views(700, 200, 20, 25, 0), B: views(900, 1, 15, 20, 400)}, Options{})
	var got []StratumUse
	for _, s := range r.Strata {
		got = append(got, s.Use)
	}
	// The pool consists of both strata that are small: 45 and 35 views.
	if want := []StratumUse{StratumOwn, StratumLeftOut, StratumPooled, StratumPooled,
		StratumLeftOut}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if math.Abs(*r.Uncovered-200.0/945) > 1e-9 || len(r.Warnings) != 1 {
		t.Errorf("uncovered %g, %q", *r.Uncovered, r.Warnings)
	}
	if d := r.Total.Mix.Value + r.Total.Adjusted.Value +
		*r.Total.LeftOut - (r.Total.Measured.B - r.Total.Measured.A); math.Abs(d) > 1e-9 {
		t.Errorf("change, mix effect and left-out strata miss the difference by %g", d)
	}
	// A's mean is 28.0 ms larger with the strata that B lacks: 200 of 945 page views of 200 ms.
	rest := (200*200 - 200*r.Total.Measured.A) / 745
	if math.Abs(*r.Total.LeftOut+rest) > 1e-9 {
		t.Errorf("left out %g, want %g", *r.Total.LeftOut, -rest)
	}
}

// TestRare checks that a function that one side happened to miss is not reported as new or gone.
func TestRare(t *testing.T) {
	side := func(views, seen float64) Side {
		return Side{Views: []float64{views}, Time: []Amount{uniform(views, 50)},
			Functions: []Function{{Frame: frame("alpha", "a.js", 1, 1), Self: []Amount{{Seen: seen, Sum: seen * 10,
				Squares: seen * 110}}}}}
	}
	for _, c := range []struct {
		viewsA, seenA, viewsB, seenB float64
		want                         Status
	}{{20_000, 12, 1000, 0, WithinNoise}, {20_000, 400, 1000, 0, Gone}, {5000, 0, 5000, 9, NotKnown},
		{5000, 0, 5000, 40, New}} {
		r := Compare(Input{A: side(c.viewsA, c.seenA), B: side(c.viewsB, c.seenB)}, Options{})
		if r.Functions[0].Status != c.want {
			t.Errorf("%+v: %q", c, r.Functions[0].Status)
		}
	}
}

// TestVague compares with a side that only has a mean.
func TestVague(t *testing.T) {
	a, b := sideOf(4000, map[string]float64{"alpha": 10}), sideOf(4000, map[string]float64{"alpha": 20})
	b.Functions[0].Self[0].Squares = 0
	f := Compare(Input{A: a, B: b}, Options{}).Functions[0]
	if f.Adjusted.Value != 10 || f.Adjusted.Low != nil || f.Status != NotKnown || f.Share == nil {
		t.Errorf("got %+v", f)
	}
}

// TestMoved moves a function far away and to another file, at the same cost.
func TestMoved(t *testing.T) {
	a := sideOf(4000, map[string]float64{"alpha": 10, "beta": 20})
	b := sideOf(4000, map[string]float64{"alpha": 10, "beta": 20})
	b.Functions[0].Frame.Resource = "https://x.example/b.js"
	b.Functions[1].Frame.Line = 30
	for _, f := range Compare(Input{A: a, B: b}, Options{}).Functions {
		if want := map[string]Status{"alpha": Moved, "beta": WithinNoise}[f.Name]; f.Status != want || f.From == nil ||
			f.From.Line != 1 {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

// TestHostile compares invalid sides, and expects finite numbers.
func TestHostile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float64{0, 0, 1, 1, 2, 100, 5000, 1e12, 1e90, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e308, 1e-300}
	number := func() float64 { return odd[rng.IntN(len(odd))] }
	amounts := func() (out []Amount) {
		for range rng.IntN(4) {
			out = append(out, Amount{number(), number(), number(), number()})
		}
		return out
	}
	side := func() (s Side) {
		for range rng.IntN(4) {
			s.Views = append(s.Views, number())
		}
		s.Time = amounts()
		for _, name := range []string{"", "alpha", "beta"}[:rng.IntN(4)] {
			s.Functions = append(s.Functions, Function{frame(name, "a.js", 1, 1), amounts(), number(), number(),
				[]Code{CodeUnknown, CodeEdited, CodeSame}[rng.IntN(3)]})
			s.Features = append(s.Features, Feature{name, amounts()})
		}
		return s
	}
	for range 5000 {
		in := Input{Strata: strata("a", "b", "c")[:rng.IntN(4)], A: side(), B: side()}
		r := Compare(in, Options{MinViews: 1})
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%+v: %v", in, err)
		}
		var again Result
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if !(r.Total.P >= 0 && r.Total.P <= 1 && r.Total.Q >= 0 && r.Total.Q <= 1) {
			t.Fatalf("p %g, q %g", r.Total.P, r.Total.Q)
		}
	}
}

// TestLaws checks three properties on random sides of one stratum: swapping the sides negates the
// change, a constant added to all times only moves the value, and the page's change is the sum of
// its parts.
func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	names := []string{"alpha", "beta", "gamma", "delta", "epsilon"}
	sides := func() Side {
		s := Side{Views: []float64{500}, Time: make([]Amount, 1)}
		times := make([][]float64, 500)
		for i, name := range names {
			if rng.IntN(4) == 0 {
				continue
			}
			var self Amount
			mean := rng.Float64() * 20
			for v := range times {
				x := mean * rng.ExpFloat64()
				self = self.Plus(Amount{Seen: 1, Sum: x, Squares: x * x})
				times[v] = append(times[v], x)
			}
			s.Functions = append(s.Functions, Function{Frame: frame(name, "a.js", uint32(10*i+1), 1),
				Self: []Amount{self}})
		}
		for _, v := range times {
			x := sum(v)
			s.Time[0] = s.Time[0].Plus(Amount{Seen: 1, Sum: x, Squares: x * x})
		}
		return s
	}
	opposite := map[Status]Status{Slower: Faster, Faster: Slower, New: Gone, Gone: New, WithinNoise: WithinNoise}
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+math.Abs(x)) }
	for range 200 {
		a, b := sides(), sides()
		there, back := Compare(Input{A: a, B: b}, Options{}), Compare(Input{A: b, B: a}, Options{})
		whole := there.Rest.Change
		for i, f := range there.Functions {
			g := back.Functions[i]
			whole += f.Shown.Value
			if f.Place != g.Place || !near(f.Adjusted.Value, -g.Adjusted.Value) ||
				!near(*f.Adjusted.Low, -*g.Adjusted.High) || !near(f.Q, g.Q) || opposite[f.Status] != g.Status {
				t.Fatalf("%+v there, %+v back", f, g)
			}
		}
		if !near(whole, there.Total.Adjusted.Value) {
			t.Fatalf("the parts sum to %g, the total is %g", whole, there.Total.Adjusted.Value)
		}
		const shift = 3
		shifted := b
		x := b.Time[0]
		shifted.Time = []Amount{{Seen: x.Seen, Sum: x.Sum + shift*500, Squares: x.Squares + 2*shift*x.Sum +
			shift*shift*500}}
		moved := Compare(Input{A: a, B: shifted}, Options{}).Total
		if was := there.Total; !near(moved.Adjusted.Value, was.Adjusted.Value+shift) ||
			!near(*moved.Adjusted.High-*moved.Adjusted.Low, *was.Adjusted.High-*was.Adjusted.Low) {
			t.Fatalf("%+v, with %d ms more %+v", was, shift, moved)
		}
	}
}
