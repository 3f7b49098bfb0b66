package owner

import "github.com/fieldtrie/fieldtrie/trie"

// FoldOthers returns p with the code of other owners collapsed: nested calls within one owner
// become one node, the frame of the owner. The app's code is unchanged, below the owners that call
// it. Flame graphs use this.
//
// A browser function called by an owner becomes part of that node, since it worked for the owner.
// Browser functions called by the app are kept, and so are frames for work of the browser, such as
// (gc), because they show where to optimise. Scripts without symbols may belong to the app, so they
// are kept, too.
//
// In each group, the sums of self times and of samples stay the same, and so do self time, total
// and samples of each function that is [App] or [Unmapped]. FoldOthers is idempotent and commutes
// with [trie.Merge]. For the reach see [trie.Profile.Coalesce].
func FoldOthers(p *trie.Profile, of func(trie.Frame) Owner) *trie.Profile {
	roles := rolesOf(&p.Trie, of)
	shown := make([]trie.Frame, len(roles))
	for i, r := range roles {
		if shown[i] = p.FrameOf(trie.FrameID(i)); r.is == other {
			shown[i] = r.owner
		}
	}
	m := newMove(p, shown)
	folded := make([]bool, len(p.Nodes)) // merged into the node of an owner
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

// OnlyApp returns p with only the functions of the app. The time of other code is added to the
// app's function that called it, directly or indirectly. Time without a function of the app on the
// stack is added to a node for each owner at the root. There, functions of the browser are treated
// as in [FoldOthers], and are "(browser)" without a caller. OnlyApp shows the app's developers what
// they can change themselves.
// In each group, the sums of self times and of samples stay the same, and so does the total of each
// function of the app. OnlyApp is idempotent, OnlyApp of [FoldOthers] equals OnlyApp, and it
// commutes with [trie.Merge]. For the reach see [trie.Profile.Coalesce].
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

// role is the treatment of a frame in a view of the app.
type role struct {
	is    is
	owner trie.Frame // stands for its owner
}

type is uint8

const (
	app      is = iota
	other       // a function of another owner
	native      // a function of the browser
	mark        // work of the browser, such as (gc)
	unmapped    // possibly the app's
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

// move builds a profile by moving the weights of another to new nodes.
type move struct {
	from   *trie.Profile
	out    *trie.Profile
	shown  []trie.Frame   // by frame of from
	frames []trie.FrameID // 1 + frame of out, by frame of from; 0 is none yet
	to     []trie.NodeID  // of out, by node of from
	again  []bool         // by node of from: a caller has become the same node
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

// isFrame reports whether node n of out has the new frame of f, a frame of from.
func (m *move) isFrame(n trie.NodeID, f trie.FrameID) bool { return m.out.Nodes[n].Frame == m.frame(f) }

func (m *move) call(i int, parent trie.NodeID) {
	m.to[i] = m.out.Child(parent, m.frame(m.from.Nodes[i].Frame))
}

// join makes node i part of its parent's new node.
func (m *move) join(i int) {
	m.to[i], m.again[i] = m.to[m.from.Nodes[i].Parent], true
}

// findRepeats finds the nodes with an ancestor, at any distance, that has become the same node.
// Nodes with such an ancestor in the app join their parent.
func (m *move) findRepeats(inApp []bool) {
	open := make([]int, len(m.out.Nodes)) // by node of out: how often it is on the current stack
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

func (m *move) profile() *trie.Profile {
	m.out.Views, m.out.Traces = m.from.Views, m.from.Traces
	m.out.Groups = make([]trie.Group, len(m.from.Groups))
	for i := range m.from.Groups {
		from, to := &m.from.Groups[i], &m.out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			if m.again[n] {
				w.Reach = 0 // every view that reached it also reached its caller
			}
			to.Weights.Add(m.to[n], w)
		}
	}
	return m.out
}
