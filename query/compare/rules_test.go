package compare_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/test/simulate"
	"github.com/fieldtrie/fieldtrie/trie"
)

// comparisons names a file for the results of one of ten random comparisons, one JSON line each,
// which tests in other languages read.
var comparisons = flag.String("comparisons", "", "`FILE` to write random comparisons to")

// TestRules checks random comparisons against the definitions of their fields, independently of the
// implementation.
func TestRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 1))
	said := map[compare.Status]int{}
	var file bytes.Buffer
	for i := range 10_000 {
		in, o := simulate.Random(rng)
		r := compare.Compare(in, o)
		for _, problem := range contradictions(&r, said) {
			t.Errorf("run %d: %s", i, problem)
		}
		if t.Failed() {
			t.FailNow()
		}
		if text, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		} else if i%10 == 0 {
			file.Write(append(text, '\n'))
		}
	}
	if *comparisons != "" {
		if err := os.WriteFile(*comparisons, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []compare.Status{compare.Slower, compare.Faster, compare.New, compare.Gone, compare.WithinNoise,
		compare.WithPage, compare.NotKnown, compare.TooFew} {
		if said[s] < 100 {
			t.Errorf("%q occurred only %d times in the random comparisons", s, said[s])
		}
	}
}

// contradictions returns all contradictions between a result and its definitions.
func contradictions(r *compare.Result, said map[compare.Status]int) (out []string) {
	wrong := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if min(r.Views.A, r.Views.B) < float64(r.MinViews) && r.Enough {
		wrong("%v page views are enough of %d", r.Views, r.MinViews)
	}
	if r.Enough == (r.Uncovered == nil) {
		wrong("enough %t, uncovered %v", r.Enough, r.Uncovered)
	}
	if r.Enough == (len(r.Warnings) > 0 && strings.HasPrefix(r.Warnings[0], "too few")) {
		wrong("enough %t, %q", r.Enough, r.Warnings)
	}
	sum, size := r.Rest.Mean, 1+r.Total.Mean.A+r.Total.Mean.B
	for _, f := range r.Functions {
		sum.A, sum.B = sum.A+f.Mean.A, sum.B+f.Mean.B
		size += f.Mean.A + f.Mean.B
	}
	if t := r.Total.Mean; math.Abs(sum.A-t.A)+math.Abs(sum.B-t.B) > 1e-6*size ||
		math.Abs(r.Rest.Mean.B-r.Rest.Mean.A-r.Rest.Change) > 1e-6*size {
		wrong("functions and the rest are %v, the total is %v", sum, t)
	}
	changes := map[string]compare.Change{"total": r.Total}
	if r.Total.Browser != nil && r.BrowserVersions == nil {
		wrong("an effect of browser versions, and no versions")
	}
	for _, v := range r.BrowserVersions {
		if v.ShareA < 0 || v.ShareA > 1 || v.ShareB < 0 || v.ShareB > 1 || !(v.Low <= v.Effect && v.Effect <= v.High) {
			wrong("browser version %+v", v)
		}
	}
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
		for _, problem := range contradictionsOf(c, r.Enough) {
			wrong("%s: %s: %s", name, problem, textOf(c))
		}
	}
	return out
}

func textOf(c compare.Change) string {
	text, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func contradictionsOf(c compare.Change, enough bool) (out []string) {
	check := func(ok bool, problem string) {
		if !ok {
			out = append(out, problem)
		}
	}
	intervalOf := func(e *compare.Estimate) (low, high float64, known bool) {
		if e == nil || e.Low == nil || e.High == nil {
			return 0, 0, false
		}
		check(*e.Low <= e.Value && e.Value <= *e.High, "a value is outside of its interval")
		return *e.Low, *e.High, true
	}
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-6*(1+math.Abs(c.Mean.A)+math.Abs(c.Mean.B)) }
	low, high, known := intervalOf(&c.Shown)
	plainLow, plainHigh, _ := intervalOf(c.Adjusted)
	restLow, restHigh, rest := intervalOf(c.Beside)
	intervalOf(c.Mix)
	intervalOf(c.Browser)
	check(near(c.Shown.Value, c.Mean.B-c.Mean.A), "the means do not give the change")
	check(c.Mean.A >= 0 && c.Mean.B >= 0, "a mean below 0")
	check(c.Relative == nil || *c.Relative >= -1 && near(*c.Relative*c.Mean.A, c.Shown.Value),
		"the percentage is not the change by A's mean")
	check(c.Level > 0 && c.Level < 1, "intervals have no level")
	check((c.Status == compare.TooFew) != enough, "too few is not what is not enough")
	if !enough {
		check(c.Adjusted == nil && c.Mix == nil && c.LeftOut == nil && c.Browser == nil && c.Relative == nil &&
			c.Detectable == nil, "a cause is named for what is not known")
		return out
	}
	check(c.Adjusted != nil, "the change is missing")
	switch c.Status {
	case compare.Slower, compare.New:
		check(known && low > 0 && (!rest || restLow > 0), "a change whose interval holds 0, or is missing")
	case compare.Faster, compare.Gone:
		check(known && high < 0 && (!rest || restHigh < 0), "a change whose interval holds 0, or is missing")
	case compare.WithinNoise, compare.Moved:
		check(known && low <= 0 && 0 <= high && (!rest || restLow <= 0 && 0 <= restHigh),
			"no change, but an interval without 0")
	case compare.WithPage:
		check(rest && (plainLow > 0 || plainHigh < 0), "with the page, and no change or no rest")
	case compare.NotKnown:
		check(!known && c.Detectable == nil, "an interval of what is not known")
	}
	if c.Mix != nil {
		browser := 0.0
		if c.Browser != nil {
			browser = c.Browser.Value
		}
		check(near(c.Measured.B-c.Measured.A, c.Adjusted.Value+c.Mix.Value+browser+*c.LeftOut),
			"the parts do not add up")
	}
	return out
}

// TestMixInterval draws two releases with the same code and the same people, so that the true
// change is 0 apart from traffic. It compares how often the interval includes 0 with the level.
func TestMixInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 2))
	means := []float64{100, 300, 800}
	draw := func() (s compare.Side) {
		s.Views, s.Time = make([]float64, 3), make([]compare.Amount, 3)
		for range 1000 {
			k := rng.IntN(3)
			x := means[k] * rng.ExpFloat64()
			s.Views[k]++
			a := &s.Time[k]
			a.Seen, a.Sum, a.Squares = a.Seen+1, a.Sum+x, a.Squares+x*x
		}
		return s
	}
	const runs, level = 2000, 0.99
	missed := 0
	for range runs {
		r := compare.Compare(compare.Input{Strata: []trie.Labels{trie.MakeLabels("device", "a"),
			trie.MakeLabels("device", "b"), trie.MakeLabels("device", "c")}, A: draw(), B: draw()}, compare.Options{})
		if m := r.Total.Mix; *m.Low > 0 || *m.High < 0 {
			missed++
		}
		if math.Abs(r.Total.Level-level) > 1e-12 {
			t.Fatalf("level %g", r.Total.Level)
		}
	}
	// 1 % of 2,000 is 20, plus or minus three standard deviations of 4.4.
	if missed < 7 || missed > 34 {
		t.Errorf("the interval missed 0 in %d of %d runs", missed, runs)
	}
}
