package outline

// object reads an object, or a pattern that looks like one.
func (p *parser) object() {
	outer := p.enclose()
	p.next()
	if p.deeper() {
		p.properties()
	}
	p.depth--
	p.expect(braceClose)
	p.colonFollows = outer
}

func (p *parser) properties() {
	for p.more(braceClose) {
		start := p.token.start
		if p.eat(ellipsis) {
			p.assignment()
		} else {
			p.property()
		}
		if !p.separator(braceClose, start) {
			return
		}
	}
}

// property reads a property of an object: a value, a method, an accessor or only a name.
func (p *parser) property() {
	start, kind := p.token.start, Method
	for p.modifies() && (p.token.kind == wordGet || p.token.kind == wordSet || p.token.kind == wordAsync) {
		switch p.token.kind {
		case wordGet:
			kind = Getter
		case wordSet:
			kind = Setter
		}
		p.next()
	}
	generator := p.eat(star)
	k := p.propertyKey()
	if !k.there() {
		return
	}
	switch p.token.kind {
	case parenOpen, less:
		p.method(start, kind, k, generator)
	case colon:
		p.next()
		v := p.assignment()
		if !k.isPrototype(p.text) {
			p.bindKey(v, k)
		}
	case assign: // the default in a pattern
		p.next()
		p.bind(p.assignment(), Variable, k.start, k.end)
	}
}

// modifies reports whether the current word is a modifier of the next token, and not the
// key of a property. A line may end only after get, set and static.
func (p *parser) modifies() bool {
	kind := p.token.kind
	if !kind.isName() {
		return false
	}
	_, first, newline := p.ahead()
	switch first {
	case 0, '(', ')', '=', ';', '}', ',', ':', '?', '!', '<':
		return false
	case '*':
		if kind == wordGet || kind == wordSet { // which cannot be generators
			return false
		}
	}
	return !newline || kind == wordGet || kind == wordSet || kind == wordStatic
}

// key is the key of a property.
type key struct {
	first      int // where it begins, with its bracket if it is computed
	start, end int // the word, string or number
	// literal means that the key is a word, a string or a number. computed means that it is in
	// brackets, where V8 takes no name from it.
	literal, computed bool
}

func (k key) there() bool { return k.literal || k.computed }

// isPrototype reports whether a key sets the prototype of an object.
func (k key) isPrototype(text string) bool {
	return !k.computed && nameOf(text[k.start:k.end]) == "__proto__"
}

// propertyKey reads the key of a property.
func (p *parser) propertyKey() key {
	k := key{first: p.token.start, start: p.token.start, end: p.token.end}
	switch kind := p.token.kind; {
	case kind.isWord(), kind == privateName, kind == number, kind == quoted:
		k.literal = true
		p.next()
	case kind == bracketOpen:
		v := p.computedMember()
		k.computed, k.literal = true, v.kind == memberReference
		if k.literal {
			k.start, k.end = v.a, v.b
		}
	default:
		p.unclear++
	}
	return k
}

// bindKey binds the value of a property.
func (p *parser) bindKey(v value, k key) {
	switch {
	case !k.literal:
	case k.computed:
		p.bind(v, Member, k.start, k.end)
	default:
		p.bind(v, Key, k.start, k.end)
	}
}

// method reads a method or accessor of an object or class after its key, and returns the
// index of the function.
func (p *parser) method(start int, kind Kind, k key, generator bool) int {
	index := p.define(kind, start)
	p.bindKey(value{kind: definition, a: index}, k)
	if f := &p.functions[index]; k.literal {
		switch kind {
		case Getter:
			f.Name = "get " + f.Name
		case Setter:
			f.Name = "set " + f.Name
		}
	}
	p.signatureAndBody(index, generator)
	return index
}
