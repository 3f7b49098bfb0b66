package speedscope

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"

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

// Encode writes p in speedscope's own format, in microseconds: a profile for each group, or
// one if the groups have no labels to tell them apart. A sample is a node with self time.
// Samples are in preorder, so the order of a flame chart is meaningless and its widths are
// totals. Self times below zero are left out: speedscope cannot draw them.
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
	frames := make([][]int, len(lines))
	for i, t := range lines {
		frames[i] = s.frames(&t.Trie)
	}
	if len(lines) == 0 {
		s.Profiles = []any{speedscopeEvented{Type: "evented", Name: o.RootName(), Unit: "microseconds",
			Events: []speedscopeEvent{}}}
		return s.write(w)
	}
	s.Profiles = []any{}
	b := bufio.NewWriterSize(w, 1<<16)
	if err := writeOpen(b, &s.speedscopeFile, "]}"); err != nil {
		return err
	}
	for i, t := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeEvented(b, t, frames[i], first); err != nil {
			return err
		}
	}
	b.WriteString("]}\n")
	return b.Flush()
}

// writeOpen writes v as JSON without its end, the end of an empty list. The list follows
// piece by piece, since it is too large for memory.
func writeOpen(b *bufio.Writer, v any, end string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := b.Write(bytes.TrimSuffix(text.Bytes(), []byte(end+"\n")))
	return err
}

// writeEvented writes the profile of one thread.
func writeEvented(b *bufio.Writer, t *trie.Timeline, frames []int, first int64) error {
	err := writeOpen(b, speedscopeEvented{
		Type: "evented", Name: output.ThreadName(t), Unit: "microseconds",
		StartValue: t.Calls[0].Start - first, EndValue: output.LastEnd(t) - first, Events: []speedscopeEvent{},
	}, "]}")
	if err != nil {
		return err
	}
	var open []trie.Call
	event := func(start string, at int64, c trie.Call) {
		line := append(b.AvailableBuffer(), start...)
		line = strconv.AppendInt(line, at-first, 10)
		line = append(line, `,"frame":`...)
		line = strconv.AppendInt(line, int64(frames[t.Nodes[c.Node].Frame]), 10)
		_, err = b.Write(append(line, '}'))
	}
	closeUntil := func(time int64) {
		for len(open) > 0 && open[len(open)-1].End <= time {
			c := open[len(open)-1]
			open = open[:len(open)-1]
			event(`,{"type":"C","at":`, c.End, c)
		}
	}
	opens := `{"type":"O","at":`
	for _, c := range t.Calls {
		closeUntil(c.Start)
		event(opens, c.Start, c)
		opens = `,{"type":"O","at":`
		open = append(open, c)
	}
	closeUntil(output.LastEnd(t))
	b.WriteString("]}")
	return err // one sticks to b
}

// speedscope builds a file.
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

// frames adds the frames of t to the shared frames and returns their indexes.
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
