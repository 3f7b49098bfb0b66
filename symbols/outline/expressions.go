package outline

// expression reads an expression with commas.
func (p *parser) expression() {
	p.assignment()
	for p.eat(comma) {
		p.assignment()
	}
}

// assignment reads an expression without commas.
func (p *parser) assignment() (v value) {
	if p.isAll() {
		if p.token.kind == identifier {
			v = value{kind: variable, a: p.token.start, b: p.token.end}
		}
		p.next()
		return v
	}
	if p.deeper() {
		v = p.conditional()
		for p.token.kind.isAssignment() && !v.ends() {
			names := p.token.kind == assign || p.token.kind == assignLogical
			target := v
			p.next()
			v = p.conditional()
			if names {
				p.bindTo(v, target)
			}
			if !p.token.kind.isAssignment() {
				v = value{}
			}
		}
	}
	p.depth--
	return v
}

// isAll reports whether the current token is certainly a whole expression. Most expressions
// are this short and can skip the full grammar.
func (p *parser) isAll() bool {
	switch p.token.kind {
	case identifier, number, quoted, wordLiteral:
		return p.position < len(p.text) && byteClasses[p.text[p.position]]&endsExpression != 0
	}
	return false
}

// conditional reads an expression without assignments, except those within a ? b : c. It
// ignores the precedence of operators: only the functions matter.
func (p *parser) conditional() value {
	v := p.unary()
	for !v.ends() {
		switch kind := p.token.kind; {
		case kind.isBinary():
			p.next()
			v = operand(p.unary())
		case kind == question:
			if p.types && p.optionalMark() {
				return v
			}
			p.consequent()
			// In a ? b : c = d, the last operand is assigned to.
			if v = p.unary(); v.kind != variable && v.kind != memberReference {
				v = operand(v)
			}
		case p.types && (kind == wordAs || kind == wordSatisfies) && !p.token.newline:
			p.next()
			p.typeExpression()
		default:
			return v
		}
	}
	return v
}

// operand is the value of an expression whose last token is an operand.
func operand(v value) value {
	if v.ends() {
		return value{kind: finished}
	}
	return value{}
}

// consequent reads ? b : of a conditional.
func (p *parser) consequent() {
	outer := p.colonFollows
	p.colonFollows = true
	p.next()
	p.assignment()
	p.colonFollows = outer
	p.expect(colon)
}

// optionalMark reports whether the current question mark marks an optional parameter.
func (p *parser) optionalMark() bool {
	_, first, _ := p.ahead()
	return first == ':' || first == ',' || first == ')'
}

// unary reads an operand with the operators before and after it.
func (p *parser) unary() value {
	prefixed := false
	for {
		switch p.token.kind {
		case not, tilde, sign, increment, wordTypeof, wordVoid, wordDelete:
			prefixed = true
			p.next()
			continue
		case wordAwait:
			if p.awaits() {
				prefixed = true
				p.next()
				continue
			}
		case wordYield:
			if p.generator {
				p.next()
				if p.yieldEnds() {
					return value{kind: finished}
				}
				prefixed = true
				p.eat(star)
				continue
			}
		case less:
			if p.types && (!p.jsx || p.genericArrow()) {
				v, isArrow := p.cast()
				if !isArrow {
					continue
				}
				if prefixed {
					return value{kind: finished}
				}
				return v
			}
		}
		break
	}
	v := p.leftHandSide()
	if p.token.kind == increment && !p.token.newline && !v.ends() {
		p.next()
		return value{}
	}
	if prefixed {
		return operand(v)
	}
	return v
}

// awaits reports whether the current await is an operator and not a name.
func (p *parser) awaits() bool {
	start, first, _ := p.ahead()
	switch first {
	case 0, ')', ']', '}', ',', ';', ':', '=', '.', '?', '*', '%', '&', '|', '^', '<', '>':
		return first == '<' && p.jsx
	case 'i':
		word := p.wordAhead(start)
		return word != "in" && word != "instanceof"
	}
	return true
}

// yieldEnds reports whether yield has no operand.
func (p *parser) yieldEnds() bool {
	switch p.token.kind {
	case eof, parenClose, bracketClose, braceClose, comma, semicolon, colon, wordIn, wordOf, question:
		return true
	}
	return p.token.newline
}

// cast reads <T> before an operand, or an arrow function that begins with it.
func (p *parser) cast() (v value, isArrow bool) {
	start := p.token.start
	if !p.angle() {
		p.unclear++
	}
	if p.token.kind != parenOpen {
		return value{}, false
	}
	m := p.mark()
	_, count, annotated := p.arguments(value{}, noArgument)
	if v, isArrow = p.arrowAfter(start, count, annotated); !isArrow {
		p.rewind(m)
	}
	return v, isArrow
}

// leftHandSide reads an operand with its members, calls and new.
func (p *parser) leftHandSide() value {
	news := 0
	for p.token.kind == wordNew {
		p.next()
		if p.eat(dot) { // new.target
			p.next()
			return p.suffixes(value{}, news)
		}
		news++
	}
	v := p.primary()
	if v.ends() {
		return v
	}
	return p.suffixes(v, news)
}

// suffixes reads the members, calls and templates after an operand. The first calls belong
// to the news before the operand.
func (p *parser) suffixes(v value, news int) value {
	chain := noArgument
	if v.kind == call {
		chain = v.a
	}
	for {
		switch p.token.kind {
		case dot:
			p.next()
			v = p.memberName()
			continue
		case parenOpen:
			v, _, _ = p.arguments(v, chain)
			chain = v.a
			news = max(news-1, 0)
			continue
		case bracketOpen:
			v = p.computedMember()
			continue
		case optionalDot:
			if p.next(); p.token.kind.isWord() || p.token.kind == privateName {
				v = p.memberName()
			}
			continue
		case backtick:
			p.template(expressionsWithin)
			v = value{}
			continue
		case not:
			if p.types && !p.token.newline {
				p.next()
				continue
			}
		case less, lessLess:
			if p.types && p.typeArguments() {
				continue
			}
		}
		if news > 0 { // without arguments
			return value{}
		}
		return v
	}
}

// memberName reads the name of a member after its dot.
func (p *parser) memberName() value {
	if !p.token.kind.isWord() && p.token.kind != privateName {
		p.unclear++
		return value{}
	}
	v := value{kind: memberReference, a: p.token.start, b: p.token.end}
	p.next()
	return v
}

// computedMember reads a member in brackets. It has a name if that is a string.
func (p *parser) computedMember() value {
	outer := p.enclose()
	p.next()
	kind, start, end := p.token.kind, p.token.start, p.token.end
	p.expression()
	literal := kind == quoted && p.last == end
	p.expect(bracketClose)
	p.colonFollows = outer
	if !literal {
		return value{}
	}
	return value{kind: memberReference, a: start, b: end}
}
