package ci

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

var said = regexp.MustCompile(
	`^p75 is (\S+) ms(?: \(95 %: (\S+) to (\S+)\))?, the limit is (\S+) ms; (\d+) page views(.*)$`)

// TestWords compares messages about random budgets with the definitions of their words. Values are
// near limits, far from them, and equal. Some budgets were blown before.
func TestWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 6))
	words := map[string]int{}
	for range 10_000 {
		s := random(rng)
		text := message(&s)
		found := said.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("%q of %+v", text, s)
		}
		number := func(i int) float64 {
			x, err := strconv.ParseFloat(found[i], 64)
			if err != nil && found[i] != "" {
				t.Fatal(err)
			}
			return x
		}
		value, low, limit, rest := number(1), number(2), number(4), found[6]
		chance, again, few := strings.Contains(rest, "may be chance"), strings.Contains(rest, "within its limit again"),
			strings.Contains(rest, "that it takes")
		for what, ok := range map[string]bool{
			"blown and not over the limit": s.Verdict != budget.Blown || value > limit || again,
			"ok and over the limit":        s.Verdict != budget.OK || value <= limit,
			"chance, but the interval excludes the limit": !chance || s.Verdict == budget.Blown && value > limit &&
				(found[2] == "" || low <= limit),
			"sure, but the interval includes the limit": chance || again || s.Verdict != budget.Blown || low > limit,
			"few":                  few == (s.Verdict == budget.TooFew),
			"again over the limit": !again || value <= limit,
		} {
			if !ok {
				t.Fatalf("%s: %q of %+v", what, text, s)
			}
		}
		words[fmt.Sprintf("%s %t %t", s.Verdict, chance, again)]++
	}
	for _, want := range []string{"ok false false", "blown true false", "blown false false", "blown false true",
		"too few views false false"} {
		if words[want] < 50 {
			t.Errorf("%s occurred %d times in %v", want, words[want], words)
		}
	}
}

// random evaluates a budget that may have been blown before.
func random(rng *rand.Rand) budget.Status {
	s := budget.Status{Name: "b", Metric: budget.P75, Unit: "ms", MinViews: 100, Views: 50 + rng.Int64N(2000),
		Hysteresis: 0.1}
	s.Limit = []float64{25, 0.1, 1234.5678, 1e6}[rng.IntN(4)]
	v := s.Limit * []float64{1, 1 + 1e-9, 1 - 1e-9, 1 + 1e-5, 0.95, 0.5, 1.2, 2}[rng.IntN(8)]
	s.Value = &query.Estimate{Value: v}
	if rng.IntN(3) > 0 {
		half := v * math.Pow(10, -1-6*rng.Float64())
		s.Value.Low, s.Value.High = v-half, v+half
	}
	state := budget.State{}
	if rng.IntN(2) == 0 {
		was := s
		was.Verdict, was.Blown = budget.Blown, true
		state.Apply([]budget.Status{was})
	}
	s.Judge()
	all := []budget.Status{s}
	state.Apply(all)
	return all[0]
}
