package redact

import (
	"regexp"
	"strings"
	"unicode"
)

// Forms of what the browser script calls an element: a tag with an id or a role, or a name that the
// site has given it. Ids have numbers of frameworks, as in :r*: of React.
var (
	elementID   = regexp.MustCompile(`^[\p{L}\p{M}*_:.«»-]{1,60}$`)
	elementRole = regexp.MustCompile(`^[a-z -]{1,40}\]$`)
	elementName = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_.:&,()+!?* -]{1,60}$`)
)

// identifiers are UUIDs, hexadecimal digits, and numbers of any script, as in the browser script.
var identifiers = regexp.MustCompile(`(?i)[0-9a-f]{8}-[-0-9a-f]{27}|[0-9a-f]{12,}|\p{N}+`)

// Element returns what the browser script calls an element, without what may identify a person. The
// script leaves that out, too, but anyone can send a report. Ids and names of other forms are left
// out; then there may be nothing left.
func (r *Redactor) Element(text string) string {
	kind, name := "", r.Text(text)
	for _, of := range []string{"image ", "text ", "pointer ", "key "} {
		if rest, ok := strings.CutPrefix(name, of); ok {
			kind, name = of, rest
			break
		}
	}
	name, id, hasID := strings.Cut(name, "#")
	name, role, hasRole := strings.Cut(name, "[")
	if !elementName.MatchString(name) || r.Identifier(name) {
		return ""
	}
	if id = maskIdentifiers(id); hasID && elementID.MatchString(id) && !r.Identifier(id) {
		return kind + name + "#" + id
	}
	if hasRole && elementRole.MatchString(role) {
		return kind + name + "[" + role
	}
	return kind + name
}

// maskIdentifiers replaces identifiers by stars. Hexadecimal digits without a number may be a word.
func maskIdentifiers(id string) string {
	return identifiers.ReplaceAllStringFunc(id, func(found string) string {
		if !strings.ContainsFunc(found, unicode.IsNumber) {
			return found
		}
		return "*"
	})
}
