package demo

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func openPool(t *testing.T) *pool {
	t.Helper()
	p, err := newPool()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// each calls do with replays of all recordings for a release. The same seed stretches the steps by
// the same factors in all releases.
func each(p *pool, release string, profiled bool, do func(page string, r *replay)) {
	for _, of := range pages {
		for i, v := range p.pages[of.page] {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			stretch := math.Exp(0.6 * r.NormFloat64())
			one := view{page: of.page, release: release, profiled: profiled, stretch: stretch, wait: 2}
			do(of.page, newReplay(p, v, &one, r))
		}
	}
}

// TestReplayOfReleases replays recordings for each release. All functions except planted ones take
// exactly the same time.
func TestReplayOfReleases(t *testing.T) {
	p := openPool(t)
	all := map[string][]float64{}
	for release := range p.releases {
		each(p, release, true, func(_ string, r *replay) {
			for i, s := range r.steps {
				if r.of.steps[i].planted == 0 {
					all[release] = append(all[release], s.planted-s.begin)
				} else if s.planted > s.begin {
					t.Fatalf("%s: the recorded time of a planted function is in the replay", release)
				}
			}
		})
	}
	for release, times := range all {
		if len(times) < 10_000 || len(times) != len(all[After]) {
			t.Fatalf("%s: %d steps, and %d of %s", release, len(times), len(all[After]), After)
		}
		for i, us := range times {
			if math.Abs(us-all[After][i]) > 1e-6 { // rounding, because they begin at different times
				t.Fatalf("%s: step %d takes %g µs, and %g in %s", release, i, us, all[After][i], After)
			}
		}
	}
}

// TestPlantedTime compares the time that steps reserve for planted functions with the time recorded
// under these functions.
func TestPlantedTime(t *testing.T) {
	p := openPool(t)
	for page, visits := range p.pages {
		for release, at := range p.releases {
			want, got := 0.0, 0.0
			for _, v := range visits {
				for i := range v.steps {
					s := &v.steps[i]
					got += float64(s.length) * s.rate(at) / float64(len(visits))
					if s.planted == 0 || !p.functions.same(s.planted, v.release, at) {
						continue
					}
					same := 0.0
					for _, other := range visits {
						if p.functions.same(s.planted, other.release, at) {
							same++
						}
					}
					want += float64(s.length) / same
				}
			}
			if want == 0 || math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s %s: %.3f ms per page view, and %.3f recorded", release, page, got/1000, want/1000)
			}
		}
	}
}

// TestReplayFrames replays recordings for each release. The names of the shop's functions are the
// names in recordings of the release.
func TestReplayFrames(t *testing.T) {
	p := openPool(t)
	for release, at := range p.releases {
		of := p.functions.releases[at]
		names := map[trie.Frame]string{} // in the recordings of the release
		for _, v := range of.Visits {
			for _, recorded := range v.traces {
				for i := range recorded.Frames {
					f := recorded.FrameOf(trie.FrameID(i))
					names[trie.Frame{Resource: f.Resource, Line: f.Line, Column: f.Column}] = f.Name
				}
			}
		}
		known := 0
		each(p, release, true, func(_ string, r *replay) {
			for i := range r.of.traces {
				x := r.trace(i, 1, 0)
				for k := range x.Frames {
					f := x.FrameOf(trie.FrameID(k))
					if !strings.HasPrefix(f.Resource, origin+"assets/") {
						continue
					}
					name, ok := names[trie.Frame{Resource: f.Resource, Line: f.Line, Column: f.Column}]
					if f.Resource != of.url() || ok && name != f.Name || f.Line != 1 {
						t.Fatalf("%s: %s, recorded as %q", release, f, name)
					}
					if ok {
						known++
					}
				}
			}
		})
		if known < 1000 {
			t.Errorf("%s: %d of its frames were recorded", release, known)
		}
	}
}

// TestReplayTimes checks samples, spans and Web Vitals of replays against each other.
func TestReplayTimes(t *testing.T) {
	p := openPool(t)
	interactions, slower := 0, 0
	each(p, After, true, func(page string, r *replay) {
		longest := 0.0
		for i, of := range r.of.traces {
			x := r.trace(i, 1, 1_234_567)
			if err := x.Validate(); err != nil {
				t.Fatal(page, err)
			}
			for k := 1; k < len(x.Samples); k++ {
				after := x.Samples[k].Time - x.Samples[k-1].Time
				if (after+1)%int64(of.Context.Interval) > 2 || after < 2 {
					t.Fatalf("%s: %d µs from sample %d to the next", page, after, k-1)
				}
			}
			for _, s := range x.Context.Spans {
				if strings.HasPrefix(s.Name, "interaction=") {
					interactions++
					longest = max(longest, float64(s.Length)/1000)
				}
				if strings.HasSuffix(s.Name, "interaction") &&
					(s.Name == "phase=slow-interaction") != (s.Length >= slow) {
					t.Errorf("%s: %s of %d µs", page, s.Name, s.Length)
				}
				if s.Name == "phase=slow-interaction" {
					slower++
				}
			}
		}
		v := r.vitals()
		lcp, fcp, ttfb := v.values["lcp"], v.values["fcp"], v.values["ttfb"]
		if lcp < fcp || fcp <= ttfb || ttfb != math.Round(2*r.of.Vitals["ttfb"]) {
			t.Errorf("%s: %v of %v", page, v.values, r.of.Vitals)
		}
		if math.Abs(v.values["inp"]-longest) > 9 || longest > 0 && v.elements["inp"] == "" {
			t.Errorf("%s: INP %g ms, the longest interaction takes %g", page, v.values["inp"], longest)
		}
		for name, parts := range v.parts {
			if math.Abs(sum(parts)-v.values[name]) > 1e-6 || len(parts) != map[string]int{"lcp": 4, "inp": 3}[name] {
				t.Errorf("%s: %s %g has the parts %v", page, name, v.values[name], parts)
			}
		}
	})
	if interactions < 300 || slower < 30 {
		t.Errorf("%d interactions, %d of them slow", interactions, slower)
	}
}

// TestReplayOwn replays page views without profiling. The profiling script takes no time and all
// other steps take the same time.
func TestReplayOwn(t *testing.T) {
	p := openPool(t)
	var profiled, not []float64
	times := func(to *[]float64) func(string, *replay) {
		return func(_ string, r *replay) {
			own, rest := 0.0, 0.0
			for i, s := range r.steps {
				if r.of.steps[i].own {
					own += s.end - s.begin
				} else {
					rest += s.end - s.begin
				}
			}
			*to = append(*to, own, math.Round(rest))
		}
	}
	each(p, Before, true, times(&profiled))
	each(p, Before, false, times(&not))
	for i := 0; i < len(profiled); i += 2 {
		if not[i] != 0 || not[i+1] != profiled[i+1] {
			t.Fatalf("replay %d: own %g and %g µs, all else %g and %g", i/2, profiled[i], not[i],
				profiled[i+1], not[i+1])
		}
	}
	if sum(profiled) == sum(not) {
		t.Error("the profiling script takes no time")
	}
}

// TestSpread checks that calls take as long as recorded on average.
func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 100_000
	all, squares := 0.0, 0.0
	for range n {
		x := spread(r, callSpread)
		all += x
		squares += x * x
	}
	mean := all / n
	if variance := squares/n - mean*mean; math.Abs(mean-1) > 4*math.Sqrt(variance/n) || variance < 0.1 {
		t.Errorf("mean %g, variance %g", mean, variance)
	}
}

// TestClock maps times between and beyond the points of a clock.
func TestClock(t *testing.T) {
	c := clock{rest: 3}
	c.add(0, 0)
	c.add(10, 20)
	c.add(20, 20) // a call that is missing in the replay
	c.add(30, 25)
	for _, x := range [][2]float64{{0, 0}, {5, 10}, {10, 20}, {15, 20}, {20, 20}, {26, 23}, {30, 25}, {40, 55}} {
		if got := c.at(x[0]); got != x[1] {
			t.Errorf("%g is at %g, not %g", x[0], got, x[1])
		}
	}
}
