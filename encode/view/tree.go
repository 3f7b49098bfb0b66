// Package view writes profiles for people and for their tools: tables, trees, flame graphs, and
// plain JSON and CSV.
package view

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Bounds of the text tree.
const (
	treeRows   = 200   // default
	treeShare  = 0.005 // of all time: smaller nodes are folded
	treeLevels = 50    // drawn levels of indentation; deeper lines show a number
)

// EncodeTree writes p as a call tree for people, children with the largest total first. Times are
// in milliseconds, with o.PerView per page view; shares are of the self time of all of p. Nodes
// with less than 0.5 % of it are folded into one line for each parent. o.Rows limits the other
// lines; 0 means 200, a negative number all. It shows the heaviest nodes at any depth.
//
// The only callee of a caller is not indented: stacks are often long chains, which would look like
// a staircase.
//
// With o.Base the tree covers both profiles, and two more columns show the change of total and
// self time from the base. The weight of a node is then the larger of its totals.
func EncodeTree(w io.Writer, p *trie.Profile, o output.Options) error {
	b := bufio.NewWriter(w)
	t := newTree(p, o)
	all := t.Total[trie.Root].Self
	writeTreeHead(b, p, o, t, all)
	t.line(b, trie.Root, "", output.Printable(o.RootName()))
	type item struct {
		node   trie.NodeID // the root for folded nodes
		parent trie.NodeID
		level  int // of indents
		last   bool
		only   bool // call of its caller
	}
	var open []item
	push := func(n trie.NodeID, level int) {
		from := len(open)
		if t.hidden[n].nodes > 0 {
			open = append(open, item{parent: n, level: level + 1})
		}
		for _, c := range slices.Backward(t.children(n)) {
			open = append(open, item{node: c, parent: n, level: level + 1})
		}
		if len(open) > from {
			open[from].last = true
		}
		if len(open) == from+1 && open[from].node != trie.Root {
			open[from].only, open[from].level = true, level
		}
	}
	push(trie.Root, 0)
	var bars []string // by level: prefix of its lines
	for len(open) > 0 {
		it := open[len(open)-1]
		open = open[:len(open)-1]
		joint := ""
		if !it.only {
			bars, joint = append(bars[:it.level-1], "│  "), "├─ "
			if it.last {
				bars[it.level-1], joint = "   ", "└─ "
			}
		}
		indent := treeIndent(bars, it.level, it.only) + joint
		if it.node == trie.Root {
			t.foldedLine(b, it.parent, indent)
			continue
		}
		t.line(b, it.node, indent, output.Printable(output.Location(t.Frame(it.node))))
		push(it.node, it.level)
	}
	return b.Flush()
}

// treeIndent returns the text before the joint of a line, if there is one.
func treeIndent(bars []string, level int, only bool) string {
	if !only {
		level--
	}
	if level < treeLevels {
		return strings.Join(bars[:level], "")
	}
	return fmt.Sprintf("%s[%d] ", strings.Join(bars[:treeLevels-1], ""), level)
}

func writeTreeHead(b *bufio.Writer, p *trie.Profile, o output.Options, t *tree, all int64) {
	if o.Base == nil {
		writeHead(b, "", p, all, o.Threads, o)
		fmt.Fprintf(b, "\n%12s %7s %12s  %s\n", "total ms", "total%", "self ms", "function")
		return
	}
	writeHeads(b, p, all, t.BaseTotal[trie.Root].Self, o)
	fmt.Fprintf(b, "\n%12s %7s %12s %12s %12s  %s\n", "total ms", "total%", "self ms", "total +-", "self +-",
		"function")
}

// tree is a weighted trie of which part is shown.
type tree struct {
	output.Weighted
	ms     unit
	next   []trie.NodeID // the shown nodes: by parent, heaviest first
	first  []int         // where the children of a node begin in next
	hidden []hiddenNodes // by parent
}

// hiddenNodes are the hidden nodes below one node.
type hiddenNodes struct {
	nodes       int
	total, base int64 // µs
}

func newTree(p *trie.Profile, o output.Options) *tree {
	p = p.Canonical()
	t := &tree{Weighted: output.Weigh(p, o), ms: unitOf(p, o)}
	rows := o.Rows
	if rows == 0 {
		rows = treeRows
	}
	least := int64(float64(t.Weight(trie.Root)) * treeShare)
	if rows < 0 {
		rows, least = len(t.Nodes), 0
	}
	keep := t.Heaviest(rows, least)
	t.hidden = make([]hiddenNodes, len(t.Nodes))
	t.first = make([]int, len(t.Nodes)+1)
	under := make([]trie.NodeID, len(t.Nodes)) // the node into which a node is folded
	for n := range t.Preorder() {
		parent := t.Nodes[n].Parent
		if keep[n] {
			t.next = append(t.next, n)
			t.first[parent+1]++
			continue
		}
		under[n] = parent
		if !keep[parent] {
			under[n] = under[parent]
		}
		f := &t.hidden[under[n]]
		f.nodes++
		f.total += t.Self[n].Self
		if t.BaseSelf != nil {
			f.base += t.BaseSelf[n].Self
		}
	}
	for i := range t.Nodes {
		t.first[i+1] += t.first[i]
	}
	// The sort is stable, so equal nodes stay in preorder.
	slices.SortStableFunc(t.next, func(a, b trie.NodeID) int {
		return cmp.Or(cmp.Compare(t.Nodes[a].Parent, t.Nodes[b].Parent), cmp.Compare(t.Weight(b), t.Weight(a)))
	})
	return t
}

func (t *tree) children(n trie.NodeID) []trie.NodeID { return t.next[t.first[n]:t.first[n+1]] }

func (t *tree) line(b *bufio.Writer, n trie.NodeID, indent, name string) {
	total, self := t.Total[n].Self, t.Self[n].Self
	fmt.Fprintf(b, "%12s %7s %12s", t.ms.text(total), share(total, t.Total[trie.Root].Self), t.ms.text(self))
	if t.BaseTotal != nil {
		fmt.Fprintf(b, " %12s %12s", t.ms.signed(total-t.BaseTotal[n].Self), t.ms.signed(t.Delta(n)))
	}
	fmt.Fprintf(b, "  %s%s\n", indent, name)
}

// foldedLine writes the line for the hidden nodes below parent. Its times are their sum.
func (t *tree) foldedLine(b *bufio.Writer, parent trie.NodeID, indent string) {
	f := t.hidden[parent]
	fmt.Fprintf(b, "%12s %7s %12s", t.ms.text(f.total), share(f.total, t.Total[trie.Root].Self), "")
	if t.BaseTotal != nil {
		fmt.Fprintf(b, " %12s %12s", t.ms.signed(f.total-f.base), "")
	}
	fmt.Fprintf(b, "  %s… %d more\n", indent, f.nodes)
}
