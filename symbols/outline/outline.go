// Package outline finds the functions of JavaScript and TypeScript, with the names and the
// places that V8 gives them. It builds no tree: it keeps functions and skips all else.
//
// A text need not be valid. What the parser does not understand it counts and skips, and
// the functions around it are found all the same. So the package accepts much that an
// engine refuses, and it is no judge of a program.
//
// What it does not do:
//
//   - It knows no scopes: a name is what stands in the text.
//   - It does not say which functions run, or how often a class is made.
//   - It does not follow eval, new Function, or scripts in HTML. [ComponentScripts] takes
//     the scripts out of single-file components; templates of these have no functions.
//   - Functions that a compiler of TypeScript writes for enums and namespaces are none of
//     the text. A field of a class without a value counts as a field, as it does with
//     useDefineForClassFields.
//   - It knows no Flow and no proposals below stage 3, but decorators and using.
//   - Names hold on to the text: they are parts of one copy of it.
package outline

import (
	"bytes"
	"errors"
)

// Language is what a text is written in.
type Language uint8

const (
	JavaScript Language = iota // with JSX
	TypeScript                 // without JSX, with casts <T>x
	TSX                        // TypeScript with JSX
	Script                     // JavaScript without JSX: what a bundler wrote
)

// Kind is the form of a function.
type Kind uint8

const (
	Plain       Kind = iota // declarations and expressions with the keyword function, async and generators too
	Arrow                   // a => b, async too
	Method                  // of a class or an object, async and generators too
	Getter                  // get x() {}
	Setter                  // set x(v) {}
	Constructor             // that a class has written
	Class                   // the constructor that a class has when it writes none
	Fields                  // the initializer of instance fields
	Statics                 // the initializer of static fields and static blocks

	erased // has no body, as overloads of TypeScript; never returned
)

// Written reports whether a function of this kind has a text of its own: all but those that
// the engine makes for a class.
func (k Kind) Written() bool { return k < Class }

// Binding says what gave a function its name.
type Binding uint8

const (
	Unbound  Binding = iota // nothing; the name is "", or "default" for a default export
	Own                     // its own identifier, or that of its class
	Variable                // a variable or parameter that it is the value of
	Key                     // a property key, which minifiers leave alone
	Member                  // a.b = function, ["b"]: function: V8 gives it no name
)

// Function is a function of a text. All offsets are in bytes from the start of the text;
// Start ≤ Place ≤ Body ≤ End.
type Function struct {
	// Start is the first byte, with async, static, get and the like; End is after the last.
	Start, End int
	// Place is where V8 says that the function begins: the parenthesis of the parameters,
	// the first character of an arrow function, the keyword class, the key of the first
	// field, the first static.
	Place int
	// Body is the brace of the body, or the expression of an arrow function. For what is
	// not written it is Place.
	Body    int
	Kind    Kind
	Binding Binding
	// BindStart and BindEnd are the identifier or key that the name is from, a key with its
	// quotes or brackets; -1 if there is none.
	BindStart, BindEnd int
	// Name is Function.name: with "get ", "set " and "#", "default" for a default export,
	// that of the class for a constructor and initializers. With Binding Member it is the
	// member's name, and that of V8 is "".
	Name string
	// Callee is the name of the function that it is an argument of, with the first argument
	// if that is a short string: addEventListener("scroll"). In JSX it is the attribute.
	Callee string
	// Result is what the result of that call, or of the chain of calls that has it, is
	// bound to: App in const App = memo(() => …). For a function that is called where it
	// stands it is what the result of this call is bound to.
	Result string
	// Class is the name of the class that it is a member of.
	Class      string
	Parameters int // how many are declared; a pattern is one, this of TypeScript none
	Parent     int // index of the innermost written function around it, -1 if none
}

var (
	// ErrNested says that a text is nested deeper than any program.
	ErrNested = errors.New("nested too deep")
	// ErrWork says that a text is so ambiguous that reading it takes too long.
	ErrWork = errors.New("too ambiguous")
)

const (
	maxDepth      = 3000 // statements, expressions, types and elements within each other
	tokensPerByte = 40   // that may be read, as what is ambiguous is read again
	leastTokens   = 1000
)

// Functions returns the functions of a text sorted by Start, an outer one before those
// inside, and how many places of the text it did not understand. With [ErrNested] or
// [ErrWork] it returns the functions found so far; those that were open end with the text.
func Functions(text []byte, language Language) (functions []Function, unclear int, err error) {
	p := parser{
		lexer: lexer{
			text:         string(text),
			budget:       tokensPerByte*len(text) + leastTokens,
			htmlComments: language == JavaScript || language == Script,
		},
		types: language == TypeScript || language == TSX,
		jsx:   language == JavaScript || language == TSX,
		// Most texts have fewer functions than five for eight braces, which are fast to count.
		functions: make([]Function, 0, min(bytes.Count(text, []byte("{"))*5/8, len(text)/64)+16),
	}
	p.skipHashbang()
	p.next()
	for p.token.kind != eof {
		p.statement()
	}
	p.fillClasses()
	p.order()
	return p.functions, p.unclear, p.err
}
