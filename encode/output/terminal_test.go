package output

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a plain name", "renderRow (app.js:1:2)", "renderRow (app.js:1:2)"},
		{"non-Latin scripts", "größe 関数 функция दस्तावेज़ 👍", "größe 関数 функция दस्तावेज़ 👍"},
		{"colours", "\x1b[31mred", "�[31mred"},
		{"a window title", "\x1b]0;title\x07", "�]0;title�"},
		{"a control sequence of one byte", "\u009b31m", "�31m"},
		{"bytes that are not UTF-8", "a\x9b\xff", "a��"},
		{"line breaks and tabs", "a\nb\rc\td\u2028e\u0085f", "a�b�c�d�e�f"},
		{"right-to-left marks", "\u202eevil\u202c\u2066x\u2069\u061c", "�evil��x��"},
		{"invisible characters", "a\u200bb\ufeffc\u00add\U000e0041e", "a�b�c�d�e"},
		{"blank letters", "\u115f\u3164\uffa0\u2800", "����"},
		{"spaces", "a\u00a0b\u3000c", "a b c"},
		{"combining marks", "a" + strings.Repeat("\u0300", 500) + "b\u0301", "a" + strings.Repeat("\u0300", maxMarks) +
			"b\u0301"},
		{"private use", "\ue000", "�"},
		{"NUL and DEL", "\x00\x7f", "��"},
	} {
		if got := Printable(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := PrintableLines("a\nb\x1b\tc"); got != "a\nb��c" {
		t.Errorf("lines: got %q", got)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[0m\u202e\n👍", 3)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		got := Printable(s)
		for _, r := range got {
			if r != utf8.RuneError && !unicode.IsPrint(r) {
				t.Errorf("%q became %q with %U", s, got, r)
			}
		}
		if Printable(got) != got {
			t.Errorf("%q became %q, and that %q", s, got, Printable(got))
		}
		// Written in pieces, the text is the same, except for marks at a cut.
		var b strings.Builder
		w := Terminal(&b)
		cut = min(max(cut, 0), len(s))
		for _, part := range []string{s[:cut], s[cut:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("wrote %d of %d bytes, %v", n, len(part), err)
			}
		}
		for _, r := range b.String() {
			if r != utf8.RuneError && r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q in two pieces became %q with %U", s, b.String(), r)
			}
		}
		if utf8.ValidString(s) && strings.Count(b.String(), "�") != strings.Count(printable(s, "\n\t"), "�") {
			t.Errorf("%q in two pieces became %q", s, b.String())
		}
	})
}
