package output

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Anonymous is shown for a function without a name where an empty text would look
// like a missing one.
const Anonymous = "(anonymous)"

// Shown returns the display name of f.
func Shown(f trie.Frame) string {
	if f.Name == "" {
		return Anonymous
	}
	return f.Name
}

// Location returns f in the usual notation: name (url:line:column).
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

// LabelText returns labels in a notation for people.
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

// IsControl reports whether r is a control character, such as one that moves the
// cursor of a terminal.
func IsControl(r rune) bool { return r < ' ' || (r >= 0x7f && r < 0xa0) }

// Quote returns s as a JSON string, with quotes. It also escapes <, > and &, and replaces invalid
// UTF-8 by U+FFFD.
func Quote(s string) string {
	b, _ := json.Marshal(s) // a string can always be written
	return string(b)
}
