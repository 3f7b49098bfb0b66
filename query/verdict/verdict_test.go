package verdict

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/test/simulate"
)

// TestRandom checks verdicts on random comparisons against the definitions of the verdicts.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 4))
	said := map[Word]int{}
	for range 4000 {
		in, o := simulate.Random(rng)
		c := query.Comparison{Result: compare.Compare(in, o)}
		l := Limits{Page: []float64{0.01, 0.05, 0.5, 3}[rng.IntN(4)], Function: 0.01}
		v := Of(&c, l)
		said[v.Word]++
		if len(v.Reasons) == 0 {
			t.Fatalf("%s without a reason", v.Word)
		}
		slower := 0
		for i := range c.Functions {
			f := &c.Functions[i]
			if e := f.Shown; f.Status.Alarm() && e.Value > 0 && e.Value >= l.Function*c.Total.Mean.A {
				slower++
			}
		}
		total := c.Total
		e := total.Shown
		switch v.Word {
		case Pass:
			if !c.Enough || e.High == nil || *e.High/e.Value**total.Relative >= l.Page || slower > 0 ||
				total.Status == compare.Slower || v.Missing != nil {
				t.Errorf("pass: %+v, %+v", total, v)
			}
		case Fail:
			if total.Status != compare.Slower && total.Status != compare.New || total.Relative != nil &&
				*total.Relative < l.Page || !strings.Contains(v.Reasons[0], "more than noise") || v.Missing != nil {
				t.Errorf("fail: %+v, %+v", total, v)
			}
		case NotYet:
			if c.Enough && (total.Status.Alarm() && e.Value > 0 || v.Missing != nil && v.Missing.A+v.Missing.B <= 0 ||
				slower > 0) {
				t.Errorf("not yet: %+v, %+v", total, v)
			}
		case Marginal:
			if !c.Enough || slower == 0 && total.Status != compare.Slower && total.Status != compare.New &&
				*total.Detectable > l.Page*e.Value / *total.Relative {
				t.Errorf("marginal: %+v, %+v", total, v)
			}
		}
	}
	for _, w := range []Word{Pass, Marginal, Fail, NotYet} {
		if said[w] < 20 {
			t.Errorf("%q occurred %d times", w, said[w])
		}
	}
}

// drawn returns a comparison of page views whose times vary, B's by a factor.
func drawn(rng *rand.Rand, n int, factor float64) *query.Comparison {
	side := func(factor float64) (s compare.Side) {
		var all compare.Amount
		for range n {
			x := 100 * factor * (0.2 + rng.ExpFloat64()*0.8)
			all.Seen, all.Sum, all.Squares, all.Product = all.Seen+1, all.Sum+x, all.Squares+x*x, all.Product+x*x
		}
		return compare.Side{Views: []float64{float64(n)}, Time: []compare.Amount{all}}
	}
	return &query.Comparison{Result: compare.Compare(compare.Input{A: side(1), B: side(factor)}, compare.Options{})}
}

// The estimate of missing page views is about right.
func TestMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	const runs = 100
	passed, asked := 0, 0
	for range runs {
		v := Of(drawn(rng, 300, 1), Limits{})
		if v.Word != NotYet {
			continue
		}
		asked++
		if v.Missing == nil || v.Missing.B < 300 || v.Missing.B > 30_000 {
			t.Fatalf("%+v", v)
		}
		if Of(drawn(rng, 300+int(v.Missing.B), 1), Limits{}).Word == Pass {
			passed++
		}
	}
	if asked < runs/2 || float64(passed) < 0.8*float64(asked) {
		t.Errorf("of %d, %d passed with the page views that were missing", asked, passed)
	}
	fails := 0
	for range runs {
		if Of(drawn(rng, 5000, 1.15), Limits{}).Word == Fail {
			fails++
		}
	}
	if fails < runs*8/10 {
		t.Errorf("%d of %d releases that are 15 %% slower failed", fails, runs)
	}
}

func TestVitals(t *testing.T) {
	c := drawn(rand.New(rand.NewPCG(1, 1)), 20_000, 1)
	of := func(a, b, low, high float64, s compare.Status) Word {
		c.Vitals = []query.VitalChange{{Name: "inp", Unit: "ms", A: query.Estimate{Value: a},
			B: query.Estimate{Value: b}, Difference: query.Estimate{Value: b - a, Low: low, High: high}, Status: s}}
		return Of(c, Limits{}).Word
	}
	for _, x := range []struct {
		want Word
		got  Word
	}{
		{Pass, of(100, 120, -5, 45, compare.WithinNoise)},
		{Pass, of(100, 120, 1, 39, compare.Slower)}, // not of 99 %
		{Fail, of(100, 120, 10, 30, compare.Slower)},
		{Marginal, of(100, 105, 3, 7, compare.Slower)},
		{Pass, of(100, 80, -30, -10, compare.Faster)},
		{Pass, of(0, 80, 20, 100, compare.Slower)}, // no share of a base of 0
	} {
		if x.got != x.want {
			t.Errorf("got %s, want %s", x.got, x.want)
		}
	}
}
