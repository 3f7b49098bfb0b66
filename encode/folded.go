package encode

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// EncodeFolded writes p as folded stacks, the input of flamegraph.pl, inferno and
// speedscope: a line for each stack with self time, its frames root first and joined by
// ";", a space, and the self time in microseconds. Groups are summed. A frame is
// "name (url:line:column)"; in it \, ; and control characters are escaped as in
// JavaScript strings, ";" as \x3b. Lines come in preorder.
//
// With o.Base each line has two numbers, the self time in the base and in p, as
// difffolded.pl writes them and flamegraph.pl reads them; a line stands for each stack
// with self time in either.
func EncodeFolded(w io.Writer, p *trie.Profile, o Output) error {
	if err := checkStacks(p); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	t := weigh(p, o)
	names := make([]string, len(t.Frames))
	for i := range names {
		names[i] = escapeFolded(location(t.FrameOf(trie.FrameID(i))))
	}
	var stack []string
	for n := range t.Preorder() {
		if t.self[n].Self == 0 && (t.baseSelf == nil || t.baseSelf[n].Self == 0) {
			continue
		}
		stack = stack[:0]
		for a := range t.Stack(n) {
			stack = append(stack, names[t.Nodes[a].Frame])
		}
		slices.Reverse(stack)
		b.WriteString(strings.Join(stack, ";"))
		if t.baseSelf != nil {
			fmt.Fprintf(b, " %d", t.baseSelf[n].Self)
		}
		fmt.Fprintf(b, " %d\n", t.self[n].Self)
	}
	return b.Flush()
}
