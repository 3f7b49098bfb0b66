package redact

import (
	"regexp"
	"strings"
)

var emailAddress = regexp.MustCompile(
	`(?:"[^"\s]*"|[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._%+!&'~$*-]*[\p{L}\p{M}\p{N}_%+!&~$*-])?)` +
		`@(?:(?:[\p{L}\p{M}\p{N}-]+\.)+\p{L}{2,}|(?i:localhost)\b|\[[0-9A-Fa-f.:]+\])`)

// Texts after the @ of a package, as in react@18.2.0/index.js, and of an image for a screen
// resolution, as in logo@2x.png. No host has such a name.
var (
	version = regexp.MustCompile(`^v?\d+(?:\.\d+)*(?:-[\w.-]*)?(?:\.` + fileSuffix + `)*$`)
	density = regexp.MustCompile(`^\d+(?:\.\d+)?x(?:[.-][\w.-]*)?\.` + fileSuffix + `$`)
	script  = regexp.MustCompile(`\.(?:[cm]?jsx?|tsx?|vue|svelte)$`)
)

const fileSuffix = `(?:min|umd|esm|iife|prod|bundle|[cm]?jsx?|tsx?|vue|svelte|css|map|json|wasm|html|png|jpe?g|gif|` +
	`svg|webp|avif)`

// withoutEmails replaces e-mail addresses. There is none in render@app.js:10:5: Firefox and Safari
// write the location of a function like this.
func withoutEmails(s string) string {
	return replace(s, emailAddress, func(from, to int) bool {
		host := s[from+strings.LastIndexByte(s[from:to], '@')+1 : to]
		if len(s) > to+1 && s[to] == ':' && digit(rune(s[to+1])) && script.MatchString(host) {
			return false
		}
		return !version.MatchString(host) && !density.MatchString(host)
	}, "(email)")
}

// replace replaces the matches of x in s for which meet returns true.
func replace(s string, x *regexp.Regexp, meet func(from, to int) bool, instead string) string {
	var b strings.Builder
	end := 0
	for _, m := range x.FindAllStringIndex(s, -1) {
		if meet(m[0], m[1]) {
			b.WriteString(s[end:m[0]])
			b.WriteString(instead)
			end = m[1]
		}
	}
	if end == 0 {
		return s
	}
	b.WriteString(s[end:])
	return b.String()
}
