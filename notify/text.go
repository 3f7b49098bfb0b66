package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/output"
)

// Limits of the texts of a message, in bytes. Longer texts are truncated and end in "…".
const (
	maxTitle  = 300
	maxLine   = 2000
	maxLines  = 40
	maxLabel  = 200
	maxLabels = 20
	maxAnswer = 500
)

// clean returns text as one printable line of at most most bytes: without control characters, line
// breaks, direction marks and invisible characters.
func clean(text string, most int) string {
	text = strings.TrimSpace(output.Printable(cut(text, 4*most))) // a long name is cut first to save time
	return cut(text, most)
}

// cut truncates a text with more than most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const ellipsis = "…"
	end := max(0, most-len(ellipsis))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// cleaned returns a copy of m with printable texts of limited length.
func cleaned(m Message) Message {
	m.Title = cmp.Or(clean(m.Title, maxTitle), "A change")
	var lines []string
	for _, l := range m.Lines[:min(len(m.Lines), maxLines)] {
		if l = clean(l, maxLine); l != "" {
			lines = append(lines, l)
		}
	}
	m.Lines = lines
	labels := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		if value := clean(m.Labels[key], maxLabel); key != "" && value != "" && len(labels) < maxLabels {
			labels[labelName(key)] = value
		}
	}
	m.Labels = labels
	if checkWebURL(m.Link) != nil || strings.ContainsAny(m.Link, "<>|\"'` \n\r\t") || len(m.Link) > maxLine {
		m.Link = ""
	}
	return m
}

// labelName converts a key to a label name that all receivers accept.
func labelName(key string) string {
	name := noLabel.ReplaceAllString(key, "_") // ASCII from here on
	return name[:min(len(name), maxLabel)]
}

var noLabel = regexp.MustCompile(`^[^a-zA-Z_]|[^a-zA-Z0-9_]`)

// token returns an id of letters, digits, _ and -: id itself if possible.
func token(id string) string {
	if plainID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

var plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,100}$`)

// labelText formats the labels of a message, such as "page /feed · direction slower".
func labelText(m Message) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		parts = append(parts, key+" "+m.Labels[key])
	}
	return strings.Join(parts, " · ")
}
