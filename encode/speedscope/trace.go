package speedscope

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// recording makes a recording from the profiles of time.
func (d *scopeReader) recording() (*trie.Recording, error) {
	var timed []scopeProfile
	for _, p := range d.profiles {
		if _, _, ok := scopeUnit(p.unit); !ok && p.unit != "bytes" {
			return nil, input.Refuse(input.Invalid, p.field+".unit", "%.40q is not known", p.unit)
		}
		if p.kind != "sampled" && p.kind != "evented" {
			return nil, input.Refuse(input.Invalid, p.field+".type", "%.40q is not known", p.kind)
		}
		if p.unit == "bytes" {
			d.warnings = append(d.warnings, fmt.Sprintf("%s (%q): skipped an allocation profile in bytes",
				p.field, p.name))
			continue
		}
		if p.unit == "none" {
			d.warnings = append(d.warnings, fmt.Sprintf("%s (%q): its values have no unit; µs are assumed",
				p.field, p.name))
		}
		timed = append(timed, p)
	}
	if len(timed) == 0 && len(d.profiles) > 0 {
		return nil, input.Refuse(input.Invalid, "profiles", "only of bytes: allocation profiles hold no time")
	}
	origin := math.Inf(1)
	for i := range timed {
		p := &timed[i]
		if p.kind == "evented" && len(p.at) > 0 {
			p.start, p.end = min(p.start, p.at[0]), max(p.end, p.at[len(p.at)-1])
		}
		origin = min(origin, p.micros(p.start))
	}
	r := &trie.Recording{Warnings: d.warnings}
	for i := range timed {
		t, err := timed[i].trace(origin)
		if err != nil {
			return nil, err
		}
		r.Threads = append(r.Threads, trie.Thread{Name: timed[i].name, Streams: []trie.Stream{{Trace: t}}})
		r.Warnings = append(r.Warnings, timed[i].mended()...)
	}
	return r, nil
}

// micros returns a time of p in microseconds.
func (p *scopeProfile) micros(v float64) float64 {
	factor, divisor, _ := scopeUnit(p.unit)
	return v * factor / divisor
}

// mended returns warnings about the repairs in p.
func (p *scopeProfile) mended() (warnings []string) {
	for _, m := range []struct {
		n    int
		what string
	}{
		{p.late, "events run backwards, taken at the time of the event before"},
		{p.unmatched, "events close what is not the innermost open frame"},
		{p.unclosed, "frames are not closed, taken as closed at the end"},
	} {
		if m.n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s (%q): %d %s", p.field, p.name, m.n, m.what))
		}
	}
	return warnings
}

// trace makes a trace of p with time 0 at origin, in µs.
func (p *scopeProfile) trace(origin float64) (*trie.Trace, error) {
	times, end, leaves := p.at, p.end, p.leaves
	switch {
	case p.kind == "sampled":
		if len(p.weights) != len(leaves) || len(p.at) > 0 {
			return nil, input.Refuse(input.Invalid, p.field+".weights", "%d weights for %d samples", len(p.weights),
				len(leaves))
		}
		times, end = make([]float64, len(p.weights)), p.start
		for i, w := range p.weights {
			if w < 0 {
				return nil, input.Refuse(input.Invalid, p.element("weights", i), "below zero")
			}
			times[i] = end
			end += w
		}
	case len(times) != len(leaves):
		return nil, input.Refuse(input.Invalid, p.field, "an evented profile with samples")
	case len(times) > 0 && p.start < times[0]:
		times = append([]float64{p.start}, times...)
		leaves = append([]trie.NodeID{trie.Root}, leaves...)
	}
	t := &trie.Trace{Trie: trie.Trie{Strings: p.trie.Strings, Frames: p.trie.Frames, Nodes: p.trie.Nodes},
		Gapless: true}
	for i, at := range append(times, end) {
		us := math.Round(p.micros(at) - origin)
		if !(us >= 0 && us <= trie.MaxTime) {
			return nil, input.Refuse(input.Invalid, p.field, "a time is out of range")
		}
		if i == len(times) {
			t.End = int64(us)
			break
		}
		// Of several stacks at one moment the last counts.
		if n := len(t.Samples); p.kind == "evented" && n > 0 && t.Samples[n-1].Time == int64(us) {
			t.Samples[n-1].Node = leaves[i]
		} else {
			t.Samples = append(t.Samples, trie.Sample{Time: int64(us), Node: leaves[i]})
		}
	}
	return t, nil
}
