package encode

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// escapeFolded keeps a name from being taken for the structure of the format, and from
// moving the cursor of a terminal. Readers that do not know the escapes show them as
// they stand.
func escapeFolded(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == ';' || isControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// EncodeFolded writes p as folded stacks, the input of flamegraph.pl, inferno and
// speedscope: a line for each stack with self time, its frames root first and joined by
// ";", a space, and the self time in microseconds. Groups are summed. A frame is
// "name (url:line:column)"; in it \, ; and control characters are escaped as in
// JavaScript strings, ";" as \x3b. Lines come in preorder.
func EncodeFolded(w io.Writer, p *trie.Profile, _ Output) error {
	b := bufio.NewWriter(w)
	flat, _ := p.Flat()
	names := make([]string, len(p.Frames))
	for i := range names {
		names[i] = escapeFolded(location(p.FrameOf(trie.FrameID(i))))
	}
	var stack []string
	for n := range p.Preorder() {
		if flat[n].Self == 0 {
			continue
		}
		stack = stack[:0]
		for a := range p.Stack(n) {
			stack = append(stack, names[p.Nodes[a].Frame])
		}
		slices.Reverse(stack)
		fmt.Fprintf(b, "%s %d\n", strings.Join(stack, ";"), flat[n].Self)
	}
	return b.Flush()
}

// location returns f as people write it: name (url:line:column).
func location(f trie.Frame) string {
	name := shown(f)
	switch {
	case f.Resource == "" && f.Line == 0:
		return name
	case f.Line == 0:
		return fmt.Sprintf("%s (%s)", name, f.Resource)
	case f.Column == 0:
		return fmt.Sprintf("%s (%s:%d)", name, f.Resource, f.Line)
	}
	return fmt.Sprintf("%s (%s:%d:%d)", name, f.Resource, f.Line, f.Column)
}
