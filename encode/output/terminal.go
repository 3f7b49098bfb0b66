package output

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names are untrusted. Written to a terminal unchanged, they could move its cursor, set its title,
// or hide a line behind another.

// Printable returns s as one line that a terminal shows unchanged. Line breaks, and characters that
// move the cursor, change the direction of the text or are invisible, become U+FFFD. A letter keeps
// only its first few combining marks.
func Printable(s string) string { return printable(s, "") }

// PrintableLines is [Printable] for a text of several lines.
func PrintableLines(s string) string { return printable(s, "\n") }

// maxMarks is the maximum number of combining marks of a letter. Vietnamese and Hebrew need three.
const maxMarks = 4

// printable is Printable, except that it keeps the characters in kept.
func printable(s, kept string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	marks := 0
	for _, r := range s { // bytes that are not UTF-8 come as U+FFFD
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case strings.ContainsRune(kept, r) || unicode.IsPrint(r) && !isBlank(r):
			b.WriteRune(r)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// IsInvisible reports whether Printable replaces a character that is not a control character:
// because it is invisible, or changes the direction of the text.
func IsInvisible(r rune) bool {
	return r != utf8.RuneError && utf8.ValidRune(r) && !IsControl(r) && !unicode.Is(unicode.Zs, r) &&
		(!unicode.IsPrint(r) || isBlank(r))
}

// isPlain reports whether s is printable ASCII, like nearly all names.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isBlank reports whether r counts as a letter but is invisible: fillers of Hangul, and the
// empty pattern of Braille.
func isBlank(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800:
		return true
	}
	return false
}

// Terminal returns a writer that filters text for w like [PrintableLines], and also keeps
// tabs. It holds back the bytes of an incomplete character until the rest comes.
func Terminal(w io.Writer) io.Writer { return &terminal{w: w} }

type terminal struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

// Write never writes less than all of p without an error.
func (t *terminal) Write(p []byte) (int, error) {
	text := append(t.rest, p...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				end = len(text) - i
			}
			break
		}
	}
	t.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(t.w, printable(string(text[:end]), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}
