package trie

import "strings"

// Names of synthetic frames, which represent work without a function. They have no resource.
const (
	FrameUnknown = "(unknown)" // code that cannot or must not be attributed
	FrameGC      = "(gc)"
	FrameStyle   = "(style)"
	FrameLayout  = "(layout)"
	FramePaint   = "(paint)"
	FrameIdle    = "(idle)"
	FrameProgram = "(program)"
	FrameOther   = "(other)" // pruned nodes, see Prune

	FrameFieldtrie = "(fieldtrie)" // the profiling script, and the browser's work for it
)

// ThirdParty returns the frame for all code of another party's host.
func ThirdParty(host string) Frame { return Frame{Name: "(third-party " + host + ")"} }

// Foreign reports whether f represents unattributed code. A run of such frames becomes one frame,
// which hides the depth of foreign calls.
func (f Frame) Foreign() bool {
	return f.Resource == "" && (f.Name == FrameUnknown || f.Name == FrameFieldtrie ||
		strings.HasPrefix(f.Name, "(third-party "))
}

// Own reports whether f is the profiling script.
func (f Frame) Own() bool { return f == Frame{Name: FrameFieldtrie} }

// rewrite builds a trie with rename(f) for each frame f of t, and returns the new node of each old
// one. A frame directly above itself becomes one node if it joins. A browser function called by
// (fieldtrie) is merged into it, too.
func (t *Trie) rewrite(rename func(Frame) Frame, joins func(Frame) bool) (*Trie, []NodeID) {
	out := New()
	frameOf := make([]FrameID, len(t.Frames))
	join := make([]bool, len(t.Frames))     // by old frame
	browsers := make([]bool, len(t.Frames)) // by old frame: functions of the browser
	ours := map[FrameID]bool{}              // by new frame: (fieldtrie)
	for i := range t.Frames {
		f := rename(t.FrameOf(FrameID(i)))
		frameOf[i], join[i] = out.Intern(f), joins(f)
		browsers[i] = f.Resource == "" && !strings.HasPrefix(f.Name, "(")
		if f.Own() {
			ours[frameOf[i]] = true
		}
	}
	nodeOf := make([]NodeID, len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		n := t.Nodes[i]
		parent, frame := nodeOf[n.Parent], frameOf[n.Frame]
		if parent != Root && (join[n.Frame] && out.Nodes[parent].Frame == frame || ours[out.Nodes[parent].Frame] &&
			browsers[n.Frame]) {
			nodeOf[i] = parent
		} else {
			nodeOf[i] = out.Child(parent, frame)
		}
	}
	return out, nodeOf
}

// Coalesce returns t with each frame f replaced by rename(f), and with runs of the same foreign
// frame, (unknown) or (third-party HOST), merged into one node. A nil rename keeps all frames.
// Coalescing twice is coalescing once if rename(rename(f)) = rename(f).
func (t *Trace) Coalesce(rename func(Frame) Frame) *Trace {
	trie, nodeOf := t.rewrite(orSame(rename), Frame.Foreign)
	out := new(Trace)
	*out = *t // everything except the tables
	out.Trie, out.Samples = *trie, make([]Sample, len(t.Samples))
	for i, s := range t.Samples {
		s.Node = nodeOf[s.Node]
		out.Samples[i] = s
	}
	return out
}

// Coalesce is like [Trace.Coalesce] for a profile, and commutes with Merge. The reach of merged
// sibling nodes is the sum of their reaches, so a page view with both counts twice; coalesce the
// traces for the exact number.
func (p *Profile) Coalesce(rename func(Frame) Frame) *Profile {
	return p.rewritten(orSame(rename), Frame.Foreign)
}

// Fold returns p with each frame f replaced by rename(f), and with runs of any frame merged into
// one node. rename maps a function to a group, such as its package, and calls within a group do not
// matter. For the reach see [Profile.Coalesce].
func (p *Profile) Fold(rename func(Frame) Frame) *Profile {
	return p.rewritten(rename, func(Frame) bool { return true })
}

func (p *Profile) rewritten(rename func(Frame) Frame, joins func(Frame) bool) *Profile {
	trie, nodeOf := p.rewrite(rename, joins)
	out := &Profile{Trie: *trie, Groups: make([]Group, len(p.Groups)), Views: p.Views, Traces: p.Traces}
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			if nodeOf[n] == nodeOf[p.Nodes[n].Parent] {
				w.Reach = 0 // every view that reached it also reached the parent
			}
			to.Weights.Add(nodeOf[n], w)
		}
	}
	return out
}

func orSame(rename func(Frame) Frame) func(Frame) Frame {
	if rename == nil {
		return func(f Frame) Frame { return f }
	}
	return rename
}

// Rename returns p with each frame f replaced by rename(f), and false if two frames get the same
// name: then nodes may have to be merged, see [Profile.Coalesce]. The result shares nodes and
// weights with p, so neither may be changed.
func (p *Profile) Rename(rename func(Frame) Frame) (*Profile, bool) {
	names := New()
	names.Grow(0)
	for i := range p.Frames {
		if f := rename(p.FrameOf(FrameID(i))); names.Intern(f) != FrameID(i) || f.Foreign() &&
			!p.FrameOf(FrameID(i)).Foreign() {
			return nil, false
		}
	}
	out := *p
	out.Trie = Trie{Strings: names.Strings, Frames: names.Frames, Nodes: p.Nodes}
	out.byLabels, out.known, out.first = nil, 0, nil
	return &out, true
}

// BoundReach limits the reach of functions to the number of page views: if several functions became
// one, the number of page views with any of them is at most the sum, and at most all page views.
func (p *Profile) BoundReach() {
	for i := range p.Groups {
		g := &p.Groups[i]
		most := g.Coverage.Views
		if most <= 0 {
			continue // a difference, or a format without page views
		}
		type over struct {
			node NodeID
			by   int64
		}
		var all []over
		for n, w := range g.Weights.All() {
			if w.Reach > most {
				all = append(all, over{n, w.Reach - most})
			}
		}
		for _, x := range all {
			g.Weights.Add(x.node, Weight{Reach: -x.by})
		}
	}
}
