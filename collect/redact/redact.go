package redact

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/trie"
)

// A rule removes one kind of personal data or credentials from any place of a text. Other
// identifiers cannot be distinguished from hashes in the names of scripts and releases, which are
// needed. In pages they are not, so [PageRules] replaces them there.
type rule struct {
	needs  byteSet // the rule applies only to texts with all of these
	pieces []piece // and, if there are any, with at least one of these
	redact func(string) string
}

// The rules in the order in which they are applied: the rest of a URL is a text like any other. The
// rules of the first list need one of the marks, which few names have. Both lists are read-only.
var (
	markedRules = []rule{
		{needs: setOf("/@"), redact: putting("$1", userInfo)},
		{needs: setOf("?"), redact: putting("$1$2", query)},
		{needs: setOf("#"), redact: putting("$1", fragment)},
		{needs: setOf("="), redact: withoutSecretValues},
		{needs: setOf(`":`), redact: withoutSecretValues},
		{needs: setOf("@"), redact: withoutEmails},
		{needs: setOf("bear "), redact: putting("(token)", bearer)},
		{needs: setOf("bear+"), redact: putting("(token)", bearer)},
		{needs: setOf("basic "), redact: withoutBasic},
		{needs: setOf("basic+"), redact: withoutBasic},
		{needs: setOf(": "), redact: putting("$1$2(secret)", header)},
		{needs: setOf("a/0"), pieces: pieces("Mozilla/", "Opera/"), redact: putting("(user agent)", userAgent)},
		{needs: setOf("+0"), redact: withoutPhones},
	}
	rules = []rule{
		{needs: setOf("begin-"), pieces: pieces("-----BEGIN"), redact: putting("(key)", privateKey)},
		{needs: setOf("eyj"), pieces: pieces("eyJ"), redact: putting("$1(token)", webToken)},
		{needs: setOf("ai"), pieces: pieces("AKIA", "ASIA", "AIza"), redact: putting("$1(key)", apiKey)},
		{needs: setOf("_"), pieces: pieces("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "_pat_", "k_live_", "k_test_",
			"whsec_", "npm_", "shp", "do"), redact: putting("$1(key)", apiKey)},
		{needs: setOf("-"), pieces: pieces("xox", "xapp-", "glpat-", "sk-", "key-", "pat-", "sq0"),
			redact: putting("$1(key)", apiKey)},
		{needs: setOf("sk0"), pieces: pieces("SK"), redact: putting("$1(key)", apiKey)},
		{needs: setOf("sg."), pieces: pieces("SG."), redact: putting("$1(key)", apiKey)},
		{needs: setOf("aa:0"), pieces: pieces(":AA"), redact: putting("$1(token)", botToken)},
		{needs: setOf(".0"), pieces: pieces("M", "N", "O"), redact: longerThan(shortestBot, putting("$1(token)",
			botToken))},
		{needs: setOf("0"), redact: withoutCards},
	}
)

// Short texts without a mark have nothing to redact: without a mark, the shortest match is a web
// token.
const shortest = len("eyJ") + 8

var (
	marks   = setOf("@%?#;=+/\"' ")
	percent = setOf("%")
)

// Text returns s without personal data and secrets.
func Text(s string) string {
	var r Redactor
	return r.Text(s)
}

// Redactor redacts the texts of one trace and reads each distinct text once. The total work is
// bounded: real traces need a few kilobytes. If a trace was crafted to take long, the remaining
// texts are hidden. The zero value is ready to use. A Redactor is not safe for concurrent use.
type Redactor struct {
	texts map[string]string // those that rules had to read
	work  int               // bytes that rules have read
}

// mostWork is the maximum number of bytes that rules read of a trace, counted for each rule. They
// take about a tenth of a second.
const mostWork = 2 << 20

// hidden replaces a text that is too expensive to redact.
const hidden = "(secret)"

// Text returns s without personal data and secrets. Most texts are short names of functions without
// any.
func (r *Redactor) Text(s string) string {
	has := setOf(s)
	if len(s) < shortest && has&marks == 0 {
		return s
	}
	if out, ok := r.texts[s]; ok {
		return out
	}
	if r.work > mostWork {
		return hidden
	}
	before := r.work
	out := r.long(s, has)
	if r.work > before {
		if r.texts == nil {
			r.texts = map[string]string{}
		}
		r.texts[s] = out
	}
	return out
}

// Name is like Text but returns a placeholder instead of an empty name.
func (r *Redactor) Name(s string) string { return cmp.Or(r.Text(s), trie.FrameUnknown) }

// long redacts a text of any length; has is the set of its bytes.
func (r *Redactor) long(s string, has byteSet) string {
	// Removing a secret may leave another secret around it. That does not happen by accident, so
	// after four rounds the text is hidden.
	for range 4 {
		out := s
		if has&percent != 0 {
			out = r.encoded(s)
		}
		if out == s {
			out = r.plain(s, has)
		}
		if out == s {
			return s
		}
		s, has = out, setOf(out)
	}
	return hidden
}

// plain applies the rules to s without decoding it.
func (r *Redactor) plain(s string, has byteSet) string {
	if has&marks != 0 {
		s = r.apply(markedRules, s, has)
	}
	return r.apply(rules, s, has)
}

func (r *Redactor) apply(rules []rule, s string, has byteSet) string {
	for i := range rules {
		x := &rules[i]
		if has&x.needs == x.needs && (x.pieces == nil || hasOne(s, has, x.pieces)) {
			r.work += len(s)
			s = x.redact(s)
		}
	}
	return s
}

// encoded redacts percent-encoded words in their decoded form. Words without secrets stay encoded.
func (r *Redactor) encoded(s string) string {
	r.work += len(s)
	plain := encoded.ReplaceAllStringFunc(s, func(word string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case unicode.IsSpace(r):
				return encodedSpace
			case unicode.IsControl(r):
				return utf8.RuneError
			}
			return r // invalid UTF-8 arrives as RuneError
		}, Unescape(word))
	})
	if out := r.plain(plain, setOf(plain)); out != plain {
		return strings.ReplaceAll(out, string(encodedSpace), "%20")
	}
	return s
}

// putting returns a function that replaces each match of x by instead, in which $1 is the first
// group.
func putting(instead string, x *regexp.Regexp) func(string) string {
	instead = strings.NewReplacer("$1", "${1}", "$2", "${2}").Replace(instead)
	return func(s string) string { return x.ReplaceAllString(s, instead) }
}

// shortestBot is the minimum length of a Discord bot token in bytes.
const shortestBot = 24 + len(".") + 6 + len(".") + 27

// longerThan returns a function that leaves texts shorter than least bytes unchanged.
func longerThan(least int, redact func(string) string) func(string) string {
	return func(s string) string {
		if len(s) < least {
			return s
		}
		return redact(s)
	}
}

// A byteSet is a set of bytes of a text. Upper and lower case of a letter, all digits, all kinds of
// space, and all quotes each share a bit. Other bytes have a bit if a rule needs them.
type byteSet uint64

// bitOf is read-only.
var bitOf = func() (bits [256]byteSet) {
	bit := byteSet(1)
	for _, same := range []string{"0123456789", " \t\n\v\f\r\xa0", "@", "%", "?", "#", ";", "=", "+", "/", "_", "-",
		":", ".", `"'`} {
		for _, b := range []byte(same) { // \xa0 is part of the placeholder for an encoded space
			bits[b] = bit
		}
		bit <<= 1
	}
	for b := 'a'; b <= 'z'; b++ {
		bits[b], bits[b-'a'+'A'] = bit, bit
		bit <<= 1
	}
	return bits
}()

func setOf(s string) (has byteSet) {
	for i := range len(s) {
		has |= bitOf[s[i]]
	}
	return has
}

// A piece is a substring with the set of its bytes.
type piece struct {
	text string
	has  byteSet
}

func pieces(texts ...string) (out []piece) {
	for _, s := range texts {
		out = append(out, piece{s, setOf(s)})
	}
	return out
}

// hasOne reports whether s, whose bytes are in has, contains one of the pieces.
func hasOne(s string, has byteSet, pieces []piece) bool {
	for i := range pieces {
		if p := &pieces[i]; has&p.has == p.has && strings.Contains(s, p.text) {
			return true
		}
	}
	return false
}
