package demo

import (
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// slow is how long an interaction takes that the browser script calls slow, in µs.
const slow = 200_000

// replay returns a recorded trace as a processor would have given it that takes stretch times as long for everything.
// The profiler looks as often as it did, first after phase µs. The result shares its stacks with the recording.
func replay(of *trie.Trace, stretch float64, phase int64) *trie.Trace {
	scale := func(us int64) int64 { return min(int64(float64(us)*stretch), trie.MaxTime) }
	out := &trie.Trace{Trie: of.Trie, Context: of.Context}
	out.Samples = resample(of.Samples, int64(of.Context.Interval), stretch, phase)
	for _, us := range []struct{ to, from *uint32 }{{&out.Cost.Start, &of.Cost.Start}, {&out.Cost.Stop, &of.Cost.Stop}, {&out.Cost.Encode, &of.Cost.Encode}} {
		*us.to = uint32(scale(int64(*us.from)))
	}
	out.Cost.Bytes = of.Cost.Bytes
	out.Context.Spans = slices.Clone(of.Context.Spans)
	for i := range out.Context.Spans {
		s := &out.Context.Spans[i]
		end := scale(s.End())
		s.Start = scale(s.Start)
		s.Length = end - s.Start
		switch s.Name {
		case "phase=interaction", "phase=slow-interaction":
			s.Name = "phase=interaction"
			if s.Length >= slow {
				s.Name = "phase=slow-interaction"
			}
		}
	}
	trie.SortSpans(out.Context.Spans)
	return out
}

// resample looks at stretched samples every interval µs. Where there was none for longer, there is none.
func resample(samples []trie.Sample, interval int64, stretch float64, phase int64) []trie.Sample {
	if len(samples) == 0 {
		return nil
	}
	var out []trie.Sample
	end := int64(float64(samples[len(samples)-1].Time) * stretch)
	i := 0
	for at := int64(float64(samples[0].Time)*stretch) + phase%interval; at <= end; at += interval {
		then := int64(float64(at) / stretch)
		for i+1 < len(samples) && samples[i+1].Time <= then {
			i++
		}
		if then-samples[i].Time <= 2*interval {
			out = append(out, trie.Sample{Time: at, Node: samples[i].Node, Marker: samples[i].Marker})
		}
	}
	return out
}

// replayVitals returns the Web Vitals of a page view on a device that is slower by stretch, over a connection that is slower by wait.
func replayVitals(of map[string]float64, stretch, wait float64) map[string]float64 {
	out := map[string]float64{}
	first := of["ttfb"]
	for name, value := range of {
		switch name {
		case "cls":
			out[name] = value
		case "ttfb":
			out[name] = math.Round(first * wait)
		case "inp": // which browsers round
			out[name] = max(8*math.Round(value*stretch/8), 8)
		default:
			out[name] = math.Round(first*wait + (value-first)*stretch)
		}
	}
	return out
}

// replayParts returns the parts of Web Vitals that were replayed: TTFB is what it is, and the rest has the shares that it had.
func replayParts(of map[string][]float64, vitals map[string]float64) map[string][]float64 {
	out := map[string][]float64{}
	for name, parts := range of {
		first := 0
		if name == "lcp" {
			out[name], first = []float64{vitals["ttfb"]}, 1
		}
		rest := 0.0
		for _, part := range parts[first:] {
			rest += part
		}
		for _, part := range parts[first:] {
			out[name] = append(out[name], part/rest*(vitals[name]-float64(first)*vitals["ttfb"]))
		}
	}
	return out
}

// withLabels returns labels in which those in more replace others.
func withLabels(labels trie.Labels, more trie.Labels) trie.Labels {
	out := slices.DeleteFunc(slices.Clone(labels), func(l trie.Label) bool { return more.Value(l.Key) != "" })
	return append(out, more...).Sort()
}
