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

// lexer cuts a text into tokens, one at a time. Only the parser knows where regular
// expressions, templates and the text of JSX begin; it reads them itself and continues with
// resume.
type lexer struct {
	text         string
	position     int // where the search for the next token begins
	last         int // end of the previous token
	token        token
	budget       int // remaining number of tokens
	htmlComments bool
	err          error // why it stopped; the remaining text is skipped
	comments     []Span
	literals     []Span
}

// stop ends the text here, so that all loops over tokens end.
func (l *lexer) stop(err error) {
	if l.err == nil {
		l.err = err
	}
	end := len(l.text)
	l.position, l.last, l.token = end, end, token{kind: eof, start: end, end: end}
}

// resume continues with the token after an offset. The parser has read the text up to there itself.
func (l *lexer) resume(offset int) {
	l.position = min(offset, len(l.text))
	l.token.end = l.position
	l.next()
}

// skipHashbang skips a #! line at the start.
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
		l.noteComment(l.position, start)
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
		l.noteLiteral(start, end)
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

// noteComment records skipped text if it contains a comment.
func (l *lexer) noteComment(start, end int) {
	if end-start > 1 && strings.ContainsAny(l.text[start:end], "/<-") {
		l.comments = append(l.comments, Span{start, end})
	}
}

func (l *lexer) noteLiteral(start, end int) { l.literals = append(l.literals, Span{start, end}) }

// ahead returns the start of the token after the current one, its first byte, which is 0 at
// the end of the text, and whether a line ends before it.
func (l *lexer) ahead() (start int, first byte, newline bool) {
	start = l.position
	if start < len(l.text) && byteClasses[l.text[start]]&mayBeBlank != 0 {
		start, newline = l.skipBlanks(start)
	}
	return start, l.byteAt(start), newline
}

// wordAhead returns the word at an offset, or "".
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

// skipBlanks returns the first offset from i on that is neither blank nor comment, and
// whether a line ends before it.
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

// commentEnd returns the end of the comment that begins with the slash at i, or i if there
// is none, and whether a line ends within it.
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
		return i + 2 + length + 2, strings.ContainsAny(comment, "\n\r") || strings.Contains(comment, "\u2028") ||
			strings.Contains(comment, "\u2029")
	}
	return i, false
}

// lineEnd returns the end of the line with offset i, before its line end.
func (l *lexer) lineEnd(i int) int {
	for ; i < len(l.text); i++ {
		c := l.text[i]
		if c == '\n' || c == '\r' || c == 0xe2 && (strings.HasPrefix(l.text[i:], "\u2028") ||
			strings.HasPrefix(l.text[i:], "\u2029")) {
			break
		}
	}
	return i
}

// wordEnd returns the end of the word at i, with escapes and all of Unicode: a character that is
// neither ASCII nor blank counts as a letter.
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

// stringEnd returns the end of the string at i. A string ends with the line, unless the
// line end is escaped.
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

// regexEnd returns the end of the regular expression at i, with its flags.
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
