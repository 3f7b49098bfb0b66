package redact

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/trie"
)

// A rule takes out one kind of what names a person or opens a door, wherever it stands in
// a text. Identifiers of other kinds can not be told from the hashes in the names of
// scripts and releases, which are needed; in pages, where they are not, [PageRules]
// replaces them.
type rule struct {
	needs  byteSet // the rule has nothing to do in texts without all of these
	pieces []piece // nor in texts without one of these, if there are any
	redact func(string) string
}

// The rules are in the order in which they are applied: what is left of a URL is a text
// like others. Those of the first list need one of the marks, which few names have. Both
// are read-only.
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
		{needs: setOf("_"), pieces: pieces("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "_pat_", "k_live_", "k_test_", "whsec_", "npm_", "shp", "do"), redact: putting("$1(key)", apiKey)},
		{needs: setOf("-"), pieces: pieces("xox", "xapp-", "glpat-", "sk-", "key-", "pat-", "sq0"), redact: putting("$1(key)", apiKey)},
		{needs: setOf("sk0"), pieces: pieces("SK"), redact: putting("$1(key)", apiKey)},
		{needs: setOf("sg."), pieces: pieces("SG."), redact: putting("$1(key)", apiKey)},
		{needs: setOf("aa:0"), pieces: pieces(":AA"), redact: putting("$1(token)", botToken)},
		{needs: setOf(".0"), pieces: pieces("M", "N", "O"), redact: longerThan(shortestBot, putting("$1(token)", botToken))},
		{needs: setOf("0"), redact: withoutCards},
	}
)

// What is short and has none of the marks has nothing to redact: without them the shortest
// is a web token.
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

// Redactor redacts the texts of one trace, of which each is looked at once. All that rules have
// to read of a trace is bounded: of real ones it is some kilobytes, and of one that was made to
// take long what is left is not shown. The zero value is ready to use.
type Redactor struct {
	texts map[string]string // those that rules had to read
	work  int               // bytes that rules had to read
}

// mostWork bounds the bytes that rules read of a trace, each rule by itself: that takes them
// about a tenth of a second.
const mostWork = 2 << 20

// hidden stands for a text of which too much is to be taken out.
const hidden = "(secret)"

// Text returns s without personal data and secrets. Most texts are names of functions, which
// are short and have none.
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

// Name returns the redacted text, or what stands for a name of which nothing is left.
func (r *Redactor) Name(s string) string { return cmp.Or(r.Text(s), trie.FrameUnknown) }

// long redacts any text; has is the set of its bytes.
func (r *Redactor) long(s string, has byteSet) string {
	// What is left around something that was taken out may be a secret, again. That is
	// made up, and so is what goes on and on.
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

// plain applies the rules to s as it is.
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

// encoded redacts what is found when percent-encoding is undone. What holds nothing stays
// encoded.
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
			return r // what is not UTF-8 comes as a RuneError
		}, Unescape(word))
	})
	if out := r.plain(plain, setOf(plain)); out != plain {
		return strings.ReplaceAll(out, string(encodedSpace), "%20")
	}
	return s
}

// putting returns a function that replaces each match of x, in which $1 is its first group.
func putting(instead string, x *regexp.Regexp) func(string) string {
	instead = strings.NewReplacer("$1", "${1}", "$2", "${2}").Replace(instead)
	return func(s string) string { return x.ReplaceAllString(s, instead) }
}

// shortestBot is how many bytes the token of a Discord bot has at least.
const shortestBot = 24 + len(".") + 6 + len(".") + 27

// longerThan returns a function that leaves shorter texts as they are.
func longerThan(least int, redact func(string) string) func(string) string {
	return func(s string) string {
		if len(s) < least {
			return s
		}
		return redact(s)
	}
}

// A byteSet tells which bytes a text has. Letters are without case, digits are one, and so
// are all kinds of space and of quotes; of other bytes there are those that rules need.
type byteSet uint64

// bitOf is read-only.
var bitOf = func() (bits [256]byteSet) {
	bit := byteSet(1)
	for _, same := range []string{"0123456789", " \t\n\v\f\r\xa0", "@", "%", "?", "#", ";", "=", "+", "/", "_", "-", ":", ".", `"'`} {
		for _, b := range []byte(same) { // \xa0 is in what stands for an encoded space
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

// A piece is a part of a text, and its bytes.
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

// hasOne reports whether s, which has the bytes of a set, has one of the pieces.
func hasOne(s string, has byteSet, pieces []piece) bool {
	for i := range pieces {
		if p := &pieces[i]; has&p.has == p.has && strings.Contains(s, p.text) {
			return true
		}
	}
	return false
}
