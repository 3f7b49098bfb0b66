package loadgen

import "github.com/fieldtrie/fieldtrie/trie"

// envelope is a trace as JSON, see [encode.DecodeProfilerTrace].
type envelope struct {
	Interval      float64            `json:"interval"`
	SamplingShare float64            `json:"samplingShare"`
	Release       string             `json:"release"`
	Environment   string             `json:"environment"`
	Labels        map[string]string  `json:"labels"`
	Spans         []jsonSpan         `json:"spans,omitempty"`
	Cost          map[string]float64 `json:"cost"`
	Trace         profilerTrace      `json:"trace"`
}

type jsonSpan struct {
	Label   string  `json:"label,omitempty"`
	Feature string  `json:"feature,omitempty"`
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
}

// profilerTrace is the ProfilerTrace of the JS Self-Profiling API. In the optional fields
// 0 is a value.
type profilerTrace struct {
	Resources []string     `json:"resources"`
	Frames    []jsonFrame  `json:"frames"`
	Stacks    []jsonStack  `json:"stacks"`
	Samples   []jsonSample `json:"samples"`
}

type jsonFrame struct {
	Name       string `json:"name"`
	ResourceID *int   `json:"resourceId,omitempty"`
	Line       uint32 `json:"line,omitempty"`
	Column     uint32 `json:"column,omitempty"`
}

type jsonStack struct {
	FrameID  trie.FrameID `json:"frameId"`
	ParentID *int         `json:"parentId,omitempty"`
}

type jsonSample struct {
	Timestamp float64 `json:"timestamp"`
	StackID   *int    `json:"stackId,omitempty"`
	Marker    string  `json:"marker,omitempty"`
}

func milliseconds(us int64) float64 { return float64(us) / 1000 }

func newEnvelope(t *trie.Trace) envelope {
	c := &t.Context
	e := envelope{
		Interval: milliseconds(int64(c.Interval)), SamplingShare: c.SamplingShare, Release: c.Release,
		Environment: c.Environment,
		Labels:      map[string]string{}, Trace: newProfilerTrace(t),
		Cost: map[string]float64{
			"start": milliseconds(int64(t.Cost.Start)), "stop": milliseconds(int64(t.Cost.Stop)),
			"encode": milliseconds(int64(t.Cost.Encode)),
		},
	}
	for _, l := range c.Labels {
		e.Labels[l.Key] = l.Value
	}
	for _, s := range c.Spans {
		out := jsonSpan{Start: milliseconds(s.Start), End: milliseconds(s.End())}
		if s.Kind == trie.SpanLabel {
			out.Label = s.Name
		} else {
			out.Feature = s.Name
		}
		e.Spans = append(e.Spans, out)
	}
	return e
}

func newProfilerTrace(t *trie.Trace) profilerTrace {
	out := profilerTrace{Resources: []string{}, Frames: []jsonFrame{}, Stacks: []jsonStack{}, Samples: []jsonSample{}}
	resources := map[string]int{}
	for i := range t.Frames {
		f := t.FrameOf(trie.FrameID(i))
		to := jsonFrame{Name: f.Name, Line: f.Line, Column: f.Column}
		if f.Resource != "" {
			id, known := resources[f.Resource]
			if !known {
				id = len(out.Resources)
				resources[f.Resource] = id
				out.Resources = append(out.Resources, f.Resource)
			}
			to.ResourceID = &id
		}
		out.Frames = append(out.Frames, to)
	}
	// Stacks count from 0, nodes from 1, as the root has no stack.
	stack := func(n trie.NodeID) *int {
		if n == trie.Root {
			return nil
		}
		return new(int(n) - 1)
	}
	for _, n := range t.Nodes[1:] {
		out.Stacks = append(out.Stacks, jsonStack{n.Frame, stack(n.Parent)})
	}
	for _, s := range t.Samples {
		out.Samples = append(out.Samples, jsonSample{milliseconds(s.Time), stack(s.Node), s.Marker.String()})
	}
	return out
}
