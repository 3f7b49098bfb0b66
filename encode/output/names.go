package output

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Anonymous is how a function without a name is shown where an empty text would be
// mistaken for a missing one.
const Anonymous = "(anonymous)"

// Shown returns the name under which f is shown.
func Shown(f trie.Frame) string {
	if f.Name == "" {
		return Anonymous
	}
	return f.Name
}

// Location returns f as people write it: name (url:line:column).
func Location(f trie.Frame) string {
	name := Shown(f)
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

// LabelText returns labels as people write them.
func LabelText(l trie.Labels) string {
	if len(l) == 0 {
		return "(no labels)"
	}
	pairs := make([]string, len(l))
	for i, x := range l {
		pairs[i] = x.Key + "=" + x.Value
	}
	return strings.Join(pairs, " ")
}

// IsControl reports whether r moves the cursor of a terminal or the like.
func IsControl(r rune) bool { return r < ' ' || (r >= 0x7f && r < 0xa0) }

// Quote returns s as a JSON string.
func Quote(s string) string {
	b, _ := json.Marshal(s) // a string can always be written
	return string(b)
}
