package outline

import "strings"

// jsxElement reads an element of JSX from its < and returns its end. It does not read the token
// after the end, because text of an outer element may follow.
func (p *parser) jsxElement() (end int) {
	if !p.deeper() {
		p.depth--
		return len(p.text)
	}
	outer := p.enclose()
	p.next()
	if p.token.kind.isGreater() { // a fragment
		end = p.jsxChildren(p.token.start + 1)
	} else {
		p.jsxName()
		if p.types && p.token.kind == less && !p.angle() {
			p.unclear++
		}
		end = p.jsxAttributes()
	}
	p.colonFollows = outer
	p.depth--
	return end
}

// jsxAttributes reads the attributes and the children of an element.
func (p *parser) jsxAttributes() (end int) {
	for p.token.kind != eof {
		switch kind := p.token.kind; {
		case kind == slash:
			if p.next(); !p.token.kind.isGreater() {
				p.unclear++
			}
			return p.token.start + 1
		case kind.isGreater():
			return p.jsxChildren(p.token.start + 1)
		case kind == braceOpen:
			p.next()
			p.eat(ellipsis)
			if p.token.kind != braceClose {
				p.assignment()
			}
			p.expect(braceClose)
		case kind.isWord():
			name := value{kind: variable, a: p.token.start}
			p.jsxName()
			name.b = p.last
			if p.token.kind == assign {
				p.jsxValue(name)
			}
		default:
			p.unclear++
			p.next()
		}
	}
	return len(p.text)
}

// jsxName reads the name of an element or attribute, which may have dashes, dots and colons.
func (p *parser) jsxName() {
	for {
		if !p.token.kind.isWord() {
			p.unclear++
			return
		}
		end := p.token.end
		for p.byteAt(end) == '-' {
			end = p.wordEnd(end + 1)
		}
		p.resume(end)
		if p.token.kind != dot && p.token.kind != colon {
			return
		}
		p.next()
	}
}

// jsxValue reads the value of an attribute from =. Its strings have no escapes.
func (p *parser) jsxValue(name value) {
	start, first, _ := p.ahead()
	if first == '"' || first == '\'' {
		length := strings.IndexByte(p.text[start+1:], first)
		if length < 0 {
			length = len(p.text)
		}
		end := min(start+1+length+1, len(p.text))
		p.noteLiteral(start, end)
		p.resume(end)
		return
	}
	p.next()
	switch p.token.kind {
	case braceOpen:
		p.next()
		v := p.assignment()
		if v.kind == definition || v.kind == arrowFunction {
			p.functions[v.a].Callee = p.callee(name, value{})
		}
		p.expect(braceClose)
	case less:
		p.resume(p.jsxElement())
	default:
		p.unclear++
	}
}

// jsxChildren reads the content of an element from i on, and its closing tag, and returns
// the end of the tag.
func (p *parser) jsxChildren(i int) (end int) {
	for p.err == nil {
		length := strings.IndexAny(p.text[i:], "{<")
		if length < 0 {
			p.unclear++
			return len(p.text)
		}
		i += length
		if p.text[i] == '{' {
			i = p.jsxContainer(i)
			continue
		}
		if at, _ := p.skipBlanks(i + 1); p.byteAt(at) == '/' {
			length := strings.IndexByte(p.text[at:], '>')
			if length < 0 {
				return len(p.text)
			}
			return at + length + 1
		}
		p.resume(i)
		i = p.jsxElement()
	}
	return len(p.text)
}

// jsxContainer reads an expression among the children of an element and returns the end of
// its braces.
func (p *parser) jsxContainer(start int) (end int) {
	comments := len(p.comments)
	p.resume(start + 1)
	if p.token.kind == braceClose { // only a comment can be in it
		p.comments = append(p.comments[:comments], Span{start, p.token.end})
		return p.token.end
	}
	p.eat(ellipsis)
	if p.token.kind != braceClose {
		p.expression()
	}
	for p.token.kind != braceClose && p.token.kind != eof {
		p.unclear++
		p.next()
	}
	return p.token.end
}
