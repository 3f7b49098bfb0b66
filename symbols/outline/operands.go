package outline

import "strings"

// primary reads an operand without suffixes.
func (p *parser) primary() value {
	start := p.token.start
	switch kind := p.token.kind; kind {
	case wordAsync:
		return p.asyncOrName()
	case wordThis, wordSuper, wordImport:
		v := value{kind: keyword, a: start, b: p.token.end}
		p.next()
		return v
	case wordFunction:
		return p.function(start)
	case wordClass:
		return p.class()
	case wordLiteral, number, quoted, privateName:
		p.next()
	case backtick:
		p.template(expressionsWithin)
	case parenOpen:
		return p.parenthesized()
	case bracketOpen:
		p.array()
	case braceOpen:
		p.object()
	case slash, assignSlash:
		end := p.regexEnd(start)
		p.noteLiteral(start, end)
		p.resume(end)
	case at:
		p.decorators()
		if p.token.kind == wordClass {
			return p.class()
		}
	case less:
		if p.jsx {
			p.resume(p.jsxElement())
			break
		}
		p.unclear++
	default:
		if kind.isName() {
			return p.nameOrArrow(start)
		}
		p.unclear++
	}
	return value{}
}

// nameOrArrow reads a name, or the arrow function with that name as its only parameter.
func (p *parser) nameOrArrow(start int) value {
	v := value{kind: variable, a: p.token.start, b: p.token.end}
	p.next()
	if p.token.kind == arrowSign && !p.token.newline {
		return p.arrow(start, 1)
	}
	return v
}

// asyncOrName reads an operand that begins with async: a function, an arrow function, a call
// of async, or the name.
func (p *parser) asyncOrName() value {
	start := p.token.start
	at, first, newline := p.ahead()
	switch {
	case newline:
	case first == '(':
		callee := value{kind: variable, a: start, b: p.token.end}
		p.next()
		v, count, annotated := p.arguments(callee, noArgument)
		if a, isArrow := p.arrowAfter(start, count, annotated || count == 0); isArrow {
			return a
		}
		return v
	case first == '<' && p.types:
		m := p.mark()
		p.next()
		if p.angle() && p.token.kind == parenOpen {
			_, count, annotated := p.arguments(value{}, noArgument)
			if v, isArrow := p.arrowAfter(start, count, annotated); isArrow {
				return v
			}
		}
		p.rewind(m)
	default:
		word := p.wordAhead(at)
		if word == "function" {
			p.next()
			return p.function(start)
		}
		if word != "" && p.arrowSignAt(at+len(word)) {
			p.next()
			return p.nameOrArrow(start)
		}
	}
	return p.nameOrArrow(start)
}

// arrowSignAt reports whether => comes next after an offset.
func (p *parser) arrowSignAt(offset int) bool {
	at, newline := p.skipBlanks(offset)
	return !newline && strings.HasPrefix(p.text[at:], "=>")
}

// parenthesized reads an expression in parentheses, or the arrow function with these
// parameters. A function in parentheses gets the name that they are bound to.
func (p *parser) parenthesized() value {
	start, count, annotated := p.token.start, 0, false
	var v value
	outer := p.enclose()
	p.next()
	for p.more(parenClose) {
		elementStart := p.token.start
		element, typed := p.element()
		v, annotated = element, annotated || typed
		count++
		if !p.separator(parenClose, elementStart) {
			break
		}
	}
	p.expect(parenClose)
	p.colonFollows = outer
	if a, isArrow := p.arrowAfter(start, count, annotated || count == 0); isArrow {
		return a
	}
	switch {
	case count == 1 && v.kind == arrowFunction:
		v.kind = definition
	case count != 1 || v.kind == finished:
		v = value{}
	}
	return v
}

// arrowAfter reads the rest of an arrow function after its parameters, if this is one. Types
// among the parameters make it certain; otherwise a colon after them need not begin its
// return type.
func (p *parser) arrowAfter(start, count int, certain bool) (v value, isArrow bool) {
	switch {
	case p.token.kind == arrowSign:
		if p.token.newline {
			return value{}, false
		}
		return p.arrow(start, count), true
	case p.token.kind != colon || !p.types:
		return value{}, false
	}
	// In a ? (b) : c => d the colon belongs to the conditional, unless another colon follows
	// the function.
	ambiguous := p.colonFollows && !certain
	m := p.mark()
	p.next()
	p.typeExpression()
	if p.token.kind == arrowSign && p.unclear == m.unclear {
		v = p.arrow(start, count)
		if !ambiguous || p.token.kind == colon && p.unclear == m.unclear {
			return v, true
		}
	}
	p.rewind(m)
	return value{}, false
}

// array reads an array, or a pattern that looks like one.
func (p *parser) array() {
	outer := p.enclose()
	p.next()
	for p.more(bracketClose) {
		if p.eat(comma) {
			continue
		}
		start := p.token.start
		p.eat(ellipsis)
		p.assignment()
		if !p.separator(bracketClose, start) {
			break
		}
	}
	p.expect(bracketClose)
	p.colonFollows = outer
}

// within is the content of a template's ${…}.
type within bool

const (
	expressionsWithin within = false
	typesWithin       within = true
)

// template reads a template.
func (p *parser) template(content within) {
	outer := p.enclose()
	for {
		start := p.token.end
		end, open := p.templatePart(start)
		p.noteLiteral(start, end)
		p.resume(end)
		if !open {
			break
		}
		if content == typesWithin {
			p.typeExpression()
		} else {
			p.expression()
		}
		if p.token.kind != braceClose {
			p.unclear++
			for p.token.kind != eof && p.token.kind != braceClose {
				p.next()
			}
		}
		if p.token.kind == eof {
			break
		}
	}
	p.colonFollows = outer
}

// templatePart returns the end of a template's text, and whether it ends at ${.
func (p *parser) templatePart(i int) (end int, open bool) {
	text := p.text
	for ; i < len(text); i++ {
		switch text[i] {
		case '`':
			return i + 1, false
		case '$':
			if p.byteAt(i+1) == '{' {
				return i + 2, true
			}
		case '\\':
			i++
		}
	}
	return len(text), false
}
