package compare

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// StableURL returns a script's URL without the parts that differ between releases for the same
// file: it drops the query and the fragment, and replaces parts that look like a hash of
// the content or of the build by "*".
func StableURL(resource string) string {
	if strings.HasPrefix(resource, "blob:") { // ends in a UUID that differs each time
		if i := strings.LastIndexByte(resource, '/'); i > 0 {
			return resource[:i+1] + "*"
		}
	}
	if strings.HasPrefix(resource, "data:") {
		return resource
	}
	if i := strings.IndexAny(resource, "?#"); i >= 0 {
		resource = resource[:i]
	}
	path := 0
	if i := strings.Index(resource, "://"); i >= 0 { // a host does not change
		path = i + 3 + len(resource[i+3:])
		if k := strings.IndexByte(resource[i+3:], '/'); k >= 0 {
			path = i + 3 + k
		}
	}
	var out strings.Builder
	out.WriteString(resource[:path])
	word := path
	for i := path; i <= len(resource); i++ {
		if i < len(resource) && strings.IndexByte("/.-_~", resource[i]) < 0 {
			continue
		}
		if looksLikeHash(resource[word:i]) {
			out.WriteByte('*')
		} else {
			out.WriteString(resource[word:i])
		}
		if i < len(resource) {
			out.WriteByte(resource[i])
		}
		word = i + 1
	}
	return out.String()
}

// looksLikeHash reports whether a word of a path is unlikely to be chosen by a person: six
// or more hexadecimal characters, both letters and digits, or eight or more letters and
// digits in which letters follow digits or the case changes as in no name. A mere number is
// never a hash: /a/1.js and /a/2.js are two files.
func looksLikeHash(word string) bool {
	var digits, letters, upper, lower, turns int
	hex := true
	for i := range len(word) {
		b := word[i]
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b >= 'a' && b <= 'z':
			letters++
			lower++
			hex = hex && b <= 'f'
		case b >= 'A' && b <= 'Z':
			letters++
			upper++
			hex = false
		default:
			return false
		}
		if i > 0 && isDigit(word[i-1]) && !isDigit(b) {
			turns++
		}
	}
	switch {
	case digits > 0 && letters > 0 && hex && len(word) >= 6:
		return true
	case len(word) < 8 || letters == 0:
		return false
	case digits > 0 && upper > 0 && lower > 0:
		return turns > 0 || digits > 1
	}
	return digits > 1 && turns > 0
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// file returns the file in which a function is matched: the script of a frame. Synthetic
// frames have none, but names such as (module) and (top level) stand for code in a file.
func file(f trie.Frame) string {
	if synthetic(f.Name) && f.Line == 0 {
		return ""
	}
	return f.Resource
}

func synthetic(name string) bool { return strings.HasPrefix(name, "(") && strings.HasSuffix(name, ")") }

// files returns for each function the script in which it is matched. A script with the same
// URL on both sides is itself; other scripts are matched by their stable form.
func files(a, b []Function) (fileA, fileB []string) {
	has := func(functions []Function) map[string]bool {
		out := map[string]bool{}
		last := ""
		for i := range functions {
			if f := file(functions[i].Frame); f != last || i == 0 { // most functions are sorted by file
				out[f], last = true, f
			}
		}
		return out
	}
	hasA, hasB := has(a), has(b)
	stables := map[string]string{}
	names := func(functions []Function) []string {
		out := make([]string, len(functions))
		for i := range functions {
			url := file(functions[i].Frame)
			if out[i] = url; hasA[url] && hasB[url] {
				continue
			}
			s, ok := stables[url]
			if !ok {
				s = StableURL(url)
				stables[url] = s
			}
			out[i] = s
		}
		return out
	}
	return names(a), names(b)
}
