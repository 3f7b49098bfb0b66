package outline

import (
	"strings"
	"unicode/utf8"
)

// token is a piece of the text.
type token struct {
	kind       lexeme
	newline    bool // a line ends before it
	start, end int
}

// lexer cuts a text into tokens, one at a time. Regular expressions, templates and the text
// of JSX begin where only the parser knows; it reads them itself and goes on with resume.
type lexer struct {
	text         string
	position     int // where the token after the present one is looked for
	last         int // end of the token before the present one
	token        token
	budget       int // tokens that may still be read
	htmlComments bool
	err          error // why it stopped; the rest of the text is then taken for read
}

// stop ends the text here, so that all loops over tokens end.
func (l *lexer) stop(err error) {
	if l.err == nil {
		l.err = err
	}
	end := len(l.text)
	l.position, l.last, l.token = end, end, token{kind: eof, start: end, end: end}
}

// resume goes on with the token after an offset, up to which the parser has read itself.
func (l *lexer) resume(offset int) {
	l.position = min(offset, len(l.text))
	l.token.end = l.position
	l.next()
}

// skipHashbang skips the first line of a script for Unix.
func (l *lexer) skipHashbang() {
	rest := strings.TrimPrefix(l.text, "\ufeff")
	l.position = len(l.text) - len(rest)
	if strings.HasPrefix(rest, "#!") {
		l.position = l.lineEnd(l.position)
	}
}

// next goes on to the next token.
func (l *lexer) next() {
	l.last = l.token.end
	if l.budget--; l.budget < 0 {
		l.stop(ErrWork)
		return
	}
	text := l.text
	start, newline := l.position, false
	if start < len(text) && byteClasses[text[start]]&mayBeBlank != 0 {
		start, newline = l.skipBlanks(start)
	}
	if start >= len(text) {
		l.position = len(text)
		l.token = token{kind: eof, newline: newline, start: start, end: start}
		return
	}
	kind, end := unknown, start+1
	c := text[start]
	switch byteClasses[c] & firstByte {
	case startsWord:
		for end < len(text) && byteClasses[text[end]]&inWord != 0 {
			end++
		}
		switch {
		case end < len(text) && byteClasses[text[end]]&beyondASCII != 0:
			kind, end = identifier, l.wordEnd(end)
		case end == start+1:
			kind = identifier
		default:
			kind = wordKind(text[start:end])
		}
	case stands:
		kind = alone[c]
	case digit:
		kind, end = number, l.numberEnd(start)
	case quote:
		kind, end = quoted, l.stringEnd(start)
	case operates:
		kind, end = l.operator(start)
	default:
		switch {
		case c == '#':
			kind, end = privateName, l.wordEnd(end)
		case byteClasses[c]&beyondASCII != 0:
			kind, end = identifier, max(l.wordEnd(start), end)
		}
	}
	l.position = end
	l.token = token{kind: kind, newline: newline, start: start, end: end}
}

// ahead returns where the token after the present one begins, its first byte, which is 0 at
// the end of the text, and whether a line ends before it.
func (l *lexer) ahead() (start int, first byte, newline bool) {
	start = l.position
	if start < len(l.text) && byteClasses[l.text[start]]&mayBeBlank != 0 {
		start, newline = l.skipBlanks(start)
	}
	return start, l.byteAt(start), newline
}

// wordAhead returns the word that begins at an offset, "" if none does.
func (l *lexer) wordAhead(start int) string {
	if start >= len(l.text) {
		return ""
	}
	if class := byteClasses[l.text[start]]; class&firstByte != startsWord && class&beyondASCII == 0 {
		return ""
	}
	return l.text[start:l.wordEnd(start)]
}

// byteAt returns a byte of the text, 0 beyond its end.
func (l *lexer) byteAt(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

// skipBlanks returns the first offset from i that is no blank and no comment, and whether a
// line ends before it.
func (l *lexer) skipBlanks(i int) (at int, newline bool) {
	text := l.text
	for i < len(text) {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '\n' || c == '\r':
			newline = true
			i++
		case c == '/':
			end, lines := l.commentEnd(i)
			if end == i {
				return i, newline
			}
			i, newline = end, newline || lines
		case c == '\v' || c == '\f':
			i++
		case c == '<' && l.htmlComments && strings.HasPrefix(text[i:], "<!--"):
			i = l.lineEnd(i)
		case c == '-' && l.htmlComments && newline && strings.HasPrefix(text[i:], "-->"):
			i = l.lineEnd(i)
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			if !isBlank(r) {
				return i, newline
			}
			newline = newline || isLineEnd(r)
			i += size
		default:
			return i, newline
		}
	}
	return len(text), newline
}

// commentEnd returns where the comment ends that begins with the slash at i, i if none
// does, and whether a line ends within it.
func (l *lexer) commentEnd(i int) (end int, newline bool) {
	switch l.byteAt(i + 1) {
	case '/':
		return l.lineEnd(i), false
	case '*':
		length := strings.Index(l.text[i+2:], "*/")
		if length < 0 {
			return len(l.text), false
		}
		comment := l.text[i+2 : i+2+length]
		return i + 2 + length + 2, strings.ContainsAny(comment, "\n\r") || strings.Contains(comment, "\u2028") || strings.Contains(comment, "\u2029")
	}
	return i, false
}

// lineEnd returns where the line with offset i ends, before what ends it.
func (l *lexer) lineEnd(i int) int {
	for ; i < len(l.text); i++ {
		c := l.text[i]
		if c == '\n' || c == '\r' || c == 0xe2 && (strings.HasPrefix(l.text[i:], "\u2028") || strings.HasPrefix(l.text[i:], "\u2029")) {
			break
		}
	}
	return i
}

// wordEnd returns where the word ends that i is in. It knows escapes and all of Unicode:
// what is neither ASCII nor blank is taken for a letter.
func (l *lexer) wordEnd(i int) int {
	text := l.text
	for i < len(text) {
		c := text[i]
		switch {
		case byteClasses[c]&inWord != 0:
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			if isBlank(r) {
				return i
			}
			i += size
		case c == '\\' && strings.HasPrefix(text[i:], `\u{`):
			length := strings.IndexByte(text[i:min(i+16, len(text))], '}')
			if length < 0 {
				return i
			}
			i += length + 1
		case c == '\\' && l.byteAt(i+1) == 'u':
			i += 2
		default:
			return i
		}
	}
	return i
}

// numberEnd returns where the number ends that begins at i.
func (l *lexer) numberEnd(i int) int {
	text := l.text
	decimal := text[i] != '0' || l.byteAt(i+1)|' ' != 'x'
	point := false
	for i < len(text) {
		c := text[i]
		switch {
		case c == '.' && decimal && !point:
			point = true
		case byteClasses[c]&inWord == 0:
			return i
		case c|' ' == 'e' && decimal && (l.byteAt(i+1) == '+' || l.byteAt(i+1) == '-'):
			i++
		}
		i++
	}
	return i
}

// stringEnd returns where the string ends that begins at i. It ends with the line, unless
// that is escaped.
func (l *lexer) stringEnd(i int) int {
	text := l.text
	delimiter := text[i]
	for i++; i < len(text); i++ {
		switch text[i] {
		case delimiter:
			return i + 1
		case '\n', '\r':
			return i
		case '\\':
			i++
			if i+1 < len(text) && text[i] == '\r' && text[i+1] == '\n' {
				i++
			}
		}
	}
	return len(text)
}

// regexEnd returns where the regular expression ends that begins at i, with its flags.
func (l *lexer) regexEnd(i int) int {
	text := l.text
	class := false
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\n', '\r':
			return i
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return l.wordEnd(i + 1)
			}
		}
	}
	return len(text)
}
