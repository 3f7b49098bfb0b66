package redact

import (
	"regexp"
	"strings"
	"unicode"
)

// The forms in which the browser script reports an element: a tag with an id or a role, or a name
// that the site chose. Ids contain numbers of frameworks, as in :r*: of React.
var (
	elementID   = regexp.MustCompile(`^[\p{L}\p{M}*_:.«»-]{1,60}$`)
	elementRole = regexp.MustCompile(`^[a-z -]{1,40}\]$`)
	elementName = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_.:&,()+!?* -]{1,60}$`)
)

// identifiers matches UUIDs, hexadecimal digits, and numbers of any script, like the browser
// script.
var identifiers = regexp.MustCompile(`(?i)[0-9a-f]{8}-[-0-9a-f]{27}|[0-9a-f]{12,}|\p{N}+`)

// Element returns the description of an element without anything that may identify a person. The
// browser script already omits such parts, but a report may come from any client. Ids and names of
// other forms are dropped, so the result may be empty.
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

// maskIdentifiers replaces identifiers by stars. Hexadecimal digits without 0 to 9 may be a word.
func maskIdentifiers(id string) string {
	return identifiers.ReplaceAllStringFunc(id, func(found string) string {
		if !strings.ContainsFunc(found, unicode.IsNumber) {
			return found
		}
		return "*"
	})
}
