package outline

// parser parses statements and expressions for the functions in them. Each method parses the
// construct in its name, from the current token on, and stops at the token after it. At the end of
// the text, and after the parser has stopped, all tokens are eof, which ends all loops.
type parser struct {
	lexer
	types, jsx bool
	functions  []Function
	members    []member
	unclear    int
	depth      int
	generator  bool // yield is not a name here
	// colonFollows is set where a colon after a parenthesis may belong to a conditional or
	// case, and not begin the return type of an arrow function.
	colonFollows bool
}

// member is a function of a class. Both are indices of functions. The class has a slot of
// kind Class from its start on. It is erased if there is a constructor.
type member struct{ function, class int }

// expect consumes a token of a kind, or counts an unclear place.
func (p *parser) expect(kind lexeme) {
	if !p.eat(kind) {
		p.unclear++
	}
}

// eat consumes the current token and returns true if it has this kind.
func (p *parser) eat(kind lexeme) bool {
	if p.token.kind != kind {
		return false
	}
	p.next()
	return true
}

// deeper enters a nested construct, unless the nesting is too deep.
func (p *parser) deeper() bool {
	p.depth++
	if p.depth > maxDepth {
		p.stop(ErrNested)
	}
	return p.err == nil
}

// enclose begins a part in brackets, where an outer colon has no meaning. It returns the previous
// colonFollows, which the caller must restore after the part.
func (p *parser) enclose() (outer bool) {
	outer, p.colonFollows = p.colonFollows, false
	return outer
}

// more reports whether a list continues before its closing bracket.
func (p *parser) more(closing lexeme) bool {
	return p.token.kind != closing && p.token.kind != eof
}

// separator consumes the comma after an element of a list that began at start. It skips anything
// else up to a comma or bracket, and reports whether the list can continue.
func (p *parser) separator(closing lexeme, start int) bool {
	if p.eat(comma) || p.token.kind == closing {
		return true
	}
	p.unclear++
	if p.token.kind == semicolon || p.token.kind.isClosing() {
		return false
	}
	if p.token.start == start {
		p.next()
	}
	return true
}

// balanced skips a bracket and its content, which cannot have functions.
func (p *parser) balanced() {
	p.next()
	p.skipToClosing(1)
}

// skipToClosing skips to the end of depth open brackets.
func (p *parser) skipToClosing(depth int) {
	for depth > 0 && p.token.kind != eof {
		switch p.token.kind {
		case braceOpen, parenOpen, bracketOpen:
			depth++
		case braceClose, parenClose, bracketClose:
			depth--
		case backtick:
			p.template(typesWithin)
			continue
		}
		p.next()
	}
}

// mark is a position to which the parser can return.
type mark struct {
	lexer              lexer
	functions, members int
	unclear, depth     int
}

func (p *parser) mark() mark {
	return mark{p.lexer, len(p.functions), len(p.members), p.unclear, p.depth}
}

// rewind returns to a mark. The count of work is kept.
func (p *parser) rewind(m mark) {
	p.forget(m.functions, m.members)
	p.unclear, p.depth = m.unclear, m.depth
	if p.err == nil {
		m.lexer.budget = p.budget
		p.lexer = m.lexer
	}
}

// forget drops the functions from an index on.
func (p *parser) forget(functions, members int) {
	p.functions, p.members = p.functions[:functions], p.members[:members]
}
