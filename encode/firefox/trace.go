package firefox

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// geckoSample is a sample of a thread.
type geckoSample struct {
	time, weight float64 // µs
	node         trie.NodeID
	marker       trie.Marker
}

// trace makes a trace from the samples of t.
func (d *geckoReader) trace(p *geckoProcess, t *trie.Thread, stacks *geckoStacks, in geckoTable) (*trie.Trace, error) {
	tr := trie.New()
	samples, err := d.samplesOf(p, t, stacks, in, tr)
	if err != nil {
		return nil, err
	}
	out := &trie.Trace{Trie: trie.Trie{Strings: tr.Strings, Frames: tr.Frames, Nodes: tr.Nodes}, Gapless: true}
	if len(samples) == 0 {
		return out, nil
	}
	end := samples[len(samples)-1].time + p.interval*1000
	if in.weightType == "tracing-ms" && in.rows("weight") > 0 {
		samples, end = lasting(samples)
	}
	first, last := samples[0].time, samples[len(samples)-1].time
	for _, ms := range p.paused {
		if at := d.micros(p, ms); at > first && at < last {
			samples = append(samples, geckoSample{time: at})
		}
	}
	slices.SortStableFunc(samples, byTime)
	if !(math.Abs(first) <= trie.MaxTime && math.Abs(end) <= trie.MaxTime) {
		return nil, input.Refuse(input.Invalid, "samples.time", "out of range")
	}
	out.Samples = make([]trie.Sample, len(samples))
	for i, s := range samples {
		out.Samples[i] = trie.Sample{Time: int64(math.Round(s.time)), Node: s.node, Marker: s.marker}
	}
	out.End = int64(math.Round(end))
	return out, nil
}

func byTime(a, b geckoSample) int { return cmp.Compare(a.time, b.time) }

// micros returns a time of p in µs of the recording.
func (d *geckoReader) micros(p *geckoProcess, ms float64) float64 {
	return (ms + (p.start - d.origin)) * 1000
}

// samplesOf returns the samples of t in time order and adds their stacks to tr.
func (d *geckoReader) samplesOf(p *geckoProcess, t *trie.Thread, stacks *geckoStacks, in geckoTable,
	tr *trie.Trie) ([]geckoSample, error) {
	n := in.rows("stack")
	times, weights := in.columns["time"], in.columns["weight"]
	if times == nil {
		times = in.columns["timeDeltas"]
		for i := 1; i < len(times); i++ {
			times[i] += times[i-1]
		}
	}
	if len(times) != n || weights != nil && len(weights) != n {
		return nil, input.Refuse(input.Invalid, "samples", "%d stacks, %d times and %d weights", n, len(times),
			len(weights))
	}
	if d.samples += n; d.samples > d.lim.Samples {
		return nil, input.Refuse(input.TooLarge, "samples", "more than %d", d.lim.Samples)
	}
	stacks.thread++
	samples := make([]geckoSample, 0, n)
	unknown, timeless, weighted := 0, 0, 0
	for i := range n {
		s := geckoSample{time: d.micros(p, times[i])}
		if weights != nil {
			if weights[i] < 0 {
				return nil, input.Refuse(input.Invalid, fmt.Sprintf("samples.weight[%d]", i),
					"below zero: this compares profiles, give one of them")
			}
			if s.weight = weights[i] * 1000; weights[i] != 1 {
				weighted++
			}
		}
		if math.IsNaN(s.time) || math.IsNaN(s.weight) {
			timeless++
			continue
		}
		stack := in.index("stack", i)
		switch {
		case stack >= len(stacks.frame):
			unknown++
		case stack >= 0 && stacks.idle[stack]:
			s.marker = trie.MarkerIdle
		case stack >= 0:
			var err error
			if s.node, err = d.nodeOf(stacks, tr, int32(stack)); err != nil {
				return nil, err
			}
		}
		samples = append(samples, s)
	}
	if unknown > 0 {
		d.warn(t, "%d samples have stacks that are not there, taken as without a stack", unknown)
	}
	if timeless > 0 {
		d.warn(t, "%d samples without a time or a weight: left out", timeless)
	}
	if weighted > 0 && in.weightType != "tracing-ms" {
		d.warn(t, "%d samples stand for another number of samples than 1; the time to the next is what counts",
			weighted)
	}
	slices.SortStableFunc(samples, byTime)
	return samples, nil
}

// nodeOf returns the node of a stack in the trie of the current thread.
func (d *geckoReader) nodeOf(s *geckoStacks, tr *trie.Trie, stack int32) (trie.NodeID, error) {
	path := d.path[:0]
	parent := trie.Root
	for at := stack; at >= 0; at = s.prefix[at] {
		if s.owner[at] == s.thread {
			parent = s.node[at]
			break
		}
		path = append(path, at)
	}
	d.path = path
	for _, at := range slices.Backward(path) {
		f := s.frames[s.frame[at]]
		if s.prefix[at] >= 0 || f != (trie.Frame{Name: "(root)"}) { // Firefox puts it below all
			parent = tr.Child(parent, tr.Intern(f))
		}
		s.node[at], s.owner[at] = parent, s.thread
		if d.nodes++; d.nodes > d.lim.Nodes {
			return 0, input.Refuse(input.TooLarge, "stackTable", "more than %d stacks in all threads", d.lim.Nodes)
		}
	}
	return parent, nil
}

// lasting returns samples that each last for their weight, with empty ones where
// nothing was traced, and the end of the last. A sample that begins before the previous
// one ends begins when that ends, so no time is lost.
func lasting(in []geckoSample) (out []geckoSample, end float64) {
	end = in[0].time
	for _, s := range in {
		if math.Round(s.time) > math.Round(end) {
			out = append(out, geckoSample{time: end})
		}
		s.time = max(s.time, end)
		end = s.time + s.weight
		out = append(out, s)
	}
	return out, end
}
