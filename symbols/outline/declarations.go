package outline

import "strings"

// imports reads an import declaration. It has no functions, except in the value of
// import x = …
func (p *parser) imports() {
	p.next()
	for p.token.kind != eof && p.token.kind != semicolon {
		switch p.token.kind {
		case braceOpen:
			p.balanced()
		case assign:
			p.next()
			p.expressionStatement()
			return
		case quoted:
			p.moduleName()
			return
		default:
			p.next()
		}
	}
	p.eat(semicolon)
}

// moduleName reads the name of a module, its attributes and the end of the declaration.
func (p *parser) moduleName() {
	p.expect(quoted)
	if p.token.kind == wordWith || p.token.kind == wordAssert && !p.token.newline {
		if p.next(); p.token.kind == braceOpen {
			p.balanced()
		}
	}
	p.eat(semicolon)
}

// exports reads an export declaration.
func (p *parser) exports() {
	p.next()
	switch p.token.kind {
	case wordDefault:
		p.next()
		p.defaultExport()
	case braceOpen, star:
		p.exportList()
	case assign:
		p.next()
		p.expressionStatement()
	case wordAs: // export as namespace X
		p.next()
		p.next()
		p.next()
		p.semicolon()
	case wordType:
		if _, first, _ := p.ahead(); first == '{' || first == '*' {
			p.next()
			p.exportList()
			return
		}
		p.statement()
	default:
		p.statement()
	}
}

// exportList reads a list of exported names, and the module they come from.
func (p *parser) exportList() {
	if p.token.kind == braceOpen {
		p.balanced()
	} else if p.next(); p.eat(wordAs) {
		p.next()
	}
	if p.eat(wordFrom) {
		p.moduleName()
		return
	}
	p.semicolon()
}

// defaultExport reads the declaration or expression after default.
func (p *parser) defaultExport() {
	p.decorators()
	start := p.token.start
	at, _, newline := p.ahead()
	switch kind := p.token.kind; {
	case kind == wordFunction:
		p.bindDefault(p.function(start))
	case kind == wordAsync && !newline && p.wordAhead(at) == "function":
		p.next()
		p.bindDefault(p.function(start))
	case p.types && kind == wordAbstract && p.wordAhead(at) == "class":
		p.next()
		p.bindDefault(p.class())
	case kind == wordClass:
		p.bindDefault(p.class())
	case p.types && kind == wordInterface && !newline && p.wordAhead(at) != "":
		p.statement()
	default:
		p.bindDefault(p.assignment())
		p.semicolon()
	}
}

// typeStatement reads a TypeScript declaration that begins with a word that can also be
// a name. It reports whether it is one.
func (p *parser) typeStatement(kind lexeme) bool {
	at, first, newline := p.ahead()
	word := p.wordAhead(at)
	if newline || word == "" && first != '"' && first != '\'' && first != '{' {
		return false
	}
	switch kind {
	case wordType:
		if !p.declaresType(at, word) {
			return false
		}
		p.typeAlias()
	case wordInterface:
		if word == "" || word == "in" || word == "instanceof" {
			return false
		}
		p.interfaceDeclaration()
	case wordNamespace, wordModule:
		if first == '{' || word == "in" || word == "instanceof" {
			return false
		}
		p.namespace()
	case wordGlobal:
		if first != '{' {
			return false
		}
		p.next()
		p.block()
	case wordAbstract:
		if word != "class" {
			return false
		}
		p.next()
		p.class()
	case wordDeclare:
		if word == "" || word == "in" || word == "instanceof" || word == "as" || word == "satisfies" {
			return false
		}
		// Declared things do not exist at run time.
		functions, members := len(p.functions), len(p.members)
		p.next()
		p.statement()
		p.forget(functions, members)
	default:
		return false
	}
	return true
}

// declaresType reports whether type and a word at an offset begin the declaration of a type.
func (p *parser) declaresType(at int, word string) bool {
	switch word {
	case "", "in", "instanceof":
		return false
	case "as", "satisfies", "is", "of": // unusual names of types
		at, _ = p.skipBlanks(at + len(word))
		return strings.IndexByte("=<", p.byteAt(at)) >= 0
	}
	return true
}

func (p *parser) typeAlias() {
	p.next()
	p.next()
	if p.token.kind == less && !p.angle() {
		p.unclear++
	}
	p.expect(assign)
	p.typeExpression()
	p.semicolon()
}

func (p *parser) interfaceDeclaration() {
	p.next()
	p.next()
	if p.token.kind == less && !p.angle() {
		p.unclear++
	}
	if p.eat(wordExtends) {
		p.typeList()
	}
	if p.token.kind == braceOpen {
		p.balanced()
	} else {
		p.unclear++
	}
}

// namespace reads a namespace or a module that is declared.
func (p *parser) namespace() {
	p.next()
	p.next()
	for p.eat(dot) {
		p.next()
	}
	if p.token.kind == braceOpen {
		p.block()
	} else {
		p.semicolon()
	}
}

// enum reads an enum, whose values are expressions.
func (p *parser) enum() {
	p.next()
	if p.token.kind.isWord() {
		p.next()
	}
	p.expect(braceOpen)
	for p.more(braceClose) {
		start := p.token.start
		p.propertyKey()
		if p.eat(assign) {
			p.assignment()
		}
		if !p.separator(braceClose, start) {
			break
		}
	}
	p.expect(braceClose)
}
