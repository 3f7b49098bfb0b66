// Package folded reads and writes folded stacks, the format of flamegraph.pl and
// inferno.
package folded

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Encode writes p as folded stacks, the input of flamegraph.pl, inferno and
// speedscope: a line for each stack with self time, its frames root first and joined by
// ";", a space, and the self time in microseconds. Groups are summed. A frame is
// "name (url:line:column)"; in it \, ;, control characters and those that are invisible or
// change the direction of the text are escaped as in JavaScript strings, ";" as \x3b, U+202E as
// \u{202e}. Lines come in preorder.
//
// With o.Base each line has two numbers, the self time in the base and in p, as
// difffolded.pl writes them and flamegraph.pl reads them; a line stands for each stack
// with self time in either.
func Encode(w io.Writer, p *trie.Profile, o output.Options) error {
	if err := output.CheckStacks(p); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	t := output.Weigh(p, o)
	names := make([]string, len(t.Frames))
	for i := range names {
		names[i] = escape(output.Location(t.FrameOf(trie.FrameID(i))))
	}
	var stack []string
	for n := range t.Preorder() {
		if t.Self[n].Self == 0 && (t.BaseSelf == nil || t.BaseSelf[n].Self == 0) {
			continue
		}
		stack = stack[:0]
		for a := range t.Stack(n) {
			stack = append(stack, names[t.Nodes[a].Frame])
		}
		slices.Reverse(stack)
		b.WriteString(strings.Join(stack, ";"))
		if t.BaseSelf != nil {
			fmt.Fprintf(b, " %d", t.BaseSelf[n].Self)
		}
		fmt.Fprintf(b, " %d\n", t.Self[n].Self)
	}
	return b.Flush()
}

// escape keeps a name from being read as structure of the format, and from moving the
// cursor of a terminal. Readers that do not know the escapes show them literally.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == ';' || output.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case output.IsInvisible(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
