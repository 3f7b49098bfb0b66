// Package v8 reads and writes the formats of V8 and its tools: .cpuprofile files, and traces of
// Chrome, Node.js and React Native.
package v8

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// v8Profile collects the parts of a V8 CPU profile and makes a trace from them. All formats of
// V8 and the tools around it consist of nodes with a parent, samples that refer to a node, and
// times.
type v8Profile struct {
	*v8Graph
	samples []int64   // ids of nodes
	times   []float64 // µs, of each sample

	unknown, untimed int // samples of no node, and without a time; for the warnings
}

func newV8Profile(t *v8Tables) v8Profile { return v8Profile{v8Graph: &v8Graph{v8Tables: t}} }

// trace returns the collected data as a gapless trace with times relative to origin. The last
// sample gets the mean interval, since the file does not give its duration.
func (p *v8Profile) trace(origin float64) (*trie.Trace, error) {
	placed := p.place()
	t := &trie.Trace{Gapless: true, Trie: placed.trie}
	for i, id := range p.samples {
		us, ok := wholeMicros(p.times[i] - origin)
		if !ok {
			return nil, input.Refuse(input.Invalid, fmt.Sprintf("samples[%d]", i), "its time %v µs is out of range",
				p.times[i])
		}
		s := trie.Sample{Time: us}
		row, known := p.row(id)
		switch {
		case !known:
			p.unknown++ // the time is kept, without a stack
		case placed.kinds[row] == kindIdle:
			s.Marker = trie.MarkerIdle
		case placed.kinds[row] == kindGC:
			s.Marker = trie.MarkerGC
		default:
			s.Node = placed.nodes[row]
		}
		t.Samples = append(t.Samples, s)
	}
	trie.SortSamples(t.Samples)
	collectOnTop(t)
	if n := len(t.Samples); n > 0 {
		first, last := t.Samples[0].Time, t.Samples[n-1].Time
		t.End = last + meanInterval(last-first, n)
	}
	if err := t.Validate(); err != nil {
		return nil, &input.Error{Kind: input.Invalid, Err: err}
	}
	return t, nil
}

// meanInterval returns the mean time between n samples, rounded.
func meanInterval(span int64, n int) int64 {
	if n < 2 {
		return 0
	}
	return int64(math.Round(float64(span) / float64(n-1)))
}

// wholeMicros rounds a time, and reports whether it is in range.
func wholeMicros(us float64) (int64, bool) {
	us = math.Round(us)
	if !(us >= -trie.MaxTime && us <= trie.MaxTime) { // NaN too
		return 0, false
	}
	return int64(us), true
}

// collectOnTop puts each garbage collection on top of the stack that it interrupted, that of
// the previous sample.
func collectOnTop(t *trie.Trace) {
	program := trie.Root
	for i, n := range t.Nodes[1:] {
		if n.Parent == trie.Root && t.FrameOf(n.Frame) == (trie.Frame{Name: trie.FrameProgram}) {
			program = trie.NodeID(i + 1)
		}
	}
	last := trie.Root
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.Marker == trie.MarkerGC {
			s.Node = last
		} else if last = s.Node; last == program {
			last = trie.Root
		}
	}
}

// warnings describes everything that was dropped or repaired in the profile called name.
func (p *v8Profile) warnings(name string) []string {
	var w []string
	for _, x := range []struct {
		n    int
		what string
	}{
		{p.duplicateIDs, "nodes have the id of another node; their samples are assigned to the first"},
		{p.danglingChildren, "children do not exist"},
		{p.missingParents, "nodes name a parent that does not exist; they were put at the root"},
		{p.cycles, "nodes are their own ancestors; their stacks were cut there"},
		{p.untimed, "samples have no time; they were dropped"},
		{p.unknown, "samples are of nodes that do not exist; they count as time without a stack"},
	} {
		if x.n > 0 {
			w = append(w, fmt.Sprintf("%s%d %s", name, x.n, x.what))
		}
	}
	// A graph shared by profiles is reported once.
	p.duplicateIDs, p.danglingChildren, p.missingParents, p.cycles = 0, 0, 0, 0
	return w
}
