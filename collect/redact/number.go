package redact

import (
	"regexp"
	"strings"
)

// shortestCard is the minimum number of digits of a payment card, and thus of bytes.
const shortestCard = 13

// withoutCards replaces numbers of payment cards.
func withoutCards(s string) string {
	var b strings.Builder
	end := 0
	for i := 0; i+shortestCard <= len(s); i++ {
		if last := i + shortestCard - 1; !inCard[s[last]] {
			i = last // any number that starts before this ends later
			continue
		}
		if !digit(rune(s[i])) || i > 0 && digit(rune(s[i-1])) {
			continue
		}
		n := cardAt(s[i:])
		if n == 0 || isFraction(s[:i]) || inHash(s, i, i+n) {
			continue
		}
		b.WriteString(s[end:i])
		b.WriteString("(card)")
		end = i + n
		i = end - 1
	}
	if end == 0 {
		return s
	}
	b.WriteString(s[end:])
	return b.String()
}

// inCard marks the bytes of card numbers: digits and separators between groups of digits. It is
// read-only.
var inCard = func() (is [256]bool) {
	for _, b := range []byte("0123456789 -+." + string(encodedSpace)) {
		is[b] = true
	}
	return is
}()

// cardAt returns the length of the card number at the start of s, or 0 if there is none. A space or
// dash may separate groups of at least three digits; the last group may be shorter. Dates have
// shorter groups.
func cardAt(s string) (length int) {
	var digits [19]byte
	n, group := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case digit(rune(s[i])):
			if n == len(digits) {
				return length
			}
			digits[n] = s[i] - '0'
			n++
			group++
			if (i+1 == len(s) || !digit(rune(s[i+1]))) && isCard(digits[:n]) {
				length = i + 1
			}
		case group == 4 && s[i] == '.': // version numbers have shorter or longer groups
			group = 0
		case group >= 3 && (s[i] == ' ' || s[i] == '-' || s[i] == '+'):
			group = 0
		case group >= 3 && strings.HasPrefix(s[i:], string(encodedSpace)):
			group = 0
			i++
		default:
			return length
		}
	}
	return length
}

// isCard reports whether digits have a known prefix of an issuer, the right length and a valid
// check digit. Timestamps in milliseconds and calendar times have no such prefix.
func isCard(digits []byte) bool {
	if len(digits) < shortestCard || !issued(digits) {
		return false
	}
	sum := 0
	for i, d := range digits {
		if (len(digits)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += int(d)
	}
	return sum%10 == 0
}

// issued reports whether an issuer uses this prefix with this number of digits.
func issued(digits []byte) bool {
	n := len(digits)
	first := 0
	for _, d := range digits[:4] {
		first = 10*first + int(d)
	}
	switch two := first / 100; {
	case two/10 == 4: // Visa
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, first >= 2221 && first <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case two == 36, two == 38, two == 39, first >= 3000 && first <= 3059: // Diners Club
		return n >= 14
	case two == 35: // JCB
		return n >= 16
	case two == 62, two == 65, two == 60, two == 64: // UnionPay, Discover
		return n >= 16
	case two == 50, two >= 56 && two <= 69: // Maestro
		return n == 16 || n >= 18
	}
	return false
}

// isFraction reports whether digits after s are a decimal fraction.
func isFraction(s string) bool {
	n := len(s)
	return n >= 2 && s[n-1] == '.' && digit(rune(s[n-2]))
}

// inHash reports whether s[from:to] is part of a hexadecimal word.
func inHash(s string, from, to int) bool {
	letters := false
	for ; from > 0 && isLetter(s[from-1]); from-- {
		letters = true
		if _, ok := unhex(s[from-1]); !ok {
			return false
		}
	}
	for ; to < len(s) && isLetter(s[to]); to++ {
		letters = true
		if _, ok := unhex(s[to]); !ok {
			return false
		}
	}
	return letters
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

var phone = regexp.MustCompile(`\+[1-9](?:(?:[ .()-]|\x{a0}){0,3}\d){7,14}`)

// withoutPhones replaces phone numbers in international form. A + within a word, as in
// 1.2.3+20261122, does not start one.
func withoutPhones(s string) string {
	return replace(s, phone, func(from, to int) bool {
		return (from == 0 || !isWord(s[from-1])) && (to == len(s) || !isWord(s[to]))
	}, "(phone)")
}

func isWord(b byte) bool { return isLetter(b) || digit(rune(b)) || b == '_' }

// Unescape removes percent-encoding, even if it was applied several times.
func Unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%'; n = len(out) {
			high, ok := unhex(out[n-2])
			low, ok2 := unhex(out[n-1])
			if !ok || !ok2 {
				break
			}
			out = append(out[:n-3], high<<4|low)
		}
	}
	return string(out)
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
