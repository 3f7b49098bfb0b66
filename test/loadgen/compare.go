package loadgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// sideLabel distinguishes the groups of three profiles on one trie. No trace has it.
const sideLabel = "\x00side"

var sides = [3]string{"got", "least", "most"}

// compare describes where got is not between least and most. It returns at most room differences,
// and the total number.
func compare(got, least, most *trie.Profile, room int) (differences []string, count int) {
	d := &differing{room: room}
	d.check("profile", "views", got.Views, least.Views, most.Views)
	d.check("profile", "traces", got.Traces, least.Traces, most.Traces)
	m := trie.NewMerger()
	for i, p := range []*trie.Profile{got, least, most} {
		m.AddProfile(onSide(p, sides[i]))
	}
	joined := m.Profile()
	groups := map[string]*[3]*trie.Group{}
	for i := range joined.Groups {
		g := &joined.Groups[i]
		name, side := "", 0
		for _, l := range g.Labels {
			if l.Key == sideLabel {
				side = slices.Index(sides[:], l.Value)
			} else {
				name += " " + l.Key + "=" + l.Value
			}
		}
		if groups[name] == nil {
			groups[name] = &[3]*trie.Group{{}, {}, {}}
		}
		groups[name][side] = g
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		d.coverage("group"+name, g[0].Coverage, g[1].Coverage, g[2].Coverage)
		for n := range joined.Nodes {
			d.weight("group"+name, &joined.Trie, trie.NodeID(n), g)
		}
	}
	return d.first, d.count
}

// onSide returns p with the label of a side on each group.
func onSide(p *trie.Profile, side string) *trie.Profile {
	out := &trie.Profile{Trie: p.Trie, Groups: slices.Clone(p.Groups)}
	for i := range out.Groups {
		l := slices.Clone(out.Groups[i].Labels)
		out.Groups[i].Labels = append(l, trie.Label{Key: sideLabel, Value: side}).Sort()
	}
	return out
}

// differing collects differences.
type differing struct {
	first []string
	count int
	room  int
}

func (d *differing) check(where, what string, got, least, most int64) {
	if got >= least && got <= most {
		return
	}
	if d.count++; len(d.first) >= d.room {
		return
	}
	want := fmt.Sprint(least)
	if least != most {
		want = fmt.Sprintf("%d to %d", least, most)
	}
	d.first = append(d.first, fmt.Sprintf("%s: %s: got %d, want %s", where, what, got, want))
}

func (d *differing) coverage(where string, got, least, most trie.Coverage) {
	d.check(where, "views", got.Views, least.Views, most.Views)
	d.check(where, "traces", got.Traces, least.Traces, most.Traces)
	d.check(where, "stackless µs", got.Stackless, least.Stackless, most.Stackless)
	d.check(where, "idle µs", got.Idle, least.Idle, most.Idle)
	d.check(where, "unsampled µs", got.Unsampled, least.Unsampled, most.Unsampled)
	d.check(where, "truncated samples", got.Truncated, least.Truncated, most.Truncated)
}

func (d *differing) weight(where string, t *trie.Trie, n trie.NodeID, g *[3]*trie.Group) {
	got, least, most := g[0].Weights.Of(n), g[1].Weights.Of(n), g[2].Weights.Of(n)
	if got == least && got == most {
		return
	}
	where += ": " + stackOf(t, n)
	d.check(where, "self µs", got.Self, least.Self, most.Self)
	d.check(where, "samples", got.Samples, least.Samples, most.Samples)
	d.check(where, "reach", got.Reach, least.Reach, most.Reach)
}

// stackOf returns the frames of a node, only the last few before the leaf.
func stackOf(t *trie.Trie, n trie.NodeID) string {
	var names []string
	for a := range t.Stack(n) {
		f := t.Frame(a)
		if len(names) == 4 {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%s:%d:%d", f.Name, f.Line, f.Column))
	}
	slices.Reverse(names)
	return strings.Join(names, " > ")
}
