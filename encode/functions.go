package encode

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Output says what an encoder of a profile can not learn from the profile.
type Output struct {
	Since, Until time.Time // the time that was asked for; zero if there was no such
	Rows         int       // how many functions a table shows; 0 means 40, less than 0 all
	Title        string    // what the profile is of, such as "/feed"; "" if nobody said
	Of           string    // what the self times are of, "JavaScript" if empty: with events it is more
	// Base is the profile that the one to be written is compared with; nil if it stands
	// alone. Only formats with Compares set look at it.
	Base *trie.Profile
}

// of says what self times are of.
func (o Output) of() string { return cmp.Or(o.Of, "JavaScript") }

// function is a frame with the weights of all nodes that call it.
type function struct {
	trie.Frame
	Self, Total int64 // µs; Total holds each moment once, however often f is on the stack
	Samples     int64 // self samples
	Reach       int64 // at least this many page views touched it: the largest reach of its nodes
}

// weightless reports that nothing is known of f but its name.
func (f function) weightless() bool { return f.Self == 0 && f.Total == 0 && f.Samples == 0 }

// functions returns what each frame of p weighs, heaviest self time first.
func functions(p *trie.Profile) []function {
	flat, _ := p.Flat()
	out := slices.DeleteFunc(weighFrames(&p.Trie, flat, p.Totals(flat)), function.weightless)
	slices.SortFunc(out, func(a, b function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), compareFrame(a.Frame, b.Frame))
	})
	return out
}

// weighFrames returns what each frame of t weighs, by its number, where flat and total
// are the weights of the nodes.
func weighFrames(t *trie.Trie, flat, total []trie.Weight) []function {
	out := make([]function, len(t.Frames))
	open := make([]int, len(t.Frames)) // how often a frame is on the stack that is walked
	var stack []trie.NodeID
	for n, depth := range t.Preorder() {
		for len(stack) >= depth {
			open[t.Nodes[stack[len(stack)-1]].Frame]--
			stack = stack[:len(stack)-1]
		}
		frame := t.Nodes[n].Frame
		f := &out[frame]
		f.Self += flat[n].Self
		f.Samples += flat[n].Samples
		f.Reach = max(f.Reach, flat[n].Reach)
		if open[frame] == 0 {
			f.Total += total[n].Self
		}
		open[frame]++
		stack = append(stack, n)
	}
	for i := range out {
		out[i].Frame = t.FrameOf(trie.FrameID(i))
	}
	return out
}

func compareFrame(a, b trie.Frame) int {
	return cmp.Or(strings.Compare(a.Resource, b.Resource), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column), strings.Compare(a.Name, b.Name))
}
