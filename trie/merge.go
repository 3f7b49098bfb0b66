package trie

import "slices"

// Merger merges traces and profiles into one profile. It reuses scratch space between calls, so use
// one Merger for many inputs. It never changes the inputs. The result shares no memory with them,
// except for the labels of groups. It is not safe for concurrent use.
type Merger struct {
	profile *Profile
	graft   Grafter // onto the trie of profile

	set     *Set     // whose tables the input uses; nil for its own
	weights []Weight // by node of the input: zero except for nodes in held
	held    []NodeID // nodes of the input in a sampled stack, parents first; their Reach is 1
	depths  []uint32 // by node of the input; empty if none is deep enough to matter

	slices []Slice // slices of the current trace
	to     []int   // by slice: its group, or -1

	viewID   string    // id of the current page view
	counted  bool      // already in the profile's views
	touched  []touched // by group: where the page view was counted
	recorded bool      // the input is a recording, without page views
	counts   []int     // groups whose coverage includes the page view
}

// touched records where in a group the current page view was counted.
type touched struct {
	group  bool           // in the group's coverage
	blocks []*weightBlock // those with a bit set in seen
}

// clear forgets the page view.
func (t *touched) clear() {
	t.group = false
	for _, b := range t.blocks {
		b.seen = 0
	}
	t.blocks = t.blocks[:0]
}

// NewMerger returns an empty Merger.
func NewMerger() *Merger {
	m := &Merger{profile: NewProfile()}
	m.graft.to = &m.profile.Trie
	return m
}

// Profile returns the merge of everything added. The caller may change it once nothing more is
// added.
func (m *Merger) Profile() *Profile { return m.profile }

// Group returns the number of the group with these labels, which must be sorted.
func (m *Merger) Group(l Labels) int { return m.profile.group(l) }

// AddProfile merges p. It adds up page views, so a page view that is also in another profile counts
// twice.
func (m *Merger) AddProfile(p *Profile) { m.addProfile(p, false) }

func (m *Merger) addProfile(p *Profile, negative bool) {
	m.set = nil
	m.graft.Begin(&p.Trie)
	for n := range p.Nodes {
		m.graft.Node(NodeID(n))
	}
	views, traces := p.Views, p.Traces
	if negative {
		views, traces = -views, -traces
	}
	m.profile.Views, m.profile.Traces = add(m.profile.Views, views), add(m.profile.Traces, traces)
	for i := range p.Groups {
		from := &p.Groups[i]
		to := &m.profile.Groups[m.Group(from.Labels)]
		for n, w := range from.Weights.All() {
			if negative {
				w = w.negate()
			}
			to.Weights.Add(m.graft.nodes[n]-1, w)
		}
		if negative {
			to.Coverage.Add(from.Coverage.negate())
		} else {
			to.Coverage.Add(from.Coverage)
		}
	}
}

// NextView ends a page view: the next trace counts as a new page view, whatever its view id.
func (m *Merger) NextView() {
	m.viewID, m.counted = "", false
	for _, g := range m.counts {
		m.touched[g].clear()
	}
	m.counts = m.counts[:0]
}

// AddTrace merges the parts of t that group selects. It calls group for every slice with some of
// the time of t. group returns the number of a group, from [Merger.Group], or -1 to omit the slice.
// The traces of one page view must be added one after another, or the view counts more than once.
//
// For the weight of samples see [Weight]. Markers become synthetic frames: garbage collection,
// style, layout and paint are one frame each on top of the interrupted stack; a script without a
// stack is (unknown).
func (m *Merger) AddTrace(t *Trace, group func(Slice) int) {
	m.recorded = false
	if set := t.Set(); set == nil || set != m.set {
		m.begin(&t.Trie)
		m.set = set
	}
	m.addTrace(t, group)
}

// AddStream merges one sampler's recording of a thread into a group, see [Merger.Group]. It counts
// as a trace, but not as a page view: a recording has as many threads as its program, and its times
// are sums over them.
func (m *Merger) AddStream(s *Stream, group int) {
	m.NextView()
	m.recorded = true
	m.begin(&s.Trace.Trie)
	m.addTrace(s.Trace, func(Slice) int { return group })
}

// begin makes t the tables of the input.
func (m *Merger) begin(t *Trie) {
	m.set = nil
	m.graft.Begin(t)
	m.weights, m.held = zeroed(m.weights, len(t.Nodes)), m.held[:0]
	m.depths = m.depths[:0]
	if len(t.Nodes) > MaxStackDepth {
		m.depths = t.appendDepths(m.depths)
	}
}

// addTrace adds a trace with the tables passed to begin.
func (m *Merger) addTrace(t *Trace, group func(Slice) int) {
	if m.viewID != t.Context.ViewID || m.viewID == "" {
		m.NextView()
		m.viewID = t.Context.ViewID
	}
	m.slices, m.to = t.appendSlices(m.slices[:0]), m.to[:0]
	from, end := t.covered()
	for _, s := range m.slices {
		g := -1
		if s.Start < end && s.End > from {
			g = group(s)
		}
		m.to = append(m.to, g)
	}
	m.countTrace()
	for i, g := range m.to {
		if g >= 0 && !slices.Contains(m.to[:i], g) {
			m.countInGroup(g)
			m.weigh(t, g)
			m.addWeights(g)
		}
	}
}

// weigh sums the time of t in group g by the nodes of t.
func (m *Merger) weigh(t *Trace, g int) {
	c := &m.profile.Groups[g].Coverage
	var stackless, idle, unsampled int64
	at := 0 // slice of the sample
	for i, s := range t.sampleRanges() {
		self, gap, here := s.clip-s.start, s.end-s.clip, true
		if len(m.slices) > 1 {
			at = sliceFrom(m.slices, at, s.start)
			self, gap, here = m.share(s, at, g)
		}
		counts := s.counts && here
		unsampled += gap
		if self == 0 && !here {
			continue // what ran in a gap is unknown
		}
		sample := &t.Samples[i]
		if sample.Marker != MarkerNone {
			if frame, onTop := sample.Marker.synthetic(sample.Node != Root); onTop {
				m.hold(&t.Trie, sample.Node)
				m.addOnTop(t, sample.Node, frame, g, self, counts)
				continue
			}
		}
		if sample.Node == Root {
			stackless += self
			if sample.Marker == MarkerIdle {
				idle += self
			}
			continue
		}
		m.hold(&t.Trie, sample.Node)
		w := &m.weights[sample.Node]
		w.Self += self // within one trace, times are bounded: see MaxTime
		if counts {
			w.Samples++
			m.countTruncated(c, sample.Node)
		}
	}
	c.Stackless = add(c.Stackless, stackless)
	c.Idle = add(c.Idle, idle)
	c.Unsampled = add(c.Unsampled, unsampled)
}

// share returns how much of s, which begins in slice at, is in slices of group g, and whether the
// moment of the sample itself is.
func (m *Merger) share(s sampleRange, at, g int) (self, gap int64, here bool) {
	for k := at; k < len(m.slices) && m.slices[k].Start < s.end; k++ {
		if m.to[k] == g {
			self += m.slices[k].overlap(s.start, s.clip)
			gap += m.slices[k].overlap(s.clip, s.end)
		}
	}
	return self, gap, m.to[at] == g
}

func (m *Merger) countTruncated(c *Coverage, n NodeID) {
	if len(m.depths) > 0 && m.depths[n] == MaxStackDepth {
		c.Truncated = add(c.Truncated, 1)
	}
}

// addOnTop adds the time of a sample at node n of t to a synthetic frame on top of it.
func (m *Merger) addOnTop(t *Trace, n NodeID, frame Frame, g int, self int64, counts bool) {
	var path []NodeID // possibly missing in the profile
	for a := range t.Stack(n) {
		if m.graft.nodes[a] != 0 {
			break
		}
		path = append(path, a)
	}
	for _, a := range slices.Backward(path) {
		m.graft.Node(a)
	}
	to := m.graft.nodes[n] - 1
	to = m.profile.Child(to, m.profile.Intern(frame))
	samples := int64(0)
	if counts {
		samples = 1
		m.countTruncated(&m.profile.Groups[g].Coverage, n)
	}
	m.addNode(g, to, self, samples)
}

// AddCalls merges the calls of s and events, see [Calls], into a group, see [Merger.Group], as one
// trace and no page view. The self time of a node is the time in which none of its callees ran. No
// samples are counted. Sampled time outside all events and calls is stackless. If there are too
// many calls, AddCalls returns an error and merges nothing.
func (m *Merger) AddCalls(s *Stream, events []Event, group int) error {
	c := newCalling(s, events)
	if err := c.run(); err != nil {
		return err
	}
	m.NextView()
	m.recorded = true
	m.to = append(m.to[:0], group)
	m.begin(&c.out.Trie)
	m.countTrace()
	m.countInGroup(group)
	for n, self := range c.self {
		if self != 0 {
			m.hold(&c.out.Trie, NodeID(n))
			m.weights[n].Self = self
		}
	}
	m.addWeights(group)
	stackless := c.to - c.from - c.covered
	m.profile.Groups[group].Coverage.Add(Coverage{Stackless: stackless, Idle: min(c.idle, stackless)})
	return nil
}

// hold records that a sampled stack ends at node n of t.
func (m *Merger) hold(t *Trie, n NodeID) {
	from := len(m.held)
	for ; n != Root && m.weights[n].Reach == 0; n = t.Nodes[n].Parent {
		m.weights[n].Reach = 1
		m.held = append(m.held, n)
	}
	slices.Reverse(m.held[from:])
}

// addWeights adds m.weights to group g, and clears them. It is the inner loop of every query.
func (m *Merger) addWeights(g int) {
	for _, n := range m.held {
		from := &m.weights[n]
		m.addNode(g, m.graft.Node(n), from.Self, from.Samples)
		*from = Weight{}
	}
	m.held = m.held[:0]
}

// addNode adds self time and samples to node n of group g. It also counts the page view, once per
// node.
func (m *Merger) addNode(g int, n NodeID, self, samples int64) {
	b := m.profile.Groups[g].Weights.block(n)
	w := &b.weights[n%blockNodes]
	if self|samples != 0 { // most nodes only have others on top of them
		w.Self = add(w.Self, self)
		w.Samples = add(w.Samples, samples)
	}
	bit := uint32(1) << (n % blockNodes)
	if b.seen&bit == 0 {
		if b.seen == 0 {
			m.touched[g].blocks = append(m.touched[g].blocks, b)
		}
		b.seen |= bit
		w.Reach = add(w.Reach, 1)
	}
}

// countTrace counts the trace if a group gets some of it, and its page view if that is not yet
// counted.
func (m *Merger) countTrace() {
	if !slices.ContainsFunc(m.to, func(g int) bool { return g >= 0 }) {
		return
	}
	p := m.profile
	p.Traces = add(p.Traces, 1)
	if !m.counted && !m.recorded {
		m.counted = true
		p.Views = add(p.Views, 1)
	}
}

// countInGroup is countTrace for group g.
func (m *Merger) countInGroup(g int) {
	for len(m.touched) <= g {
		m.touched = append(m.touched, touched{})
	}
	c := &m.profile.Groups[g].Coverage
	c.Traces = add(c.Traces, 1)
	if !m.touched[g].group {
		m.touched[g].group = true
		m.counts = append(m.counts, g)
		if !m.recorded {
			c.Views = add(c.Views, 1)
		}
	}
}

// synthetic returns the frame for a marker, depending on whether there is a stack.
func (k Marker) synthetic(hasStack bool) (Frame, bool) {
	switch k {
	case MarkerGC:
		return Frame{Name: FrameGC}, true
	case MarkerStyle:
		return Frame{Name: FrameStyle}, true
	case MarkerLayout:
		return Frame{Name: FrameLayout}, true
	case MarkerPaint:
		return Frame{Name: FramePaint}, true
	case MarkerScript:
		return Frame{Name: FrameUnknown}, !hasStack
	}
	return Frame{}, false
}

// Profile returns the weights of t as one group without labels.
func (t *Trace) Profile() *Profile {
	m := NewMerger()
	m.AddTrace(t, func(Slice) int { return m.Group(nil) })
	return m.Profile()
}

// ByPage merges traces into one profile per page. Its groups have the time of one set of active
// features each, as labels with the key "feature"; the group without labels has the rest. The
// traces of one page view must be consecutive, see [Merger.AddTrace].
func ByPage(traces ...*Trace) map[string]*Profile {
	mergers := map[string]*Merger{}
	for _, t := range traces {
		for _, page := range t.Pages() {
			m := mergers[page]
			if m == nil {
				m = NewMerger()
				mergers[page] = m
			}
			m.AddTrace(t, func(s Slice) int {
				if s.Page != page {
					return -1
				}
				var l Labels
				for _, name := range s.Features {
					l = append(l, Label{Key: "feature", Value: name})
				}
				return m.Group(l)
			})
		}
	}
	profiles := make(map[string]*Profile, len(mergers))
	for page, m := range mergers {
		profiles[page] = m.Profile()
	}
	return profiles
}

// Merge returns the sum of all profiles. It is commutative and associative, and the
// empty profile is its identity. The inputs are not changed.
func Merge(profiles ...*Profile) *Profile {
	m := NewMerger()
	for _, p := range profiles {
		m.AddProfile(p)
	}
	return m.Profile()
}

// Subtract returns a minus b. Weights that are larger in b become negative. Subtract(Merge(a, b),
// b) equals a.
func Subtract(a, b *Profile) *Profile {
	m := NewMerger()
	m.AddProfile(a)
	m.addProfile(b, true)
	return m.Profile()
}
