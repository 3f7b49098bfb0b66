package owner

import "github.com/fieldtrie/fieldtrie/trie"

// FoldOthers returns p with the code of others folded: calls of one owner that follow each other
// are one node, the frame of the owner, where they were called. All of the app stays as it is,
// below the owners that call it. It is what pictures show.
//
// A function of the browser that an owner calls is part of that node: it worked for the owner.
// One that the app calls stays, as do the frames that say what the browser did, such as (gc):
// which it is tells what to do about it. Scripts without symbols may be the app's, so they stay,
// too.
//
// In each group, the sums of self times and of samples are what they were, and so are the self
// time, total and samples of each function that is [App] or [Unmapped]. Folding twice is folding
// once, and folding commutes with [trie.Merge]. For the reach see [trie.Profile.Coalesce].
func FoldOthers(p *trie.Profile, of func(trie.Frame) Owner) *trie.Profile {
	roles := rolesOf(&p.Trie, of)
	shown := make([]trie.Frame, len(roles))
	for i, r := range roles {
		if shown[i] = p.FrameOf(trie.FrameID(i)); r.is == other {
			shown[i] = r.owner
		}
	}
	m := newMove(p, shown)
	folded := make([]bool, len(p.Nodes)) // into the node of an owner
	for i := 1; i < len(p.Nodes); i++ {
		n := p.Nodes[i]
		is := roles[n.Frame].is
		switch {
		case !folded[n.Parent] || is != other && is != native:
			m.call(i, m.to[n.Parent])
			folded[i] = is == other
		case is == native || m.isFrame(m.to[n.Parent], n.Frame):
			m.join(i)
			folded[i] = true
		default: // another owner
			m.call(i, m.to[n.Parent])
			folded[i] = true
		}
	}
	return m.profile()
}

// OnlyApp returns p with the functions of the app alone. The time of others goes to the function
// of the app that called them, through whatever else. Time that no function of the app is
// responsible for goes to a node for each owner at the root, where functions of the browser are
// as in [FoldOthers], and "(browser)" if nobody called them. It is for those who ask what they
// can do themselves.
//
// In each group, the sums of self times and of samples are what they were, and so is the total of
// each function of the app. OnlyApp of OnlyApp, or of [FoldOthers], is OnlyApp, and it commutes
// with [trie.Merge]. For the reach see [trie.Profile.Coalesce].
func OnlyApp(p *trie.Profile, of func(trie.Frame) Owner) *trie.Profile {
	roles := rolesOf(&p.Trie, of)
	shown := make([]trie.Frame, len(roles))
	for i, r := range roles {
		if shown[i] = r.owner; r.is == app || r.is == mark {
			shown[i] = p.FrameOf(trie.FrameID(i))
		}
	}
	m := newMove(p, shown)
	inApp := make([]bool, len(p.Nodes))
	for i := 1; i < len(p.Nodes); i++ {
		n := p.Nodes[i]
		is := roles[n.Frame].is
		inApp[i] = is == app || inApp[n.Parent]
		switch {
		case is == app && inApp[n.Parent]:
			m.call(i, m.to[n.Parent])
		case inApp[n.Parent]:
			m.join(i)
		case is == native && n.Parent != trie.Root && roles[p.Nodes[n.Parent].Frame].is != mark:
			m.join(i)
		default:
			m.call(i, trie.Root)
		}
	}
	m.findRepeats(inApp)
	return m.profile()
}

// role is what a frame is for what shows the app.
type role struct {
	is    is
	owner trie.Frame // stands for its owner
}

type is uint8

const (
	app      is = iota
	other       // a function of somebody else
	native      // a function of the browser
	mark        // what says what the browser did
	unmapped    // perhaps the app's
)

func rolesOf(t *trie.Trie, of func(trie.Frame) Owner) []role {
	out := make([]role, len(t.Frames))
	for i := range out {
		f := t.FrameOf(trie.FrameID(i))
		o := of(f)
		r := role{other, o.Frame()}
		switch {
		case o.Kind == App:
			r.is = app
		case o.Kind == Unmapped:
			r.is = unmapped
		case marker(f):
			r.is = mark
		case o.Kind == Browser && f.Resource == "" && f != r.owner:
			r.is = native
		}
		out[i] = r
	}
	return out
}

// move builds a profile that has the weights of another at other nodes.
type move struct {
	from   *trie.Profile
	out    *trie.Profile
	shown  []trie.Frame   // by the frame of from
	frames []trie.FrameID // of out by the frame of from, one more; 0 is none yet
	to     []trie.NodeID  // of out by the node of from
	again  []bool         // by the node of from: one that called it has become the same node
}

func newMove(from *trie.Profile, shown []trie.Frame) *move {
	return &move{
		from: from, out: trie.NewProfile(), shown: shown, frames: make([]trie.FrameID, len(shown)),
		to: make([]trie.NodeID, len(from.Nodes)), again: make([]bool, len(from.Nodes)),
	}
}

func (m *move) frame(f trie.FrameID) trie.FrameID {
	if m.frames[f] == 0 {
		m.frames[f] = m.out.Intern(m.shown[f]) + 1
	}
	return m.frames[f] - 1
}

// isFrame reports whether a node of out is a call of what a frame of from is shown as.
func (m *move) isFrame(n trie.NodeID, f trie.FrameID) bool { return m.out.Nodes[n].Frame == m.frame(f) }

// call makes node i a call by a node of out.
func (m *move) call(i int, parent trie.NodeID) {
	m.to[i] = m.out.Child(parent, m.frame(m.from.Nodes[i].Frame))
}

// join makes node i part of the node that its parent has become.
func (m *move) join(i int) {
	m.to[i], m.again[i] = m.to[m.from.Nodes[i].Parent], true
}

// findRepeats finds the nodes of which one that called them, however far up, has become the same
// node. Those that have one in the app join their parent.
func (m *move) findRepeats(inApp []bool) {
	open := make([]int, len(m.out.Nodes)) // how many nodes of the stack that is walked have become it
	var stack []trie.NodeID
	for n, depth := range m.from.Preorder() {
		for len(stack) >= depth {
			open[m.to[stack[len(stack)-1]]]--
			stack = stack[:len(stack)-1]
		}
		m.again[n] = m.again[n] || !inApp[n] && open[m.to[n]] > 0
		open[m.to[n]]++
		stack = append(stack, n)
	}
}

// profile returns what was built.
func (m *move) profile() *trie.Profile {
	m.out.Views, m.out.Traces = m.from.Views, m.from.Traces
	m.out.Groups = make([]trie.Group, len(m.from.Groups))
	for i := range m.from.Groups {
		from, to := &m.from.Groups[i], &m.out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			if m.again[n] {
				w.Reach = 0 // every view that touched it touched the one that called it, too
			}
			to.Weights.Add(m.to[n], w)
		}
	}
	return m.out
}
