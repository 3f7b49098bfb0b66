package outline

import "strings"

// value is the part of an expression's value that names depend on.
type value struct {
	kind valueKind
	// a and b are the start and end of a reference's name. For a definition, a is the index of the
	// function; for a call, it is the first of the functions among its arguments.
	a, b int
}

type valueKind uint8

const (
	other           valueKind = iota
	variable                  // x
	memberReference           // a.x and a["x"]
	keyword                   // this and super, which can be called but not assigned
	definition                // a function or class that takes the name of what it is bound to
	call                      // a.b(…)
	arrowFunction             // a definition after which an expression ends
	finished                  // the same without a function to name
)

// ends reports whether no operator can follow.
func (v value) ends() bool { return v.kind == arrowFunction || v.kind == finished }

// define adds a function and returns its index.
func (p *parser) define(kind Kind, start int) int {
	p.functions = append(p.functions, Function{Start: start, Place: start, Body: start, Kind: kind, BindStart: -1,
		BindEnd: -1, Parent: noArgument})
	return len(p.functions) - 1
}

// erase removes a function, such as one without a body.
func (p *parser) erase(index int) { p.functions[index].Kind = erased }

// bind gives a function the name that it is bound to. For a call, it gives functions among the
// arguments the name that the result is bound to.
func (p *parser) bind(v value, binding Binding, start, end int) {
	switch v.kind {
	case definition, arrowFunction:
		p.name(v.a, binding, start, end)
	case call:
		p.result(v, nameOf(p.text[start:end]))
	}
}

// bindTo binds a value to the target of an assignment.
func (p *parser) bindTo(v, target value) {
	switch target.kind {
	case variable:
		p.bind(v, Variable, target.a, target.b)
	case memberReference:
		p.bind(v, Member, target.a, target.b)
	}
}

// bindDefault binds a value to a default export, which has a name but no place.
func (p *parser) bindDefault(v value) {
	switch v.kind {
	case definition, arrowFunction:
		if f := &p.functions[v.a]; f.Binding == Unbound {
			f.Name = "default"
		}
	case call:
		p.result(v, "default")
	}
}

// name names a function, unless it has a name of its own.
func (p *parser) name(index int, binding Binding, start, end int) {
	f := &p.functions[index]
	if f.Binding == Unbound {
		f.Name, f.Binding, f.BindStart, f.BindEnd = nameOf(p.text[start:end]), binding, start, end
	}
}

// noArgument ends the list of functions among the arguments of a call, or in the callee.
// While the text is read, Function.Parent is the next one of the list.
const noArgument = -1

// result sets, for the functions among the arguments of a call, the name that its result is bound
// to.
func (p *parser) result(v value, name string) {
	for i := v.a; i != noArgument; i = p.functions[i].Parent {
		p.functions[i].Result = name
	}
}

// arguments reads the arguments of a call and returns the call, the number of arguments, and
// whether they can only be parameters. It prepends the functions among them to the list chain,
// which has those of earlier calls in a chain such as a(…).b(…).
func (p *parser) arguments(callee value, chain int) (v value, count int, annotated bool) {
	if callee.kind == definition && p.functions[callee.a].Kind != Class { // called immediately
		p.functions[callee.a].Parent = chain
		chain = callee.a
	}
	outer := p.enclose()
	p.expect(parenOpen)
	literal := value{}
	for p.more(parenClose) {
		start, kind := p.token.start, p.token.kind
		argument, typed := p.element()
		switch {
		case argument.kind == definition || argument.kind == arrowFunction:
			f := &p.functions[argument.a]
			f.Callee, f.Parent = p.callee(callee, literal), chain
			chain = argument.a
		case count == 0 && kind == quoted && p.last-start <= maxLiteral:
			literal = value{a: start, b: p.last}
		}
		annotated = annotated || typed
		count++
		if !p.separator(parenClose, start) {
			break
		}
	}
	p.expect(parenClose)
	p.colonFollows = outer
	return value{kind: call, a: chain}, count, annotated
}

// maxLiteral is the maximum length of a string, with quotes, that is shown with a callee.
const maxLiteral = 66

// callee returns the name of the callee, with the first argument if that is a string.
func (p *parser) callee(v, literal value) string {
	switch v.kind {
	case variable, memberReference, keyword:
	default:
		return ""
	}
	name := nameOf(p.text[v.a:v.b])
	if literal.b == 0 {
		return name
	}
	quotation := p.text[literal.a:literal.b]
	if !isString(quotation) {
		return name
	}
	return name + `("` + quotation[1:len(quotation)-1] + `")`
}

// isString reports whether a text is a single string, and not an expression that begins
// with one.
func isString(s string) bool {
	return len(s) >= 2 && s[len(s)-1] == s[0] && strings.IndexByte(s[1:len(s)-1], s[0]) < 0
}

// element reads an argument, an expression in parentheses, or a parameter of a possible arrow
// function; annotated means that it can only be a parameter.
func (p *parser) element() (v value, annotated bool) {
	p.eat(ellipsis)
	v = p.assignment()
	if !p.types || p.token.kind != question && p.token.kind != colon {
		return v, false
	}
	p.eat(question)
	if p.eat(colon) {
		p.typeExpression()
	}
	if p.eat(assign) {
		p.bindTo(p.assignment(), v)
	}
	return value{}, true
}

// function reads a function from its keyword; start is the offset of async, if present.
func (p *parser) function(start int) value {
	index := p.define(Plain, start)
	p.next()
	generator := p.eat(star)
	if p.token.kind.isWord() {
		p.name(index, Own, p.token.start, p.token.end)
		p.next()
	}
	p.signatureAndBody(index, generator)
	return value{kind: definition, a: index}
}

// signatureAndBody reads a function from its type parameters on. Without a body it is an
// overload or abstract, and not a function.
func (p *parser) signatureAndBody(index int, generator bool) {
	outer := p.enclose()
	outerGenerator := p.generator
	p.generator = generator
	if p.types && p.token.kind == less && !p.angle() {
		p.unclear++
	}
	p.functions[index].Place = p.token.start
	p.functions[index].Parameters = p.parameters()
	if p.types && p.eat(colon) {
		p.typeExpression()
	}
	if p.token.kind == braceOpen {
		p.functions[index].Body = p.token.start
		p.block()
		p.functions[index].End = p.last
	} else {
		p.erase(index)
		p.eat(semicolon)
		if !p.types {
			p.unclear++
		}
	}
	p.generator, p.colonFollows = outerGenerator, outer
}

// parameters reads the parameters of any function but an arrow function, and returns their
// number.
func (p *parser) parameters() (count int) {
	p.expect(parenOpen)
	for p.more(parenClose) {
		start := p.token.start
		p.decorators()
		for p.types && isParameterModifier(p.token.kind) && p.modifies() {
			p.next()
		}
		p.eat(ellipsis)
		if p.token.kind != wordThis || !p.types {
			count++
		}
		target := p.bindingTarget()
		if p.types {
			p.eat(question)
		}
		p.initializer(target)
		if !p.separator(parenClose, start) {
			break
		}
	}
	p.expect(parenClose)
	return count
}

// isParameterModifier reports whether a word makes a parameter of a constructor a field.
func isParameterModifier(kind lexeme) bool {
	switch kind {
	case wordPublic, wordPrivate, wordProtected, wordReadonly, wordOverride:
		return true
	}
	return false
}

// bindingTarget reads a declared name or pattern.
func (p *parser) bindingTarget() value {
	switch {
	case p.token.kind.isWord():
		v := value{kind: variable, a: p.token.start, b: p.token.end}
		p.next()
		return v
	case p.token.kind == braceOpen:
		p.object()
	case p.token.kind == bracketOpen:
		p.array()
	default:
		p.unclear++
	}
	return value{}
}

// initializer reads the type and the value of a declared name.
func (p *parser) initializer(target value) {
	if p.types && p.eat(colon) {
		p.typeExpression()
	}
	if p.eat(assign) {
		p.bindTo(p.assignment(), target)
	}
}

// arrow reads an arrow function from its =>.
func (p *parser) arrow(start, parameters int) value {
	index := p.define(Arrow, start)
	p.functions[index].Parameters = parameters
	p.next()
	p.functions[index].Body = p.token.start
	outerGenerator := p.generator
	p.generator = false
	if p.token.kind == braceOpen {
		outer := p.enclose()
		p.block()
		p.colonFollows = outer
	} else {
		p.assignment()
	}
	p.generator = outerGenerator
	f := &p.functions[index]
	f.End = p.last
	f.Body = min(f.Body, f.End)
	return value{kind: arrowFunction, a: index}
}
