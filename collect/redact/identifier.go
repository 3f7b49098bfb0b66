package redact

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hardware matches the MAC address of a network card.
var hardware = regexp.MustCompile(`^[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}$`)

var uuid = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

// Identifier reports whether a path segment looks like an identifier of one thing among very many.
// A page with a false positive shares its statistics with others. A false negative fills the list
// of pages and may name a person.
func (r *Redactor) Identifier(s string) bool {
	if strings.ContainsAny(s, "@=") || hardware.MatchString(s) || strings.HasPrefix(s, "~") ||
		strings.HasPrefix(s, "eyJ") || uuid.MatchString(s) {
		return true // an e-mail address, a name or value, a MAC address, a home directory, a JSON web token
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	if r.Text(s) != s {
		return true // everything else that is removed from texts, as a whole
	}
	if i := strings.LastIndexByte(s, '.'); i > 0 && i+1 < len(s) && !digit(rune(s[i+1])) {
		s = s[:i] // a file name
	}
	if !strings.ContainsFunc(s, unicode.IsLetter) {
		return strings.ContainsFunc(s, unicode.IsNumber) // a number, date, version, coordinate or phone number
	}
	// Dashes and the like join words, and identifiers to words.
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		if numbered(word) || unlikelyWord(word) {
			return true
		}
	}
	return false
}

// numbered reports whether a word has at least four digits, of any script, like customer and
// passport numbers. Years from 2000 to 2099 do not count, because headlines contain them.
func numbered(word string) bool {
	digits := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsNumber(r) })
	n := 0
	for _, run := range digits {
		if len(run) != len("20xx") || !strings.HasPrefix(run, "20") {
			n += utf8.RuneCountInString(run)
		}
	}
	return n >= 4
}

func digit(r rune) bool { return r >= '0' && r <= '9' }

// unlikelyWord reports whether letters and digits are mixed as in no word: only digits, hexadecimal
// digits, or random base64. If there are only letters, their case and the share of vowels decide:
// in the languages written in Latin letters, no long word has fewer than a quarter.
func unlikelyWord(s string) bool {
	letters, digits, hex, vowels, turns := 0, 0, 0, 0, 0
	last := 0
	for _, r := range s {
		kind := 1
		switch {
		case digit(r):
			digits++
			kind = 2
		case r > unicode.MaxASCII:
			return false // no encoding of identifiers contains it
		default:
			letters++
			if r|0x20 <= 'f' {
				hex++
			}
			if strings.ContainsRune("aeiouy", r|0x20) {
				vowels++
			}
			if unicode.IsUpper(r) {
				kind = 3
			}
		}
		if last != 0 && kind != last {
			turns++
		}
		last = kind
	}
	n := letters + digits
	switch {
	case letters == hex && digits >= 2 && n >= 8,
		digits >= 4 && n >= 16,
		digits >= 1 && n >= 24,
		digits >= 1 && n >= 10 && 2*turns > n,
		n >= 16 && (2*turns > n || 5*vowels < n),
		n >= 20 && 4*vowels < n,
		n >= 32 && turns <= 1, // not camel case
		n >= 40:
		return true
	}
	return false
}
