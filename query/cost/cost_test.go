package cost

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// site generates page views of a site whose arms are drawn at random. Values have a log-normal
// distribution, as in real data, with medians that differ by page, device and time.
type site struct {
	r       *rand.Rand
	views   int     // per arm
	effect  float64 // factor of LCP in profiled page views
	weight  int     // page views that a page view of the control stands for
	control string
	cached  float64 // share of the profiled page views that come from a cache, with a fast first byte
	rollOut bool    // the share of profiled page views grows with time, and the site gets slower
}

func (s *site) experiment() *Experiment {
	const hours, pages, devices = 6, 4, 3
	type cell struct{ lcp, ttfb, cls rollup.Vital }
	var cells [2][hours][pages][devices]cell
	view := func(arm, weight int) {
		hour := s.r.IntN(hours)
		if s.rollOut && arm == 0 {
			hour = hours - 1 - int(hours*math.Pow(s.r.Float64(), 2)) // mostly late
		}
		page, device := s.r.IntN(pages), s.r.IntN(devices)
		slow := float64(1+page) * []float64{1, 1.6, 3}[device]
		if s.rollOut {
			slow *= 1 + 0.3*float64(hour)
		}
		lcp := 400 * slow * math.Exp(0.7*s.r.NormFloat64())
		ttfb := 120 * slow * math.Exp(0.5*s.r.NormFloat64())
		if arm == 0 {
			lcp *= s.effect
			if s.r.Float64() < s.cached {
				ttfb /= 4
			}
		}
		c := &cells[arm][hour][page][device]
		c.lcp.Add(int64(lcp*1000), int64(weight))
		c.ttfb.Add(int64(ttfb*1000), int64(weight))
		c.cls.Add([]int64{0, 0, 20_000, 300_000}[s.r.IntN(4)], int64(weight)) // half have no layout shift
	}
	for range s.views {
		view(0, 1)
		view(1, s.weight)
	}
	e := new(Experiment)
	for arm, name := range []string{rollup.ArmProfiled, s.control} {
		for hour := range hours {
			for page := range pages {
				for device := range devices {
					c := &cells[arm][hour][page][device]
					c.lcp.Name, c.ttfb.Name, c.cls.Name = "lcp", "ttfb", "cls"
					for _, v := range []*rollup.Vital{&c.lcp, &c.ttfb, &c.cls} {
						if v.Views == 0 {
							continue
						}
						v.Labels = trie.MakeLabels(rollup.KeyDevice, fmt.Sprint("device-", device), rollup.KeyBrowser,
							"Chrome 150", rollup.KeyArm, name)
						e.Add(fmt.Sprint("/page-", page), fmt.Sprint(hour), v)
					}
				}
			}
		}
	}
	return e
}

func vitalOf(t testing.TB, r Report, name string) Vital {
	t.Helper()
	i := slices.IndexFunc(r.Vitals, func(v Vital) bool { return v.Name == name })
	if i < 0 {
		t.Fatalf("no %s: %+v", name, r)
	}
	return r.Vitals[i]
}

// Planted effects are found, their intervals contain the true value as often as they should, and
// equal arms are reported as equal. Each row is 200 experiments.
func TestExperiments(t *testing.T) {
	for _, c := range []struct {
		name    string
		site    site
		found   [2]float64 // range of the share of experiments with p75 slower or faster
		covered [2]float64 // range of the share whose interval contains the true value
		fair    bool
	}{
		{"+5 %, 20,000 page views an arm", site{views: 20_000, effect: 1.05, weight: 1, control: rollup.ArmNone},
			[2]float64{0.95, 1}, [2]float64{0.92, 0.985}, true},
		{"alike", site{views: 20_000, effect: 1, weight: 1, control: rollup.ArmNone}, [2]float64{0, 0.08},
			[2]float64{0.92, 0.985}, true},
		{"alike, few", site{views: 1000, effect: 1, weight: 1, control: rollup.ArmNone}, [2]float64{0, 0.08},
			[2]float64{0.92, 0.99}, true},
		{"alike, rolled out while the site got slower", site{views: 5000, effect: 1, weight: 100,
			control: rollup.ArmHeader, rollOut: true}, [2]float64{0, 0.08}, [2]float64{0.92, 0.99}, true},
		{"a cache keeps one arm", site{views: 20_000, effect: 0.9, weight: 1, control: rollup.ArmNone, cached: 0.1},
			[2]float64{0, 0}, [2]float64{0, 0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const runs = 200
			found, covered, fair := 0, 0, 0
			mean := 0                 // runs in which the interval of the geometric mean contains the true value
			alike := map[string]int{} // runs with a difference in CLS, which is equal in both arms
			for run := range uint64(runs) {
				s := c.site
				s.r = rand.New(rand.NewPCG(run, 1))
				got := s.experiment().Report(6 * time.Hour)
				if got.Fair == nil {
					t.Fatalf("run %d: %+v", run, got)
				}
				if !*got.Fair {
					if len(got.Vitals) > 0 || got.Unfair == "" {
						t.Fatalf("run %d: unfair, but %+v", run, got)
					}
					continue
				}
				fair++
				for _, d := range vitalOf(t, got, "cls").Differences {
					if d.Low > d.High || d.Value < d.Low || d.Value > d.High {
						t.Fatalf("run %d: %+v", run, d)
					}
					if d.Status != "noise" {
						alike[d.What]++
					}
				}
				d, g := vitalOf(t, got, "lcp").Differences[1], vitalOf(t, got, "lcp").Differences[3]
				if d.What != "p75" || g.What != "geomean" {
					t.Fatalf("got %+v", d)
				}
				if d.Status != "noise" {
					found++
				}
				if truth := c.site.effect - 1; d.Relative.Low <= truth && truth <= d.Relative.High {
					covered++
				}
				if truth := c.site.effect - 1; g.Relative.Low <= truth && truth <= g.Relative.High {
					mean++
				}
			}
			share := func(n int) float64 { return float64(n) / runs }
			for what, n := range alike {
				if share(n) > 0.08 {
					t.Errorf("%s of equal layout shifts is reported as a difference in %.3f", what, share(n))
				}
			}
			t.Logf("cls %v", alike)
			t.Logf("found %.3f, covered %.3f, fair %.3f, geometric mean covered %.3f", share(found), share(covered),
				share(fair), share(mean))
			if c.fair && share(fair) < 0.98 || !c.fair && fair > 0 {
				t.Errorf("reported as fair in %.3f", share(fair))
			}
			if share(mean) < c.covered[0] || share(mean) > c.covered[1] {
				t.Errorf("the interval of the geometric mean contains the true value in %.3f", share(mean))
			}
			if share(found) < c.found[0] || share(found) > c.found[1] || share(covered) < c.covered[0] ||
				share(covered) > c.covered[1] {
				t.Errorf("found in %.3f, want %v; interval contains the true value in %.3f, want %v",
					share(found), c.found, share(covered), c.covered)
			}
		})
	}
}

// Page views of both arms match although their browsers have different versions, and do not match
// across families.
func TestBrowserFamilies(t *testing.T) {
	for _, c := range []struct {
		profiled, control string
		matches           bool
	}{{"Chrome 150", "Chrome 151", true}, {"Chrome 150", "Edge 150", false}} {
		e := new(Experiment)
		for arm, browser := range map[string]string{rollup.ArmProfiled: c.profiled, rollup.ArmNone: c.control} {
			v := &rollup.Vital{Name: "lcp", Labels: trie.MakeLabels(rollup.KeyBrowser, browser, rollup.KeyArm, arm)}
			for i := range 300 {
				v.Add(int64(1000+i), 1)
			}
			e.Add("/feed", "", v)
		}
		if _, share := e.matched("lcp", rollup.ArmNone); (share == 1) != c.matches {
			t.Errorf("%s and %s: %g of the page views match", c.profiled, c.control, share)
		}
	}
}
