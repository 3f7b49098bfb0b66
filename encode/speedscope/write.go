package speedscope

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// speedscopeFile is https://www.speedscope.app/file-format-schema.json.
type speedscopeFile struct {
	Schema   string           `json:"$schema"`
	Name     string           `json:"name,omitempty"`
	Exporter string           `json:"exporter"`
	Shared   speedscopeShared `json:"shared"`
	Profiles []any            `json:"profiles"` // of speedscopeSampled or speedscopeEvented
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line uint32 `json:"line,omitempty"` // from 1
	Col  uint32 `json:"col,omitempty"`  // from 1
}

type speedscopeSampled struct {
	Type       string  `json:"type"`
	Name       string  `json:"name"`
	Unit       string  `json:"unit"`
	StartValue int64   `json:"startValue"`
	EndValue   int64   `json:"endValue"`
	Samples    [][]int `json:"samples"` // frames, root first
	Weights    []int64 `json:"weights"`
}

type speedscopeEvented struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Unit       string            `json:"unit"`
	StartValue int64             `json:"startValue"`
	EndValue   int64             `json:"endValue"`
	Events     []speedscopeEvent `json:"events"`
}

type speedscopeEvent struct {
	Type  string `json:"type"` // O opens a frame, C closes it
	At    int64  `json:"at"`
	Frame int    `json:"frame"`
}

// Encode writes p in speedscope's own format, in microseconds: a profile for
// each group, or one if the groups have no labels to tell them apart. A sample is a node
// with self time; they stand in preorder, so that the order of a flame chart means
// nothing and its widths are totals. Self times below zero are left out: speedscope
// draws none.
func Encode(w io.Writer, p *trie.Profile, o output.Options) error {
	if err := output.CheckStacks(p); err != nil {
		return err
	}
	p = p.Canonical()
	s := newSpeedscope(o)
	frames := s.frames(&p.Trie)
	for i := range p.Groups {
		if len(p.Groups) < 2 {
			break
		}
		g := &p.Groups[i]
		self := make([]int64, len(p.Nodes))
		for n, w := range g.Weights.All() {
			self[n] = w.Self
		}
		s.Profiles = append(s.Profiles, sampled(&p.Trie, self, frames, output.LabelText(g.Labels)))
	}
	if len(s.Profiles) == 0 {
		self, _ := output.Weigh(p, output.Options{}).Drawable()
		s.Profiles = append(s.Profiles, sampled(&p.Trie, self, frames, o.RootName()))
	}
	return s.write(w)
}

func sampled(t *trie.Trie, self []int64, frames []int, name string) speedscopeSampled {
	out := speedscopeSampled{Type: "sampled", Name: name, Unit: "microseconds", Samples: [][]int{}, Weights: []int64{}}
	for n := range t.Preorder() {
		if self[n] <= 0 {
			continue
		}
		var stack []int
		for a := range t.Stack(n) {
			stack = append(stack, frames[t.Nodes[a].Frame])
		}
		slices.Reverse(stack)
		out.Samples = append(out.Samples, stack)
		out.Weights = append(out.Weights, self[n])
		out.EndValue += self[n]
	}
	return out
}

// EncodeTimed writes threads in time order in speedscope's own format, a
// profile for each, in microseconds since the first call of all threads.
func EncodeTimed(w io.Writer, lines []*trie.Timeline, o output.Options) error {
	lines = output.NotEmpty(lines)
	s := newSpeedscope(o)
	first := output.FirstStart(lines)
	for _, t := range lines {
		s.Profiles = append(s.Profiles, evented(t, s.frames(&t.Trie), first))
	}
	if len(s.Profiles) == 0 {
		s.Profiles = []any{speedscopeEvented{Type: "evented", Name: o.RootName(), Unit: "microseconds", Events: []speedscopeEvent{}}}
	}
	return s.write(w)
}

func evented(t *trie.Timeline, frames []int, first int64) speedscopeEvented {
	out := speedscopeEvented{
		Type: "evented", Name: output.ThreadName(t), Unit: "microseconds",
		StartValue: t.Calls[0].Start - first, EndValue: output.LastEnd(t) - first,
	}
	var open []trie.Call
	closeUntil := func(time int64) {
		for len(open) > 0 && open[len(open)-1].End <= time {
			c := open[len(open)-1]
			open = open[:len(open)-1]
			out.Events = append(out.Events, speedscopeEvent{"C", c.End - first, frames[t.Nodes[c.Node].Frame]})
		}
	}
	for _, c := range t.Calls {
		closeUntil(c.Start)
		out.Events = append(out.Events, speedscopeEvent{"O", c.Start - first, frames[t.Nodes[c.Node].Frame]})
		open = append(open, c)
	}
	closeUntil(output.LastEnd(t))
	return out
}

// speedscope puts together a file.
type speedscope struct {
	speedscopeFile
	places map[trie.Frame]int // of the shared frames
}

func newSpeedscope(o output.Options) *speedscope {
	return &speedscope{speedscopeFile{
		Schema: "https://www.speedscope.app/file-format-schema.json", Name: o.Title, Exporter: "fieldtrie",
		Shared: speedscopeShared{Frames: []speedscopeFrame{}},
	}, map[trie.Frame]int{}}
}

// frames adds the frames of t to those that all profiles share and returns where each
// of them is.
func (s *speedscope) frames(t *trie.Trie) []int {
	out := make([]int, len(t.Frames))
	for i := range out {
		f := t.FrameOf(trie.FrameID(i))
		at, known := s.places[f]
		if !known {
			at = len(s.Shared.Frames)
			s.places[f] = at
			s.Shared.Frames = append(s.Shared.Frames, speedscopeFrame{output.Shown(f), f.Resource, f.Line, f.Column})
		}
		out[i] = at
	}
	return out
}

func (s *speedscope) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(&s.speedscopeFile)
}
