package rollup

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Sum adds up the parts of many records that a query selects into a profile. The result equals the
// profile that [trie.Merger] makes of the traces in the records.
type Sum struct {
	group   func(trie.Labels) (trie.Labels, bool)
	profile *trie.Profile
	stacks  *trie.Trie // stack table of the records since the last flush
	groups  []*summed
	byKey   map[string]int // indexes in groups
	key     []byte
	pending int // size of groups in bytes
	size    int // size of profile at the last flush
	fits    func(size int) error
	asked   int   // size at the last call of fits
	err     error // returned by fits
}

// maxPending is the size in bytes at which groups are flushed to the profile.
const maxPending = 32 << 20

// summed is a group of the profile, by nodes of stacks.
type summed struct {
	labels   trie.Labels
	weights  rows[trie.Weight]
	coverage trie.Coverage
}

// NewSum returns an empty Sum. group maps the labels of a cell to the sorted labels of the
// profile's group for its time, and returns false to omit the cell.
func NewSum(group func(cell trie.Labels) (trie.Labels, bool)) *Sum {
	return &Sum{group: group, profile: trie.NewProfile(), byKey: map[string]int{}}
}

// Bound sets a check of the size. [Sum.Add] calls fits whenever the Sum has grown by one MiB, even
// within a record: one record can take hundreds.
func (s *Sum) Bound(fits func(size int) error) { s.fits = fits }

// askEvery is the growth in bytes between two checks of the size.
const askEvery = 1 << 20

// Add adds a record with nodes of stacks. It is fastest if records of one table follow each other.
// It returns the error of the function given to [Sum.Bound]; afterwards the Sum must not be used.
func (s *Sum) Add(rec *Record, stacks *trie.Trie) error {
	if s.err != nil {
		return s.err
	}
	if s.stacks != stacks {
		s.flush()
		s.stacks = stacks
	}
	to := make([]int, len(rec.Cells)) // by cell
	for i, c := range rec.Cells {
		to[i] = -1
		if l, ok := s.group(c.Labels); ok {
			to[i] = s.groupOf(l)
			g := &s.groups[to[i]].coverage
			g.Stackless += c.Stackless
			g.Idle += c.Idle
			g.Unsampled += c.Unsampled
			g.Truncated += c.Truncated
		}
	}
	rec.EachWeight(func(c int, n trie.NodeID, self, samples int64) {
		if g := to[c]; g >= 0 && s.err == nil {
			w := s.at(g, n)
			w.Self += self
			w.Samples += samples
		}
	})
	sets := make([][]int, len(rec.Touches)) // by touch: its groups
	for i, t := range rec.Touches {
		sets[i] = s.groupsOf(t, to)
		for _, g := range sets[i] {
			s.groups[g].coverage.Views += t.Views
			s.groups[g].coverage.Traces += t.Traces
		}
		if len(sets[i]) > 0 {
			s.profile.Views += t.Views
			s.profile.Traces += t.Traces
		}
	}
	rec.EachReach(func(t int, n trie.NodeID, views int64) {
		for _, g := range sets[t] {
			if s.err == nil {
				s.at(g, n).Reach += views
			}
		}
	})
	if s.pending > maxPending && s.err == nil {
		s.flush()
	}
	s.ask()
	return s.err
}

// ask checks the size of the Sum.
func (s *Sum) ask() {
	if s.asked = s.Size(); s.fits != nil && s.err == nil {
		s.err = s.fits(s.asked)
	}
}

// at returns the weight of a node in a group. The pointer is valid until the next call.
func (s *Sum) at(group int, n trie.NodeID) *trie.Weight {
	w, size := s.groups[group].weights.at(n)
	if s.pending += size; s.Size() > s.asked+askEvery {
		s.ask()
	}
	return w
}

// Size returns the approximate size of the sums in bytes. It is cheap.
func (s *Sum) Size() int { return s.size + s.pending }

func (s *Sum) groupOf(l trie.Labels) int {
	s.key = appendLabelsKey(s.key[:0], l)
	i, ok := s.byKey[string(s.key)]
	if !ok {
		i = len(s.groups)
		s.byKey[string(s.key)] = i
		s.groups = append(s.groups, &summed{labels: l})
	}
	return i
}

// groupsOf returns the groups of a touch, each once.
func (s *Sum) groupsOf(t Touch, to []int) []int {
	var set []int
	for _, c := range t.Cells {
		if g := to[c]; g >= 0 && !slices.Contains(set, g) {
			set = append(set, g)
		}
	}
	return set
}

// flush moves the pending sums to the profile.
func (s *Sum) flush() {
	if s.stacks == nil {
		return
	}
	nodes := s.graft()
	for _, g := range s.groups {
		if g.coverage == (trie.Coverage{}) && !g.weights.used() {
			continue
		}
		to := s.profile.Group(g.labels)
		to.Coverage.Add(g.coverage)
		g.weights.each(func(n trie.NodeID, w trie.Weight) { to.Weights.Add(nodes[n], w) })
	}
	s.groups, s.stacks, s.pending, s.size = nil, nil, 0, s.profile.Size()
	clear(s.byKey)
}

// graft adds the nodes with a weight to the profile, and returns their numbers.
func (s *Sum) graft() []trie.NodeID {
	used := make([]bool, len(s.stacks.Nodes))
	for _, g := range s.groups {
		g.weights.each(func(n trie.NodeID, _ trie.Weight) { used[n] = true })
	}
	for n := len(used) - 1; n > 0; n-- {
		if used[n] {
			used[s.stacks.Nodes[n].Parent] = true
		}
	}
	frames := make([]trie.FrameID, len(s.stacks.Frames)) // number plus one; 0 is unknown
	nodes := make([]trie.NodeID, len(used))
	for n, x := range s.stacks.Nodes {
		if n == 0 || !used[n] {
			continue
		}
		if frames[x.Frame] == 0 {
			frames[x.Frame] = s.profile.Intern(s.stacks.FrameOf(x.Frame)) + 1
		}
		nodes[n] = s.profile.Child(nodes[x.Parent], frames[x.Frame]-1)
	}
	return nodes
}

// Profile returns the sums as a profile. The caller must add nothing after that.
func (s *Sum) Profile() *trie.Profile {
	s.flush()
	return s.profile
}
