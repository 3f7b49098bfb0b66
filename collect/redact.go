package collect

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// What names a person or opens a door, wherever it stands in a text. Identifiers of
// other kinds can not be told from the hashes in the names of scripts and releases,
// which are needed; in pages, where they are not, [PageRules] replaces them.
var (
	emailAddress = regexp.MustCompile(`[\p{L}\p{N}._%+-]+(?:@|%(?:25)*40)((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})`)
	webToken     = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*`)
	bearer       = regexp.MustCompile(`(?i)\bbearer\s+\S+`)
	userAgent    = regexp.MustCompile(`Mozilla/[0-9].*`)
	urlQuery     = regexp.MustCompile(`^\?\S*|^#\S*=\S*|((?:^/|://)[^\s?#]*)[?#]\S*`) // but #name is a private method
	sessionParam = regexp.MustCompile(`(?i);(?:[a-z]*sess(?:ion)?_?(?:id)?|sid)=[^/;?#\s]*`)
	packageSpec  = regexp.MustCompile(`^v?[0-9]+(?:\.[0-9]+)|\.(?:[cm]?js|css|map)$`) // react@18.2.0, logo@2x.js
)

// suspect marks the bytes without at least one of which there is nothing to redact. It is
// read-only.
var suspect = func() (is [256]bool) {
	for _, b := range []byte("@%?#;JM \t\n\v\f\r") { // J of eyJ, M of Mozilla; bearer is followed by a space
		is[b] = true
	}
	return is
}()

// redact returns s without personal data and secrets.
func redact(s string) string {
	for i := 0; i < len(s); i++ {
		if suspect[s[i]] {
			return redactSuspect(s)
		}
	}
	return s
}

func redactSuspect(s string) string {
	if strings.ContainsAny(s, "@%") {
		s = replace(s, emailAddress, func(at string, groups []int) string {
			if packageSpec.MatchString(at[groups[2]:groups[3]]) {
				return at[groups[0]:groups[1]]
			}
			return "(email)"
		})
	}
	if strings.Contains(s, "eyJ") {
		s = webToken.ReplaceAllString(s, "(token)")
	}
	if strings.Contains(s, "earer") || strings.Contains(s, "EARER") {
		s = bearer.ReplaceAllString(s, "(token)")
	}
	if strings.Contains(s, "Mozilla/") {
		s = userAgent.ReplaceAllString(s, "(user agent)")
	}
	if strings.ContainsAny(s, "?#") {
		s = urlQuery.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, ";") {
		s = sessionParam.ReplaceAllString(s, "")
	}
	return s
}

// redactName returns redact(s), or what stands for a name of which nothing is left.
func redactName(s string) string { return cmp.Or(redact(s), trie.FrameUnknown) }

// replace replaces each match of x by what with returns, given s and where in it the
// groups of the match are.
func replace(s string, x *regexp.Regexp, with func(s string, groups []int) string) string {
	var b strings.Builder
	end := 0
	for _, m := range x.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[end:m[0]])
		b.WriteString(with(s, m))
		end = m[1]
	}
	b.WriteString(s[end:])
	return b.String()
}
