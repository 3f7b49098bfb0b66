package demo

import (
	"math"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// vitals are the Web Vitals of a replay.
type vitals struct {
	values   map[string]float64 // ms, and the score of cls
	elements map[string]string
	parts    map[string][]float64 // ms
}

// vitals returns the Web Vitals of the replay: INP from its longest interaction, paints by its
// clock.
func (r *replay) vitals() vitals {
	out := vitals{values: map[string]float64{}, elements: map[string]string{}, parts: map[string][]float64{}}
	for name, value := range r.of.Vitals {
		switch name {
		case "cls":
			out.values[name] = value
		case "inp":
		default:
			out.values[name] = math.Round(r.clock.at(value*1000) / 1000)
		}
	}
	for name, element := range r.of.Elements {
		if _, ok := out.values[name]; ok {
			out.elements[name] = element
		}
	}
	if of := r.of.Parts["lcp"]; len(of) > 0 {
		first := out.values["ttfb"]
		out.parts["lcp"] = append([]float64{first}, scale(of[1:], out.values["lcp"]-first)...)
	}
	if element, parts := r.longest(); len(parts) > 0 {
		out.values["inp"] = max(8*math.Round(sum(parts)/8000), 8) // browsers round to 8 ms
		out.elements["inp"] = element
		out.parts["inp"] = scale(parts, out.values["inp"])
	}
	return out
}

// longest returns the element of the longest interaction and how long its parts took, in µs.
func (r *replay) longest() (element string, parts []float64) {
	for _, t := range r.of.traces {
		spans := t.Context.Spans
		for i := range spans {
			name, ok := strings.CutPrefix(spans[i].Name, "interaction=")
			if !ok {
				continue
			}
			if took := r.partsOf(&spans[i], spans); sum(took) > sum(parts) {
				element, parts = name, took
			}
		}
	}
	return element, parts
}

// partsOf returns how long the parts of an interaction took, in µs, in their order.
func (r *replay) partsOf(interaction *trie.Span, spans []trie.Span) (out []float64) {
	for _, name := range []string{"part=input-delay", "part=processing", "part=presentation"} {
		took := 0.0
		for i := range spans {
			if s := &spans[i]; s.Name == name && s.Start >= interaction.Start && s.End() <= interaction.End() {
				took = r.clock.at(float64(s.End())) - r.clock.at(float64(s.Start))
			}
		}
		out = append(out, took)
	}
	return out
}

func sum(of []float64) (all float64) {
	for _, x := range of {
		all += x
	}
	return all
}

// scale scales numbers to another sum. If all are 0, the last one becomes the sum.
func scale(of []float64, to float64) []float64 {
	out := make([]float64, len(of))
	all := sum(of)
	if all == 0 {
		out[len(out)-1] = to
		return out
	}
	for i, x := range of {
		out[i] = x / all * to
	}
	return out
}

// withLabels returns labels, overridden by more.
func withLabels(labels trie.Labels, more trie.Labels) trie.Labels {
	out := make(trie.Labels, 0, len(labels)+len(more))
	for _, l := range labels {
		if more.Value(l.Key) == "" {
			out = append(out, l)
		}
	}
	return append(out, more...).Sort()
}
