package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// byteClass is the meaning of a byte at the start of a token, and elsewhere.
type byteClass uint8

const (
	startsWord byteClass = iota + 1
	digit
	quote
	stands   // a token of one byte in any context, see alone
	operates // begins a token of one byte or more

	firstByte      byteClass = 0x0f // the above
	inWord         byteClass = 0x10 // continues a word
	beyondASCII    byteClass = 0x20 // is part of a letter beyond ASCII or an escape, or of a blank
	mayBeBlank     byteClass = 0x40 // may begin a blank or comment
	endsExpression byteClass = 0x80 // cannot continue an expression
)

// byteClasses has for each byte which kind of token it begins, and flags.
var byteClasses = func() (classes [256]byteClass) {
	for c := range classes {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$':
			classes[c] = startsWord | inWord
		case '0' <= c && c <= '9':
			classes[c] = digit | inWord
		case c == '"' || c == '\'':
			classes[c] = quote
		case alone[c] != eof:
			classes[c] = stands
		case strings.IndexByte(".?=!+-&|*<>/%^", byte(c)) >= 0:
			classes[c] = operates
		case c >= utf8.RuneSelf || c == '\\':
			classes[c] = beyondASCII
		}
		if c >= utf8.RuneSelf || strings.IndexByte(" \t\n\r\v\f/<-", byte(c)) >= 0 {
			classes[c] |= mayBeBlank
		}
		if strings.IndexByte(",;:)]}", byte(c)) >= 0 {
			classes[c] |= endsExpression
		}
	}
	return classes
}()

// alone has the tokens that always have one byte.
var alone = [256]lexeme{
	'{': braceOpen, '}': braceClose,
	'(': parenOpen, ')': parenClose,
	'[': bracketOpen, ']': bracketClose,
	';': semicolon, ',': comma, ':': colon, '@': at, '~': tilde, '`': backtick,
}

// operator returns the token that begins at start with one of .?=!+-&|*<>/%^ and its end.
func (l *lexer) operator(start int) (kind lexeme, end int) {
	first, second, third := l.text[start], l.byteAt(start+1), l.byteAt(start+2)
	switch first {
	case '.':
		switch {
		case second == '.' && third == '.':
			return ellipsis, start + 3
		case byteClasses[second]&firstByte == digit:
			return number, l.numberEnd(start)
		}
		return dot, start + 1
	case '?':
		switch {
		case second == '.' && byteClasses[third]&firstByte != digit:
			return optionalDot, start + 2
		case second != '?':
			return question, start + 1
		}
	case '=':
		switch {
		case second == '>':
			return arrowSign, start + 2
		case second != '=':
			return assign, start + 1
		}
		return binaryOther, start + 2 + equals(third)
	case '!':
		if second != '=' {
			return not, start + 1
		}
		return binaryOther, start + 2 + equals(third)
	case '<':
		return l.lessOperator(start, second, third)
	case '>':
		return l.greaterOperator(start)
	case '+', '-':
		switch second {
		case first:
			return increment, start + 2
		case '=':
			return assignOther, start + 2
		}
		return sign, start + 1
	}
	return l.doubledOperator(start, first, second, third)
}

// equals is 1 for =, which lengthens an operator.
func equals(c byte) int {
	if c == '=' {
		return 1
	}
	return 0
}

func (l *lexer) lessOperator(start int, second, third byte) (kind lexeme, end int) {
	switch {
	case second == '=':
		return binaryOther, start + 2
	case second != '<':
		return less, start + 1
	case third == '=':
		return assignOther, start + 3
	}
	return lessLess, start + 2
}

func (l *lexer) greaterOperator(start int) (kind lexeme, end int) {
	for end = start + 1; end < start+3 && l.byteAt(end) == '>'; end++ {
	}
	switch several := end > start+1; {
	case l.byteAt(end) == '=' && several:
		return assignGreater, end + 1
	case l.byteAt(end) == '=':
		return greaterMore, end + 1
	case several:
		return greaterMore, end
	}
	return greater, end
}

// doubledOperator returns operators that may be doubled, and then may assign with =: & &&
// &&= * ** **=, ?? and ??=.
func (l *lexer) doubledOperator(start int, first, second, third byte) (kind lexeme, end int) {
	if second == first && first != '/' && first != '%' && first != '^' {
		switch {
		case third != '=':
			return binaryOther, start + 2
		case first == '*':
			return assignOther, start + 3
		}
		return assignLogical, start + 3
	}
	assigns := second == '='
	end = start + 1 + equals(second)
	switch {
	case first == '/' && assigns:
		return assignSlash, end
	case assigns:
		return assignOther, end
	case first == '/':
		return slash, end
	case first == '*':
		return star, end
	case first == '&':
		return ampersand, end
	case first == '|':
		return bar, end
	}
	return binaryOther, end
}

// isLineEnd reports whether a character ends a line.
func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

// isBlank reports whether a non-ASCII character is white space.
func isBlank(r rune) bool { return r == '\ufeff' || isLineEnd(r) || unicode.Is(unicode.Zs, r) }
