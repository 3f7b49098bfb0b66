package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// pool has the recordings of all releases, with stacks that belong to no release. A page view of
// any release is drawn from all recordings of its page, so functions that were not edited have the
// same distribution in each release.
type pool struct {
	functions *functions
	releases  map[string]int
	stacks    trie.Trie
	pages     map[string][]*visit
}

// look is one observation of the profiler.
type look struct {
	node   trie.NodeID // in the stacks of the pool
	marker trie.Marker
}

// step is a time range of a visit with one observation.
type step struct {
	at, length int64 // µs
	look
	trace     int          // index of the trace with the sample
	task      trie.NodeID  // the outermost function
	own       bool         // the profiling script ran
	planted   uint32       // the outermost planted function on the stack, 0 without one
	caller    trie.NodeID  // of the planted function
	callee    trie.FrameID // the function that it called, if calls
	calls     bool
	plantings []*planting // whose caller is on the stack of the step
}

// planting is the time of planted functions that is taken from the other time of a caller.
type planting struct {
	of []struct { // by release
		rate  float64 // per time under the caller outside planted functions
		looks []weighted
	}
}

// weighted is a look with the cumulative weight up to it.
type weighted struct {
	look
	upTo float64
}

// profiler is the URL of the browser script.
const profiler = "http://profiles.example/"

// newPool reads the recordings.
func newPool() (*pool, error) {
	list, err := readReleases()
	if err != nil {
		return nil, err
	}
	p := &pool{
		functions: newFunctions(list), releases: map[string]int{},
		stacks: *trie.New(), pages: map[string][]*visit{},
	}
	for i, r := range list {
		p.releases[r.Release] = i
		for _, v := range r.Visits {
			v.release = i
			if err := p.addSteps(v); err != nil {
				return nil, fmt.Errorf("%s %s: %w", r.Release, v.Page, err)
			}
			p.pages[v.Page] = append(p.pages[v.Page], v)
		}
	}
	p.keepCalls()
	for page, visits := range p.pages {
		if err := p.plant(visits); err != nil {
			return nil, fmt.Errorf("%s: %w", page, err)
		}
	}
	return p, nil
}

// addSteps creates the steps of a visit. A sample covers the time up to the next one, at most two
// intervals.
func (p *pool) addSteps(v *visit) error {
	for i, t := range v.traces {
		nodes := make([]trie.NodeID, len(t.Nodes))
		for n := 1; n < len(nodes); n++ {
			f, err := p.functions.toCommon(v.release, t.Frame(trie.NodeID(n)))
			if err != nil {
				return err
			}
			nodes[n] = p.stacks.Child(nodes[t.Nodes[n].Parent], p.stacks.Intern(f))
		}
		interval := int64(t.Context.Interval)
		for k, s := range t.Samples {
			length := interval
			if k+1 < len(t.Samples) {
				length = min(t.Samples[k+1].Time-s.Time, 2*interval)
			}
			one := step{at: s.Time, length: length, look: look{nodes[s.Node], s.Marker}, trace: i}
			p.describe(&one)
			if n := len(v.steps); n > 0 {
				v.steps[n-1].length = min(v.steps[n-1].length, one.at-v.steps[n-1].at)
				if v.steps[n-1].length < 0 {
					return fmt.Errorf("trace %d begins before the end of the previous trace", i)
				}
			}
			v.steps = append(v.steps, one)
		}
	}
	if len(v.steps) > 0 && float64(v.steps[0].at) < 1000*v.Vitals["ttfb"] {
		return errors.New("it has samples from before the arrival of its document")
	}
	return nil
}

// describe sets the planted function, caller and owner of a step.
func (p *pool) describe(s *step) {
	resource := ""
	inner := trie.Root
	for n := range p.stacks.Stack(s.node) {
		f := p.stacks.Frame(n)
		s.task = n
		if resource == "" && f.Resource != "" {
			resource = f.Resource // functions of the browser belong to their caller
		}
		if f.Resource == common && p.functions.texts[f.Line] != nil {
			s.planted, s.caller = f.Line, p.stacks.Nodes[n].Parent
			s.callee, s.calls = p.stacks.Nodes[inner].Frame, inner != trie.Root
		}
		inner = n
	}
	s.own = strings.HasPrefix(resource, profiler)
}

// keepCalls excludes calls that a planted function makes in all its versions, because the edit does
// not affect them.
func (p *pool) keepCalls() {
	type call struct {
		from uint32
		to   trie.FrameID
	}
	in := map[call]map[uint32]bool{} // the texts of the versions that make it
	each := func(do func(s *step, c call, text uint32)) {
		for _, visits := range p.pages {
			for _, v := range visits {
				for i := range v.steps {
					if s := &v.steps[i]; s.calls {
						do(s, call{s.planted, s.callee}, p.functions.texts[s.planted][v.release])
					}
				}
			}
		}
	}
	each(func(_ *step, c call, text uint32) {
		if in[c] == nil {
			in[c] = map[uint32]bool{}
		}
		in[c][text] = true
	})
	each(func(s *step, c call, _ uint32) {
		missing := func(text uint32) bool { return !in[c][text] }
		if !slices.ContainsFunc(p.functions.texts[c.from], missing) {
			s.planted = 0
		}
	})
}

// plant computes for each release the time of planted functions in the visits of a page, and the
// callers whose other time shrinks or grows in exchange.
func (p *pool) plant(visits []*visit) error {
	count := make([]float64, len(p.functions.releases))
	for _, v := range visits {
		count[v.release]++
	}
	// The mean times under each caller, in µs: outside planted functions, and under them in each
	// release.
	rest := map[trie.NodeID]float64{}
	under := map[trie.NodeID][]float64{}
	for _, v := range visits {
		for i := range v.steps {
			s := &v.steps[i]
			if s.planted == 0 && !s.own {
				for n := range p.stacks.Stack(s.node) {
					rest[n] += float64(s.length) / float64(len(visits))
				}
			} else if s.planted > 0 {
				for n := range p.stacks.Stack(s.caller) {
					if under[n] == nil {
						under[n] = make([]float64, len(count))
					}
					p.inReleases(v.release, s, count, func(release int, time float64) {
						under[n][release] += time
					})
				}
			}
		}
	}
	at := map[trie.NodeID]*planting{}
	for _, v := range visits {
		for i := range v.steps {
			if s := &v.steps[i]; s.planted > 0 {
				n := p.anchor(s.caller, rest, under)
				if rest[n] == 0 {
					return fmt.Errorf("nothing but %s was recorded under its callers", p.stacks.Frame(s.node))
				}
				if at[n] == nil {
					at[n] = newPlanting(len(count))
				}
				p.inReleases(v.release, s, count, func(release int, time float64) {
					at[n].add(release, s.look, time/rest[n])
				})
			}
		}
	}
	for _, v := range visits {
		for i := range v.steps {
			if s := &v.steps[i]; s.planted == 0 && !s.own {
				for n := range p.stacks.Stack(s.node) {
					if at[n] != nil {
						s.plantings = append(s.plantings, at[n])
					}
				}
			}
		}
	}
	return nil
}

// inReleases calls add for each release in which the planted function of a step has the text that
// was recorded, with the time of the step per visit of these releases.
func (p *pool) inReleases(recorded int, s *step, visits []float64, add func(release int, time float64)) {
	all := 0.0
	for r := range visits {
		if p.functions.same(s.planted, recorded, r) {
			all += visits[r]
		}
	}
	for r := range visits {
		if p.functions.same(s.planted, recorded, r) {
			add(r, float64(s.length)/all)
		}
	}
}

// anchor returns the innermost caller under which as much other time was recorded as under planted
// functions in any release, so that no step grows by more than its length. If there is none, it
// returns the outermost caller.
func (p *pool) anchor(
	caller trie.NodeID, rest map[trie.NodeID]float64, under map[trie.NodeID][]float64,
) (at trie.NodeID) {
	for at = range p.stacks.Stack(caller) {
		if rest[at] >= slices.Max(under[at]) {
			break
		}
	}
	return at
}

func newPlanting(releases int) *planting {
	p := new(planting)
	p.of = make([]struct {
		rate  float64
		looks []weighted
	}, releases)
	return p
}

func (p *planting) add(release int, l look, rate float64) {
	of := &p.of[release]
	of.rate += rate
	of.looks = append(of.looks, weighted{l, of.rate})
}

// pick returns the look at x, from 0 to the rate of a release.
func (p *planting) pick(release int, x float64) look {
	looks := p.of[release].looks
	i, _ := slices.BinarySearchFunc(looks, x, func(w weighted, x float64) int {
		if w.upTo <= x {
			return -1
		}
		return 1
	})
	return looks[min(i, len(looks)-1)].look
}
