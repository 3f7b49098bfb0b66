package trie

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Coverage is the part of a group's weights outside its stacks. All values are additive.
type Coverage struct {
	Views     int64 // page views with a trace in the group
	Traces    int64 // traces with time in the group
	Stackless int64 // µs without a stack: idle, or work hidden from the profiler
	Idle      int64 // µs of Stackless in which the main thread was idle, as far as known
	Unsampled int64 // µs in which the browser took no samples
	Truncated int64 // counted samples whose stack the browser cut off, see MaxStackDepth
}

// Group is the part of a profile that has one set of labels.
type Group struct {
	Labels   Labels
	Weights  Weights // of the nodes; the root has none
	Coverage Coverage
}

// Profile is a trie with weights: any number of traces merged. The root has no weight.
type Profile struct {
	Trie
	Groups []Group // no two with the same labels
	// Views and Traces count the page views and traces in the profile. They are not sums over the
	// groups, as a trace can have time in several.
	Views, Traces int64
	// Unknown has fields of the binary format that this version does not know, as read. Merging
	// drops them.
	Unknown []byte

	byLabels map[string]int // indexes in Groups of the first known groups
	known    int            // groups
	first    *Group         // address of the first group at that time
}

// NewProfile returns the empty profile.
func NewProfile() *Profile { return &Profile{Trie: *New()} }

// Add adds o to c. Sums saturate at the range of int64.
func (c *Coverage) Add(o Coverage) {
	c.Views = add(c.Views, o.Views)
	c.Traces = add(c.Traces, o.Traces)
	c.Stackless = add(c.Stackless, o.Stackless)
	c.Idle = add(c.Idle, o.Idle)
	c.Unsampled = add(c.Unsampled, o.Unsampled)
	c.Truncated = add(c.Truncated, o.Truncated)
}

func (c Coverage) negate() Coverage {
	return Coverage{-c.Views, -c.Traces, -c.Stackless, -c.Idle, -c.Unsampled, -c.Truncated}
}

// UnsampledShare returns the unsampled share, from 0 to 1, of the time that the group's traces
// cover. self is the sum of the group's self times.
func (c Coverage) UnsampledShare(self int64) float64 {
	all := float64(self) + float64(c.Stackless) + float64(c.Unsampled)
	if all == 0 {
		return 0
	}
	return float64(c.Unsampled) / all
}

// Sum returns the sum of the group's self times (µs) and of its samples.
func (g *Group) Sum() (self, samples int64) {
	for _, w := range g.Weights.All() {
		self, samples = add(self, w.Self), add(samples, w.Samples)
	}
	return self, samples
}

// appendKey appends a text to b that is equal only for equal labels.
func (l Labels) appendKey(b []byte) []byte {
	for _, x := range l {
		for _, text := range [...]string{x.Key, x.Value} {
			b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
			b = append(b, text...)
		}
	}
	return b
}

// group returns the index of the group with these labels, and adds it if it is missing. There may
// be as many groups as sets of features on all pages, so indexes are cached. Groups is exported, so
// a cached index is checked.
func (p *Profile) group(l Labels) int {
	var buf [128]byte
	key := l.appendKey(buf[:0])
	i, ok := p.byLabels[string(key)] // does not allocate
	if ok && i < len(p.Groups) && slices.Equal(p.Groups[i].Labels, l) {
		return i
	}
	if ok || p.known > len(p.Groups) || p.known > 0 && p.first != &p.Groups[0] || p.byLabels == nil {
		p.byLabels, p.known = map[string]int{}, 0
	}
	for ; p.known < len(p.Groups); p.known++ {
		p.byLabels[string(p.Groups[p.known].Labels.appendKey(nil))] = p.known
	}
	if i, ok = p.byLabels[string(key)]; !ok {
		i = len(p.Groups)
		p.Groups = append(p.Groups, Group{Labels: l})
		p.byLabels[string(key)] = i
		p.known++
	}
	p.first = &p.Groups[0]
	return i
}

// Group returns the group with these labels, which must be sorted. It adds the group if it is
// missing. The pointer is valid until the next group is added.
func (p *Profile) Group(l Labels) *Group { return &p.Groups[p.group(l)] }

// Add adds w to node n of the trie of p, in the group with labels l, which must be sorted. It adds
// the group if it is missing.
func (p *Profile) Add(l Labels, n NodeID, w Weight) { p.Group(l).Weights.Add(n, w) }

// Flat returns the weight of every node summed over all groups, and the coverage of the whole
// profile. The reach of a node counts a page view once for each of its groups; merge the traces
// into one group to count it once.
func (p *Profile) Flat() ([]Weight, Coverage) {
	flat := make([]Weight, len(p.Nodes))
	var c Coverage
	for i := range p.Groups {
		for n, w := range p.Groups[i].Weights.All() {
			flat[n].add(w)
		}
		c.Add(p.Groups[i].Coverage)
	}
	c.Views, c.Traces = p.Views, p.Traces
	return flat, c
}

// Totals returns for each node the sum of self times and samples of the node and all its
// descendants; Reach is the node's own. self is a result of [Profile.Flat].
func (t *Trie) Totals(self []Weight) []Weight {
	total := make([]Weight, len(t.Nodes))
	copy(total, self)
	for i := len(t.Nodes) - 1; i > 0; i-- {
		up := &total[t.Nodes[i].Parent]
		up.Self = add(up.Self, total[i].Self)
		up.Samples = add(up.Samples, total[i].Samples)
	}
	return total
}

// Validate returns an error if p violates the invariants of its type.
func (p *Profile) Validate() error {
	if err := p.Trie.Validate(); err != nil {
		return err
	}
	seenNodes := make(map[Node]bool, len(p.Nodes))
	for i, n := range p.Nodes[1:] {
		if seenNodes[n] {
			return fmt.Errorf("node %d: another node has the same parent and frame", i+1)
		}
		seenNodes[n] = true
	}
	if !inRange(p.Views, p.Traces) {
		return fmt.Errorf("views or traces out of range")
	}
	seen := make(map[string]bool, len(p.Groups))
	for i := range p.Groups {
		g := &p.Groups[i]
		if err := g.Labels.validate(); err != nil {
			return fmt.Errorf("group %d: %w", i, err)
		}
		if k := string(g.Labels.appendKey(nil)); seen[k] {
			return fmt.Errorf("group %d: another group has the same labels", i)
		} else {
			seen[k] = true
		}
		for n, w := range g.Weights.All() {
			if n == Root {
				return fmt.Errorf("group %d: the root has weight", i)
			}
			if uint64(n) >= uint64(len(p.Nodes)) {
				return fmt.Errorf("group %d: weight of node %d of %d", i, n, len(p.Nodes))
			}
			if !inRange(w.Self, w.Samples, w.Reach) {
				return fmt.Errorf("group %d: node %d: weight out of range", i, n)
			}
		}
		c := g.Coverage
		if !inRange(c.Views, c.Traces, c.Stackless, c.Idle, c.Unsampled, c.Truncated) {
			return fmt.Errorf("group %d: coverage out of range", i)
		}
	}
	return nil
}

func inRange(values ...int64) bool {
	for _, v := range values {
		if v < -MaxWeight || v > MaxWeight {
			return false
		}
	}
	return true
}

// Scale returns p as if it had been made of views page views: it multiplies all weights and
// coverage by the same factor, and rounds. Two profiles with equal views differ by the time per
// view, not by the number of views. A profile without views is returned unchanged.
func (p *Profile) Scale(views int64) *Profile {
	if p.Views <= 0 {
		return p
	}
	by := float64(views) / float64(p.Views)
	out := p.weighed(func(*Group) float64 { return by })
	out.Views, out.Traces = views, scaled(p.Traces, by)
	return out
}

// Weigh returns p as a profile of views page views, with all weights and the coverage of a group
// multiplied by its factor, and rounded. Groups with factor 0 are omitted, and the others are
// merged into one without labels.
func (p *Profile) Weigh(views int64, factor func(*Group) float64) *Profile {
	of := p.weighed(factor)
	out := &Profile{Trie: p.Trie, Views: views}
	g := out.Group(nil)
	for i := range of.Groups {
		out.Traces = add(out.Traces, of.Groups[i].Coverage.Traces)
		g.Coverage.Add(of.Groups[i].Coverage)
		for n, w := range of.Groups[i].Weights.All() {
			g.Weights.Add(n, w)
		}
	}
	return out
}

func scaled(v int64, by float64) int64 {
	return int64(min(max(math.Round(float64(v)*by), -MaxWeight), MaxWeight))
}

func (p *Profile) weighed(factor func(*Group) float64) *Profile {
	out := &Profile{Trie: p.Trie, Groups: make([]Group, len(p.Groups))}
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		to.Labels = from.Labels
		by := factor(from)
		if by == 0 {
			continue
		}
		c := from.Coverage
		to.Coverage = Coverage{scaled(c.Views, by), scaled(c.Traces, by), scaled(c.Stackless, by), scaled(c.Idle, by),
			scaled(c.Unsampled, by), scaled(c.Truncated, by)}
		for n, w := range from.Weights.All() {
			to.Weights.Add(n, Weight{scaled(w.Self, by), scaled(w.Samples, by), scaled(w.Reach, by)})
		}
	}
	return out
}
