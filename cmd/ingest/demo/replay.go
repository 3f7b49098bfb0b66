package demo

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/fieldtrie/fieldtrie/trie"
)

// slow is the browser script's threshold for slow interactions, in µs.
const slow = 200_000

// Variation of calls: the standard deviations of the logarithm of the factors by which their
// durations are multiplied. The outermost call and each call with consecutive samples have their
// own factors. The mean of each factor is 1.
const (
	taskSpread = 0.2
	callSpread = 0.4
)

// ownShare scales the recorded time of the profiling script. The recordings have 76 ms per page
// view, because Chromium slowed the CPU down by a factor of 3 and the machine was busy. With this
// share it takes 7 ms on the devices of the demo, as in a browser without slowdown.
const ownShare = 0.1

// replay is a visit as it would run in another browser.
type replay struct {
	pool    *pool
	of      *visit
	release int
	clock   clock
	steps   []played
	random  *rand.Rand
}

// played is the time range of a step in the replay, in µs.
type played struct {
	begin, end float64
	planted    float64 // start of planted functions, which run to the end of the step
}

// newReplay replays a visit for a page view.
func newReplay(p *pool, of *visit, v *view, r *rand.Rand) *replay {
	out := &replay{pool: p, of: of, release: p.releases[v.release], random: r}
	out.steps = make([]played, len(of.steps))
	ttfb := of.Vitals["ttfb"] * 1000
	now := ttfb * v.wait
	out.clock.add(0, 0)
	out.clock.add(ttfb, now)
	end := ttfb // of the last step
	task, call := 1.0, 1.0
	for i := range of.steps {
		s := &of.steps[i]
		if i == 0 || s.task != of.steps[i-1].task {
			task = spread(r, taskSpread)
		}
		if i == 0 || s.look != of.steps[i-1].look {
			call = spread(r, callSpread)
		}
		now += max(float64(s.at)-end, 0) * v.stretch
		out.clock.add(float64(s.at), now)
		out.steps[i].begin = now
		stretched := float64(s.length) * v.stretch * task
		switch {
		case s.planted > 0: // the release has its own time for it
		case !s.own:
			now += stretched * call
		case v.profiled:
			now += stretched * call * ownShare
		}
		out.steps[i].planted = now
		if len(s.plantings) > 0 {
			now += stretched * s.rate(out.release) * spread(r, callSpread)
		}
		out.steps[i].end = now
		end = float64(s.at + s.length)
		out.clock.add(end, now)
	}
	out.clock.rest = v.stretch
	return out
}

// spread returns a random factor whose mean is 1.
func spread(r *rand.Rand, deviation float64) float64 {
	return math.Exp(deviation*r.NormFloat64() - deviation*deviation/2)
}

// rate returns the time of planted functions per time of the step.
func (s *step) rate(release int) (sum float64) {
	for _, p := range s.plantings {
		sum += p.of[release].rate
	}
	return sum
}

// plantedLook returns a random look at a planted function.
func (s *step) plantedLook(release int, r *rand.Rand) look {
	x := r.Float64() * s.rate(release)
	for _, p := range s.plantings[:len(s.plantings)-1] {
		if x < p.of[release].rate {
			return p.pick(release, x)
		}
		x -= p.of[release].rate
	}
	return s.plantings[len(s.plantings)-1].pick(release, x)
}

// samples returns the samples of a trace, the first one phase µs after its start. Gaps of more than
// two intervals in the recording have no samples.
func (r *replay) samples(trace int, phase int64, node func(trie.NodeID) trie.NodeID) (out []trie.Sample) {
	interval := float64(r.of.traces[trace].Context.Interval)
	at := math.Inf(-1)
	for i := range r.of.steps {
		s, when := &r.of.steps[i], r.steps[i]
		if s.trace != trace {
			continue
		}
		if math.IsInf(at, -1) {
			at = when.begin + math.Mod(float64(phase), interval)
		}
		if at < when.begin {
			at += interval * math.Ceil((when.begin-at)/interval)
		}
		for ; at < when.end; at += interval {
			l := s.look
			if at >= when.planted {
				l = s.plantedLook(r.release, r.random)
			}
			out = append(out, trie.Sample{Time: int64(at), Node: node(l.node), Marker: l.marker})
		}
	}
	return out
}

// spans returns the spans of a trace of the recording.
func (r *replay) spans(trace int) []trie.Span {
	out := slices.Clone(r.of.traces[trace].Context.Spans)
	for i := range out {
		s := &out[i]
		begin, end := r.clock.at(float64(s.Start)), r.clock.at(float64(s.End()))
		s.Start = int64(begin)
		s.Length = int64(end) - s.Start
		switch s.Name {
		case "phase=interaction", "phase=slow-interaction":
			s.Name = "phase=interaction"
			if s.Length >= slow {
				s.Name = "phase=slow-interaction"
			}
		}
	}
	trie.SortSpans(out)
	return out
}

// trace returns a trace of the recording, with samples first after phase µs.
func (r *replay) trace(i int, stretch float64, phase int64) *trie.Trace {
	of := r.of.traces[i]
	out := &trie.Trace{Trie: *trie.New(), Context: of.Context}
	w := &writer{from: r.pool, release: r.release, to: &out.Trie}
	w.nodes = map[trie.NodeID]trie.NodeID{}
	out.Samples = r.samples(i, phase, w.node)
	out.Context.Spans = r.spans(i)
	out.Context.Release = r.pool.functions.releases[r.release].Release
	own := func(us uint32) uint32 { return uint32(float64(us) * stretch * ownShare) }
	out.Cost = trie.Cost{Bytes: of.Cost.Bytes}
	out.Cost.Start, out.Cost.Stop, out.Cost.Encode = own(of.Cost.Start), own(of.Cost.Stop), own(of.Cost.Encode)
	return out
}

// writer writes stacks of the pool with the frames of a release.
type writer struct {
	from    *pool
	release int
	to      *trie.Trie
	nodes   map[trie.NodeID]trie.NodeID
}

func (w *writer) node(n trie.NodeID) trie.NodeID {
	if n == trie.Root {
		return n
	}
	out, ok := w.nodes[n]
	if !ok {
		parent := w.node(w.from.stacks.Nodes[n].Parent)
		frame := w.from.functions.ofRelease(w.release, w.from.stacks.Frame(n))
		out = w.to.Child(parent, w.to.Intern(frame))
		w.nodes[n] = out
	}
	return out
}

// clock maps times of a recording to times of a replay, in µs, and keeps their order.
type clock struct {
	from, to []float64
	rest     float64 // stretch factor after the last point
}

func (c *clock) add(from, to float64) {
	c.from, c.to = append(c.from, from), append(c.to, to)
}

func (c *clock) at(us float64) float64 {
	i := sort.SearchFloat64s(c.from, us)
	switch {
	case i == len(c.from):
		return c.to[i-1] + (us-c.from[i-1])*c.rest
	case i == 0 || c.from[i] == us:
		return c.to[i]
	}
	share := (us - c.from[i-1]) / (c.from[i] - c.from[i-1])
	return c.to[i-1] + share*(c.to[i]-c.to[i-1])
}
