package outline

// classBody is the state of a class while its members are read: indexes of functions, -1
// if there is none.
type classBody struct{ class, fields, statics int }

// class reads a class from its keyword. The value is its slot among the functions.
func (p *parser) class() value {
	c := classBody{class: p.define(Class, p.token.start), fields: -1, statics: -1}
	p.next()
	if p.token.kind.isName() && !p.implements() {
		p.name(c.class, Own, p.token.start, p.token.end)
		p.next()
	}
	outer := p.enclose()
	if p.deeper() {
		p.heritage()
		p.expect(braceOpen)
		for p.more(braceClose) {
			start := p.token.start
			p.classMember(&c)
			if p.token.start == start && p.token.kind != eof {
				p.unclear++
				p.next()
			}
		}
		p.expect(braceClose)
	}
	p.depth--
	p.colonFollows = outer
	for _, i := range []int{c.class, c.fields, c.statics} {
		if i >= 0 {
			p.functions[i].End = p.last
		}
	}
	return value{kind: definition, a: c.class}
}

// implements reports whether the current word begins a list of interfaces and is not the
// name of a class.
func (p *parser) implements() bool {
	if p.token.kind != wordImplements || !p.types {
		return false
	}
	at, _, _ := p.ahead()
	word := p.wordAhead(at)
	return word != "" && word != "extends" && word != "implements"
}

// heritage reads the text between the name of a class and its brace.
func (p *parser) heritage() {
	if p.types && p.token.kind == less && !p.angle() {
		p.unclear++
	}
	if p.eat(wordExtends) {
		p.leftHandSide()
		if p.types && (p.token.kind == less || p.token.kind == lessLess) && !p.angle() {
			p.unclear++
		}
	}
	if p.types && p.eat(wordImplements) {
		p.typeList()
	}
}

// classMember reads a member of a class.
func (p *parser) classMember(c *classBody) {
	if p.eat(semicolon) {
		return
	}
	p.decorators()
	start := p.token.start
	if p.token.kind == wordStatic {
		if _, first, _ := p.ahead(); first == '{' {
			p.initializes(&c.statics, Statics, c.class, start)
			p.next()
			p.staticBlock()
			return
		}
	}
	kind, static, absent := p.memberModifiers()
	generator := p.eat(star)
	if p.types && p.token.kind == bracketOpen && p.indexSignature() {
		p.balanced()
		p.initializer(value{})
		p.semicolon()
		return
	}
	k := p.propertyKey()
	if !k.there() {
		return
	}
	if p.types && !p.eat(question) && p.token.kind == not {
		p.next()
	}
	if p.token.kind == parenOpen || p.token.kind == less {
		p.classMethod(c, start, kind, k, static, generator)
		return
	}
	switch {
	case static:
		p.initializes(&c.statics, Statics, c.class, start)
	case !absent:
		p.initializes(&c.fields, Fields, c.class, k.first)
	}
	p.field(c.class, k)
}

// memberModifiers reads the words before a key. absent is set for declared and abstract
// members, which do not exist at run time.
func (p *parser) memberModifiers() (kind Kind, static, absent bool) {
	kind = Method
	for p.modifies() {
		switch p.token.kind {
		case wordStatic:
			static = true
		case wordGet:
			kind = Getter
		case wordSet:
			kind = Setter
		case wordAsync, wordAccessor:
		case wordPublic, wordPrivate, wordProtected, wordReadonly, wordOverride:
			if !p.types {
				return kind, static, absent
			}
		case wordAbstract, wordDeclare:
			if !p.types {
				return kind, static, absent
			}
			absent = true
		default:
			return kind, static, absent
		}
		p.next()
	}
	return kind, static, absent
}

// initializes adds the function that initializes fields, at the first field.
func (p *parser) initializes(index *int, kind Kind, class, start int) {
	if *index < 0 {
		*index = p.define(kind, start)
		p.members = append(p.members, member{*index, class})
	}
}

// staticBlock reads the block of a class that runs once.
func (p *parser) staticBlock() {
	outer := p.generator
	p.generator = false
	p.block()
	p.generator = outer
}

// indexSignature reports whether the current bracket begins [key: type], which is not a
// field.
func (p *parser) indexSignature() bool {
	at, _, _ := p.ahead()
	word := p.wordAhead(at)
	at, _ = p.skipBlanks(at + len(word))
	return word != "" && p.byteAt(at) == ':'
}

// classMethod reads a method, an accessor or the constructor of a class.
func (p *parser) classMethod(c *classBody, start int, kind Kind, k key, static, generator bool) {
	if kind == Method && !static && !k.computed && k.literal && nameOf(p.text[k.start:k.end]) == "constructor" {
		index := p.define(Constructor, start)
		p.members = append(p.members, member{index, c.class})
		p.signatureAndBody(index, false)
		if p.functions[index].Kind != erased {
			p.erase(c.class)
		}
		return
	}
	index := p.method(start, kind, k, generator)
	p.members = append(p.members, member{index, c.class})
}

// field reads the type and the value of a field after its key.
func (p *parser) field(class int, k key) {
	if p.types && p.eat(colon) {
		p.typeExpression()
	}
	if p.eat(assign) {
		outer := p.generator
		p.generator = false
		v := p.assignment()
		p.generator = outer
		p.bindKey(v, k)
		if (v.kind == definition || v.kind == arrowFunction) && k.literal && p.functions[v.a].Kind != Class {
			p.members = append(p.members, member{v.a, class})
		}
	}
	p.semicolon()
}

// decorators reads decorators, which are expressions with few forms.
func (p *parser) decorators() {
	for p.eat(at) {
		v := value{}
		if p.token.kind == parenOpen {
			p.parenthesized()
		} else {
			for v = p.memberName(); p.eat(dot); {
				v = p.memberName()
			}
		}
		if p.types && p.token.kind == less {
			p.typeArguments()
		}
		if p.token.kind == parenOpen {
			p.arguments(v, noArgument)
		}
	}
}
