package pyroscope

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/trie"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
)

const (
	// defaultNodes is the default number of nodes in a flame graph, as in Pyroscope, and
	// mostNodes the maximum.
	defaultNodes = 8192
	mostNodes    = 200_000
)

// rootName is the name of the root. It must be the first name: Grafana takes the offset of
// the root's bar, 0, for the index of its name.
const rootName = "total"

// selectMergeStacktraces merges a selection into a flame graph or a pprof profile.
func (a *backend) selectMergeStacktraces(ctx context.Context, r *querierv1.SelectMergeStacktracesRequest) (
	*querierv1.SelectMergeStacktracesResponse, error) {
	switch r.Format {
	case querierv1.ProfileFormat_PROFILE_FORMAT_UNSPECIFIED, querierv1.ProfileFormat_PROFILE_FORMAT_FLAMEGRAPH:
	case querierv1.ProfileFormat_PROFILE_FORMAT_PPROF:
		p, err := a.pprof(ctx, pprofRequest(r))
		return &querierv1.SelectMergeStacktracesResponse{Pprof: &querierv1.PprofProfile{Profile: p}}, err
	default:
		return nil, failure(unimplemented,
			"format %s is not written here; known are PROFILE_FORMAT_FLAMEGRAPH and PROFILE_FORMAT_PPROF", r.Format)
	}
	s, err := a.merged(ctx, r)
	if err != nil {
		return nil, err
	}
	return &querierv1.SelectMergeStacktracesResponse{Flamegraph: s.flameGraph()}, nil
}

// merged returns the stacks of a flame graph request, not pruned.
func (a *backend) merged(ctx context.Context, r *querierv1.SelectMergeStacktracesRequest) (*stacks, error) {
	if len(r.GetProfileIdSelector())+len(r.GetTraceIdSelector())+len(r.GetSpanSelector()) > 0 {
		return nil, failure(unimplemented, "traces of browsers have no profile, trace or span ids")
	}
	q, t, err := a.askType(r.GetProfileTypeID(), r.GetLabelSelector(), r.GetStart(), r.GetEnd())
	if err != nil {
		return nil, err
	}
	p, err := a.profile(ctx, q)
	if err != nil {
		return nil, err
	}
	s := newStacks(p, r.GetMaxNodes(), t)
	s.asked = q
	return s, s.choose(r.GetStackTraceSelector())
}

// profile merges the selection of a query.
func (a *backend) profile(ctx context.Context, q labelQuery) (*trie.Profile, error) {
	if q.empty {
		return trie.NewProfile(), nil
	}
	result, err := a.src.Profile(ctx, q.sel, nil)
	if err != nil {
		return nil, err
	}
	if flat, _ := result.Profile.Flat(); result.Profile.Totals(flat)[trie.Root].Self > math.MaxInt64/perMicrosecond {
		return nil, failure(invalidArgument,
			"over 292 years of main thread, which do not fit in nanoseconds: ask for less time, or one page")
	}
	return result.Profile, nil
}

// stacks are the stacks of one side, or of both sides of a comparison, on one trie.
type stacks struct {
	*trie.Profile            // with a group for each side
	asked         labelQuery // of the left side
	sides         int
	of            profileType
	maxNodes      int
}

// newStacks returns the stacks of a profile, without labels.
func newStacks(p *trie.Profile, maxNodes int64, t profileType) *stacks {
	s := &stacks{Profile: p, sides: 1, of: t, maxNodes: defaultNodes}
	if maxNodes != 0 {
		s.maxNodes = int(min(uint64(maxNodes), mostNodes)) // a negative number is all
	}
	return s
}

// beside returns the stacks of s and of another profile on one trie, without labels.
func (s *stacks) beside(right *trie.Profile) *stacks {
	both := *s
	both.sides = 2
	both.Profile = trie.Merge(s.Profile, columns.OneGroup(right, sideLabels()[1]))
	return &both
}

// sideLabels returns the labels of the groups of the sides, left first.
func sideLabels() [2]trie.Labels { return [2]trie.Labels{nil, trie.MakeLabels("side", "right")} }

// choose removes all stacks except those that begin with the requested calls.
func (s *stacks) choose(sel *typesv1.StackTraceSelector) error {
	if sel.GetGoPgo() != nil {
		return failure(unimplemented, "JavaScript has no profiles for the Go compiler")
	}
	site := sel.GetCallSite()
	if len(site) > 0 && site[0].GetName() == rootName {
		site = site[1:]
	}
	if len(site) == 0 {
		return nil
	}
	names := namesOf(&s.Trie)
	depths := s.Depths()
	inside := make([]bool, len(s.Nodes)) // as far as the stack goes, it is the call site
	inside[trie.Root] = true
	for i := 1; i < len(s.Nodes); i++ {
		n, depth := s.Nodes[i], int(depths[i])
		inside[i] = inside[n.Parent] && (depth > len(site) || names[n.Frame] == site[depth-1].GetName())
	}
	out := &trie.Profile{Trie: s.Trie, Views: s.Views, Traces: s.Traces, Groups: make([]trie.Group, len(s.Groups))}
	for i := range s.Groups {
		out.Groups[i].Labels, out.Groups[i].Coverage = s.Groups[i].Labels, s.Groups[i].Coverage
		for n, w := range s.Groups[i].Weights.All() {
			if inside[n] && int(depths[n]) >= len(site) {
				out.Groups[i].Weights.Add(n, w)
			}
		}
	}
	s.Profile = out
	return nil
}

// graph is a flame graph under construction.
type graph struct {
	*stacks
	names    []string // of frames
	self     [][]int64
	total    [][]int64
	children [][]trie.NodeID

	numbers map[string]int64 // of the names that are used
	used    []string
	levels  [][]int64
	maxSelf int64
}

// layOut prunes the stacks and arranges their nodes in levels. A bar has an offset, a total
// and a self value for each side, and the number of its name.
func (s *stacks) layOut() *graph {
	// The names are computed from all stacks, so they do not depend on how many are shown.
	name := named(&s.Trie)
	pruned := s.Prune(s.maxNodes)
	g := &graph{
		stacks: &stacks{Profile: pruned, sides: s.sides, of: s.of}, names: make([]string, len(pruned.Frames)),
		numbers: map[string]int64{rootName: 0}, used: []string{rootName},
	}
	for i := range g.names {
		g.names[i] = name(pruned.FrameOf(trie.FrameID(i))).Name
	}
	g.weigh()
	g.place()
	return g
}

// weigh sets the values of all nodes, and the order of their children.
func (g *graph) weigh() {
	size := make([]int64, len(g.Nodes))
	for side := range g.sides {
		self, total := make([]int64, len(g.Nodes)), make([]int64, len(g.Nodes))
		for n, w := range g.Group(sideLabels()[side]).Weights.All() {
			self[n] = g.of.ofWeight(w)
		}
		for i := len(total) - 1; i >= 0; i-- {
			total[i] += self[i]
			size[i] += total[i]
			g.maxSelf = max(g.maxSelf, self[i])
			if i > 0 {
				total[g.Nodes[i].Parent] += total[i]
			}
		}
		g.self, g.total = append(g.self, self), append(g.total, total)
	}
	g.children = make([][]trie.NodeID, len(g.Nodes))
	for i := 1; i < len(g.Nodes); i++ {
		if size[i] > 0 {
			g.children[g.Nodes[i].Parent] = append(g.children[g.Nodes[i].Parent], trie.NodeID(i))
		}
	}
	for _, c := range g.children {
		slices.SortFunc(c, func(a, b trie.NodeID) int {
			return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(g.names[g.Nodes[a].Frame],
				g.names[g.Nodes[b].Frame]), cmp.Compare(a, b))
		})
	}
}

// bar is a node with its offset on each side.
type bar struct {
	node  trie.NodeID
	begin [2]int64
}

// place lays out the bars level by level. Children begin at the offset of their parent and
// are in the order of the parents, so they lie within them. The rest on the right of a
// parent is its self value.
func (g *graph) place() {
	for level := []bar{{node: trie.Root}}; len(level) > 0; {
		var below []bar
		var values []int64
		var end [2]int64 // of the bar before
		for _, b := range level {
			for side := range g.sides {
				total := g.total[side][b.node]
				values = append(values, b.begin[side]-end[side], total, g.self[side][b.node])
				end[side] = b.begin[side] + total
			}
			values = append(values, g.number(b.node))
			at := b.begin
			for _, child := range g.children[b.node] {
				below = append(below, bar{child, at})
				for side := range g.sides {
					at[side] += g.total[side][child]
				}
			}
		}
		g.levels = append(g.levels, values)
		level = below
	}
}

// number returns the index of the name of n in used. It appends names that are not there yet.
func (g *graph) number(n trie.NodeID) int64 {
	if n == trie.Root {
		return 0
	}
	name := g.names[g.Nodes[n].Frame]
	i, ok := g.numbers[name]
	if !ok {
		i = int64(len(g.used))
		g.numbers[name] = i
		g.used = append(g.used, name)
	}
	return i
}

// flameGraph returns the flame graph of one side. Without stacks it has an empty root, as
// Grafana needs one.
func (s *stacks) flameGraph() *querierv1.FlameGraph {
	g := s.layOut()
	return &querierv1.FlameGraph{Names: g.used, Levels: g.wireLevels(), Total: g.total[0][trie.Root],
		MaxSelf: g.maxSelf}
}

func (g *graph) wireLevels() (out []*querierv1.Level) {
	for _, values := range g.levels {
		out = append(out, &querierv1.Level{Values: values})
	}
	return out
}
