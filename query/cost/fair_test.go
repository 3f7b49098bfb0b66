package cost

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// draws returns page views of one page on three kinds of devices, 400 of them profiled and 400 not.
// A cache answers a share of the profiled ones within 25 ms instead of about 220 ms.
type draws struct {
	r      *rand.Rand
	cached float64
	step   float64 // resolution of the clock, ms
}

func (s *draws) fair(t testing.TB) bool {
	const views = 400
	e := new(Experiment)
	for arm, name := range []string{rollup.ArmProfiled, rollup.ArmNone} {
		var sums [3]rollup.Vital
		for range views {
			device, slow := 0, 1.0
			if u := s.r.Float64(); u > 0.8 {
				device, slow = 2, 2.3
			} else if u > 0.5 {
				device, slow = 1, 1.4
			}
			ttfb := 220 * math.Pow(slow, 0.3) * math.Exp(0.5*s.r.NormFloat64())
			if arm == 0 && s.r.Float64() < s.cached {
				ttfb = 15 + 10*s.r.Float64()
			}
			ttfb = s.step * math.Round(ttfb/s.step)
			sums[device].Add(int64(1000*ttfb), int64(1+9*arm))
		}
		for device := range sums {
			v := &sums[device]
			v.Name, v.Labels = Placebo, trie.MakeLabels(rollup.KeyDevice, fmt.Sprint(device), rollup.KeyArm, name)
			e.Add("/", "", v)
		}
	}
	got := e.Report(0)
	if got.Fair == nil {
		t.Fatalf("no result: %+v", got)
	}
	return *got.Fair
}

// A cache that answers some profiled documents makes the draw unfair. Fair and unfair draws are
// recognized as often as documented.
func TestFair(t *testing.T) {
	for _, tt := range []struct {
		cached, step float64
		low, high    float64 // range of the share of experiments that are reported as unfair
	}{
		{0, 0.1, 0, 0.01},
		{0, 100, 0, 0.01},
		{0.05, 0.1, 0.5, 1},
		{0.2, 0.1, 0.95, 1},
		{1, 0.1, 1, 1},
	} {
		const runs = 2000
		unfair := 0
		for run := range uint64(runs) {
			s := draws{rand.New(rand.NewPCG(run, 7)), tt.cached, tt.step}
			if !s.fair(t) {
				unfair++
			}
		}
		share := float64(unfair) / runs
		t.Logf("%.0f %% cached, clock in steps of %g ms: unfair in %.2f %%", 100*tt.cached, tt.step, 100*share)
		if share < tt.low || share > tt.high {
			t.Errorf("%.0f %% cached, clock in steps of %g ms: reported as unfair in %.2f %%, want %.0f to %.0f",
				100*tt.cached, tt.step, 100*share, 100*tt.low, 100*tt.high)
		}
	}
}
