package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkRedacted checks properties of all redacted texts.
func checkRedacted(t *testing.T, s string) {
	t.Helper()
	got := Text(s)
	if again := Text(got); again != got {
		t.Errorf("%q: redacted once %q, twice %q", s, got, again)
	}
	if utf8.ValidString(s) && !utf8.ValidString(got) {
		t.Errorf("%q: got %q, which is not UTF-8", s, got)
	}
	if len(got) > 4*len(s) { // sid=x becomes sid=(secret)
		t.Errorf("%q: got %q, which is %d times as long", s, got, len(got)/len(s))
	}
	if long := new(Redactor).long(s, setOf(s)); long != got {
		t.Errorf("%q: got %q, without the fast path %q", s, got, long)
	}
}

func FuzzRedact(f *testing.F) {
	for i, c := range redactedTexts(f) {
		if i%10 == 0 { // TestRedactCorpus has them all
			f.Add(c.text)
		}
	}
	f.Fuzz(checkRedacted)
}

// planted returns a secret that is found in every context, and the part of it that must be removed.
func planted(r *rand.Rand) (text, secret string) {
	letters := func(n int, from string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[r.IntN(len(from))]
		}
		return string(b)
	}
	const lower, upper = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	word := "zq" + letters(10, lower)
	switch r.IntN(12) {
	case 0:
		return word + "@example.com", word
	case 1:
		return word + "%40mail.example.com", word
	case 2:
		return "https://" + word + ":pw@localhost/x", word
	case 3:
		return "https://x.example/a?" + word, word
	case 4:
		return "/a%3Fu=" + word, word
	case 5:
		return "token=" + word, word
	case 6:
		return `{"password":"` + word + `"}`, word
	case 7:
		return "eyJhbGciOi" + word + "." + word, word
	case 8:
		return "bEaReR " + word, word
	case 9:
		key := letters(16, upper)
		return "AKIA" + key, key
	case 10:
		return "ghp_" + letters(26, lower) + word, word
	}
	card := "411111" + letters(9, "0123456789")
	for d := range 10 {
		if full := card + string(rune('0'+d)); withoutCards(full) != full {
			card = full
			break
		}
	}
	return card, card
}

// TestRedactPlanted puts secrets between words and searches for them in the result.
func TestRedactPlanted(t *testing.T) {
	names, scripts := realTexts(t)
	words := append(names, scripts...)
	for _, c := range redactedTexts(t) {
		if c.text == c.want && !strings.ContainsAny(c.text, `"'`) { // a quote would hide the rest
			words = append(words, c.text)
		}
	}
	between := []string{" ", "\n", " (", " [", ", ", " <", "\u00a0"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		text, secret := planted(r)
		s := words[r.IntN(len(words))] + between[r.IntN(len(between))] + text
		if r.IntN(2) == 0 {
			s += " " + words[r.IntN(len(words))]
		}
		if got := Text(s); strings.Contains(got, secret) {
			t.Errorf("%q: got %q with %q", s, got, secret)
		}
		checkRedacted(t, s)
		if t.Failed() {
			return
		}
	}
}
