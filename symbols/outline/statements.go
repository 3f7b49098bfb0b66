package outline

// statement reads a statement or declaration.
func (p *parser) statement() {
	if p.deeper() {
		before := p.position
		p.anyStatement()
		if p.position == before && p.token.kind != eof { // the token was not understood
			p.next()
		}
	}
	p.depth--
}

func (p *parser) anyStatement() {
	switch kind := p.token.kind; kind {
	case braceOpen:
		p.block()
	case semicolon:
		p.next()
	case at:
		p.decorators()
		p.statement()
	case wordFunction:
		p.function(p.token.start)
	case wordClass:
		p.class()
	case wordVar:
		p.next()
		p.declarators()
		p.semicolon()
	case wordConst:
		p.next()
		if p.types && p.token.kind == wordEnum {
			p.enum()
			return
		}
		p.declarators()
		p.semicolon()
	case wordIf, wordFor, wordWhile, wordWith, wordDo, wordSwitch, wordTry:
		p.controlStatement(kind)
	case wordReturn, wordThrow:
		p.next()
		if p.token.kind != semicolon && p.token.kind != braceClose && p.token.kind != eof && !p.token.newline {
			p.expression()
		}
		p.semicolon()
	case wordBreak, wordContinue, wordDebugger:
		p.next()
		if p.token.kind.isName() && !p.token.newline {
			p.next()
		}
		p.semicolon()
	case wordEnum:
		p.enum()
	case wordExport:
		p.exports()
	case wordImport:
		if _, first, _ := p.ahead(); first == '(' || first == '.' {
			p.expressionStatement()
		} else {
			p.imports()
		}
	default:
		if !kind.isName() || !p.nameStatement(kind) {
			p.expressionStatement()
		}
	}
}

func (p *parser) expressionStatement() {
	p.expression()
	p.semicolon()
}

// semicolon reads the end of a statement, which may be the end of the line.
func (p *parser) semicolon() {
	if p.eat(semicolon) || p.token.newline || p.token.kind == braceClose || p.token.kind == eof {
		return
	}
	p.unclear++
}

func (p *parser) block() {
	p.expect(braceOpen)
	for p.more(braceClose) {
		p.statement()
	}
	p.expect(braceClose)
}

// condition reads an expression in the parentheses of a statement.
func (p *parser) condition() {
	p.expect(parenOpen)
	p.expression()
	p.expect(parenClose)
}

func (p *parser) controlStatement(kind lexeme) {
	p.next()
	switch kind {
	case wordIf:
		p.ifBranches()
	case wordFor:
		p.forHead()
		p.statement()
	case wordWhile, wordWith:
		p.condition()
		p.statement()
	case wordDo:
		p.statement()
		p.expect(wordWhile)
		p.condition()
		p.eat(semicolon)
	case wordSwitch:
		p.condition()
		p.cases()
	case wordTry:
		p.tryBlocks()
	}
}

// ifBranches reads all branches of an if from its condition on. It loops over chains of
// else if, which can be long, instead of nesting them.
func (p *parser) ifBranches() {
	for {
		p.condition()
		p.statement()
		if !p.eat(wordElse) {
			return
		}
		if !p.eat(wordIf) {
			p.statement()
			return
		}
	}
}

// forHead reads a for up to its body.
func (p *parser) forHead() {
	p.eat(wordAwait)
	p.expect(parenOpen)
	switch kind := p.token.kind; {
	case kind == wordVar || kind == wordConst:
		p.next()
		p.declarators()
	case kind == wordLet && p.declares(), kind == wordUsing && p.declares():
		p.next()
		p.declarators()
	case kind == wordAwait && p.awaitUsing():
		p.next()
		p.next()
		p.declarators()
	case kind != semicolon:
		p.expression()
	}
	switch p.token.kind {
	case wordOf:
		p.next()
		p.assignment()
	case wordIn:
		p.next()
		p.expression()
	default:
		for p.eat(semicolon) {
			if p.token.kind != semicolon && p.token.kind != parenClose {
				p.expression()
			}
		}
	}
	p.expect(parenClose)
}

// cases reads the body of a switch.
func (p *parser) cases() {
	p.expect(braceOpen)
	for p.more(braceClose) {
		switch p.token.kind {
		case wordCase:
			p.next()
			outer := p.colonFollows
			p.colonFollows = true
			p.expression()
			p.colonFollows = outer
			p.expect(colon)
		case wordDefault:
			p.next()
			p.expect(colon)
		default:
			p.statement()
		}
	}
	p.expect(braceClose)
}

// tryBlocks reads the blocks of a try.
func (p *parser) tryBlocks() {
	p.block()
	if p.eat(wordCatch) {
		if p.eat(parenOpen) {
			p.initializer(p.bindingTarget())
			p.expect(parenClose)
		}
		p.block()
	}
	if p.eat(wordFinally) {
		p.block()
	}
}

// nameStatement reads a statement that begins with a contextual keyword, or with a label.
// It reports whether it is one.
func (p *parser) nameStatement(kind lexeme) bool {
	at, first, newline := p.ahead()
	if first == ':' {
		p.next()
		p.next()
		p.statement()
		return true
	}
	switch kind {
	case wordAsync:
		if newline || p.wordAhead(at) != "function" {
			return false
		}
		start := p.token.start
		p.next()
		p.function(start)
		return true
	case wordLet, wordUsing:
		if !p.declares() {
			return false
		}
		p.next()
		p.declarators()
		p.semicolon()
		return true
	case wordAwait:
		if !p.awaitUsing() {
			return false
		}
		p.next()
		p.next()
		p.declarators()
		p.semicolon()
		return true
	}
	return p.types && p.typeStatement(kind)
}

// declares reports whether the current let or using begins a declaration and is not a name.
func (p *parser) declares() bool {
	at, first, newline := p.ahead()
	if p.token.kind == wordLet && (first == '[' || first == '{') {
		return true
	}
	return (p.token.kind == wordLet || !newline) && p.declaresWord(at)
}

// declaresWord reports whether the word at an offset is a declared name.
func (p *parser) declaresWord(at int) bool {
	switch word := p.wordAhead(at); word {
	case "", "in", "instanceof", "as", "satisfies":
		return word == "as" || word == "satisfies"
	case "of": // of a for loop over a variable named using, or a name
		return p.token.kind == wordLet
	}
	return true
}

// awaitUsing reports whether the current await begins a declaration.
func (p *parser) awaitUsing() bool {
	at, first, newline := p.ahead()
	if first != 'u' || newline || p.wordAhead(at) != "using" {
		return false
	}
	at, newline = p.skipBlanks(at + len("using"))
	return !newline && p.declaresWord(at)
}

// declarators reads the variables of a declaration.
func (p *parser) declarators() {
	for {
		start := p.token.start
		target := p.bindingTarget()
		if p.types {
			p.eat(not)
		}
		p.initializer(target)
		if !p.eat(comma) || p.token.start == start {
			return
		}
	}
}
