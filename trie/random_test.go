package trie

import (
	"fmt"
	"math/rand/v2"
)

// randomFrame draws from few frames, so that tries share stacks.
func randomFrame(r *rand.Rand) Frame {
	switch r.IntN(8) {
	case 0:
		return Frame{Name: FrameUnknown}
	case 1:
		return ThirdParty(fmt.Sprintf("cdn%d.example", r.IntN(2)))
	}
	return Frame{
		Name:     []string{"", "a", "b", "render", "дом"}[r.IntN(5)],
		Resource: []string{"", "https://x.example/app.js", "https://x.example/lib.js"}[r.IntN(3)],
		Line:     uint32(r.IntN(3)),
		Column:   uint32(r.IntN(3)),
	}
}

// randomNodes adds n nodes to t. Some nodes may have the same parent and frame, and some frames are
// duplicates.
func randomNodes(r *rand.Rand, t *Trie, n int) {
	for range n {
		parent := NodeID(r.IntN(len(t.Nodes)))
		if r.IntN(3) > 0 {
			parent = NodeID(len(t.Nodes) - 1) // usually deep stacks
		}
		frame := t.Intern(randomFrame(r))
		if r.IntN(6) == 0 {
			t.Frames = append(t.Frames, t.Frames[frame])
			frame = FrameID(len(t.Frames) - 1)
		}
		t.Nodes = append(t.Nodes, Node{parent, frame})
		t.index = nil
	}
}

// randomTrace returns a valid random trace that depends only on seed.
func randomTrace(seed uint64) *Trace {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &Trace{Trie: *New(), Context: Context{
		Page: fmt.Sprintf("/page%d", r.IntN(2)), Interval: 10_000, Release: fmt.Sprint(r.IntN(2)),
	}}
	if r.IntN(2) > 0 {
		t.Cost = Cost{Start: uint32(r.IntN(3000)), Dropped: uint32(r.IntN(2))}
	}
	if r.IntN(3) > 0 {
		t.Context.ViewID = fmt.Sprintf("view-%d", r.IntN(4))
	}
	randomNodes(r, &t.Trie, r.IntN(30))
	now := int64(r.IntN(1000))
	for range r.IntN(60) {
		now += []int64{0, 1, 100, 9_900, 10_000, 10_300, 29_999, 30_000, 30_001, 500_000}[r.IntN(10)]
		t.Samples = append(t.Samples, Sample{now, NodeID(r.IntN(len(t.Nodes))), Marker(r.IntN(int(markerEnd)))})
	}
	end := int64(0) // of the last page
	for range r.IntN(7) {
		s := Span{SpanKind(r.IntN(int(spanEnd))), fmt.Sprintf("span%d", r.IntN(3)), int64(r.IntN(200_000)),
			int64(r.IntN(300_000))}
		switch s.Kind {
		case SpanPage:
			s.Start += end
			end = s.End()
		case SpanLabel:
			s.Name = fmt.Sprintf("key%d=%d", r.IntN(2), r.IntN(3))
		}
		t.Context.Spans = append(t.Context.Spans, s)
	}
	SortSpans(t.Context.Spans)
	return t
}

// randomProfile returns a valid random profile that depends only on seed. Each of its traces has
// its own page view.
func randomProfile(seed uint64) *Profile {
	r := rand.New(rand.NewPCG(seed, 2))
	m := NewMerger()
	for range r.IntN(4) {
		t := randomTrace(r.Uint64())
		t.Context.ViewID = ""
		m.AddTrace(t, func(s Slice) int {
			return m.Group(MakeLabels("page", s.Page, "release", t.Context.Release))
		})
	}
	return m.Profile()
}
