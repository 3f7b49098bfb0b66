package outline

// TypeScript types contain no functions, so the parser only needs to find their ends.

// typeExpression reads a type.
func (p *parser) typeExpression() {
	if p.deeper() {
		p.anyType()
	}
	p.depth--
}

func (p *parser) anyType() {
	for {
		for p.token.kind == bar || p.token.kind == ampersand {
			p.next()
		}
		p.typeOperand()
		if p.token.kind != bar && p.token.kind != ampersand {
			break
		}
	}
	if p.token.newline {
		return
	}
	switch p.token.kind {
	case wordIs: // x is T
		p.next()
		p.typeExpression()
	case wordExtends: // a condition, or the bound of a type parameter or of infer
		p.next()
		p.typeExpression()
		if p.eat(question) {
			p.typeExpression()
			p.expect(colon)
			p.typeExpression()
		}
	}
}

// typeOperand reads a type without | and & and conditions.
func (p *parser) typeOperand() {
	for p.isTypeOperator() {
		p.next()
	}
	if p.token.kind == less && !p.angle() { // of a function
		p.unclear++
		return
	}
	switch kind := p.token.kind; {
	case kind == parenOpen:
		if p.parenthesizedType() {
			return
		}
	case kind == braceOpen, kind == bracketOpen:
		p.balanced()
	case kind == backtick:
		p.template(typesWithin)
	case kind == sign:
		p.next()
		p.expect(number)
	case kind == wordImport:
		p.next()
		if p.token.kind == parenOpen {
			p.balanced()
		}
	case kind.isWord(), kind == number, kind == quoted:
		p.next()
	default:
		p.unclear++
		return
	}
	p.typeSuffixes()
}

// parenthesizedType reads a type in parentheses, or a whole function type, and reports
// whether it is the latter. After (a | b) an arrow is not part of the type.
func (p *parser) parenthesizedType() (function bool) {
	switch p.next(); p.token.kind {
	case parenClose, ellipsis:
		function = true
	case braceOpen, bracketOpen:
		p.balanced()
		function = p.endsTypeParameter()
	default:
		if p.token.kind.isWord() {
			p.next()
			function = p.endsTypeParameter()
		}
	}
	p.skipToClosing(1)
	if !function || p.token.kind != arrowSign {
		return false
	}
	p.next()
	p.typeExpression()
	return true
}

// endsTypeParameter reports whether the text since a parenthesis is the first parameter of a
// function type.
func (p *parser) endsTypeParameter() bool {
	switch p.token.kind {
	case colon, comma, question, assign:
		return true
	case parenClose:
		return p.arrowSignAt(p.token.end)
	}
	return false
}

// isTypeOperator reports whether the current word is an operator of types and not a type.
func (p *parser) isTypeOperator() bool {
	switch p.token.kind {
	case wordNew:
		return true
	case wordKeyof, wordReadonly, wordUnique, wordInfer, wordAsserts, wordAbstract, wordTypeof:
	default:
		return false
	}
	at, first, newline := p.ahead()
	switch first {
	case '{', '(', '[', '<', '`', '"', '\'':
		return !newline && first != '<' || p.token.kind == wordKeyof
	}
	word := p.wordAhead(at)
	return !newline && word != "" && word != "extends" && word != "is"
}

// typeSuffixes reads the members, arguments and brackets after a type.
func (p *parser) typeSuffixes() {
	for {
		switch p.token.kind {
		case dot:
			p.next()
			p.next()
			continue
		case less, lessLess:
			if p.token.newline {
				return
			}
			if !p.angle() {
				p.unclear++
				return
			}
			continue
		case bracketOpen:
			if !p.token.newline {
				p.balanced()
				continue
			}
		}
		return
	}
}

// angle reads <…>: type parameters, type arguments or a cast. It reports whether it
// understood them.
func (p *parser) angle() bool {
	p.splitToken()
	p.next()
	for !p.token.kind.isGreater() {
		p.typeParameterModifiers()
		p.typeExpression()
		if p.eat(assign) {
			p.typeExpression()
		}
		if !p.eat(comma) && !p.token.kind.isGreater() {
			return false
		}
	}
	p.splitToken()
	p.next()
	return true
}

// splitToken cuts the current token, which begins with < or >, to one byte.
func (p *parser) splitToken() {
	p.token.end = p.token.start + 1
	p.position = p.token.end
}

// typeParameterModifiers reads const, in and out before the name of a type parameter.
func (p *parser) typeParameterModifiers() {
	for p.token.kind == wordConst || p.token.kind == wordIn || p.token.kind == wordOut {
		at, _, _ := p.ahead()
		if word := p.wordAhead(at); word == "" || word == "extends" {
			return
		}
		p.next()
	}
}

// typeList reads types with commas between them.
func (p *parser) typeList() {
	p.typeExpression()
	for p.eat(comma) {
		p.typeExpression()
	}
}

// typeArguments reads <…> after an operand, if these are type arguments and not a
// comparison.
func (p *parser) typeArguments() bool {
	m := p.mark()
	if p.angle() && p.unclear == m.unclear && p.endsTypeArguments() {
		return true
	}
	p.rewind(m)
	return false
}

// endsTypeArguments reports whether the current token can follow type arguments in an expression.
// The rules are from the TypeScript compiler.
func (p *parser) endsTypeArguments() bool {
	switch kind := p.token.kind; {
	case kind == parenOpen, kind == backtick:
		return true
	case kind == less, kind == lessLess, kind.isGreater(), kind == sign:
		return false
	case p.token.newline, kind.isBinary() && kind != slash, kind == wordAs, kind == wordSatisfies:
		return true
	default:
		return !startsExpression(kind)
	}
}

// startsExpression reports whether an expression can begin with a token.
func startsExpression(kind lexeme) bool {
	switch kind {
	case wordExtends, wordCase, wordCatch, wordDefault, wordElse, wordFinally:
		return false
	case privateName, number, quoted, backtick, braceOpen, parenOpen, bracketOpen, at, not, tilde, increment, sign,
		slash, assignSlash, less:
		return true
	}
	return kind.isWord()
}

// genericArrow reports whether < in TSX begins the type parameters of an arrow function and
// not an element: <T,> and <T extends U>.
func (p *parser) genericArrow() bool {
	start, _, _ := p.ahead()
	word := p.wordAhead(start)
	if word == "const" {
		start, _ = p.skipBlanks(start + len(word))
		word = p.wordAhead(start)
	}
	if word == "" {
		return false
	}
	start, _ = p.skipBlanks(start + len(word))
	switch p.byteAt(start) {
	case ',', '=':
		return true
	case 'e':
		if word = p.wordAhead(start); word != "extends" {
			return false
		}
		start, _ = p.skipBlanks(start + len(word))
		c := p.byteAt(start)
		return c != '=' && c != '>' && c != '/'
	}
	return false
}
