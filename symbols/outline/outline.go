// Package outline finds the functions of JavaScript and TypeScript, with the names and places that
// V8 reports for them. It builds no syntax tree: it records functions and skips everything else.
//
// The text need not be valid. The parser counts and skips anything that it does not understand, and
// still finds the functions around it. So the package accepts much that an engine rejects. It does
// not validate programs.
//
// Limits:
//
//   - It has no scopes: a name is the text of the source.
//   - It does not determine which functions run, or how often a class is created.
//   - It does not follow eval, new Function, or scripts in HTML. [ComponentScripts] extracts the
//     scripts of single-file components; templates of these have no functions.
//   - Functions that the TypeScript compiler generates for enums and namespaces are not
//     included. A field of a class without a value counts as a field, as with
//     useDefineForClassFields.
//   - It does not support Flow, or proposals below stage 3 except decorators and using.
//   - Names retain the text in memory: they are substrings of one copy of it.
package outline

import (
	"bytes"
	"errors"
)

// Language is the language of a text.
type Language uint8

const (
	JavaScript Language = iota // with JSX
	TypeScript                 // without JSX, with casts <T>x
	TSX                        // TypeScript with JSX
	Script                     // JavaScript without JSX: the output of a bundler
)

// Kind is the form of a function.
type Kind uint8

const (
	Plain       Kind = iota // declarations and expressions with the keyword function, async and generators too
	Arrow                   // a => b, async too
	Method                  // of a class or an object, async and generators too
	Getter                  // get x() {}
	Setter                  // set x(v) {}
	Constructor             // written in a class
	Class                   // the implicit constructor of a class
	Fields                  // the initializer of instance fields
	Statics                 // the initializer of static fields and static blocks

	erased // without a body, such as overloads of TypeScript; never returned
)

// Written reports whether functions of this kind have a text of their own: all but those
// that the engine creates for a class.
func (k Kind) Written() bool { return k < Class }

// Binding is the origin of a function's name.
type Binding uint8

const (
	Unbound  Binding = iota // none; the name is "", or "default" for a default export
	Own                     // its own identifier, or the identifier of its class
	Variable                // the variable or parameter with this value
	Key                     // a property key, which minifiers do not change
	Member                  // a.b = function, ["b"]: function: V8 gives it no name
)

// Function is a function of a text. All offsets are in bytes from the start of the text;
// Start ≤ Place ≤ Body ≤ End.
type Function struct {
	// Start is the first byte, including async, static, get and the like; End is after the last
	// byte.
	Start, End int
	// Place is where V8 places the function: the parenthesis of the parameters, the first character
	// of an arrow function, the keyword class, the key of the first field, or the first static.
	Place int
	// Body is the brace of the body, or the expression of an arrow function. Without written text
	// it is Place.
	Body    int
	Kind    Kind
	Binding Binding
	// BindStart and BindEnd are the range of the identifier or key that gave the name, including
	// the quotes or brackets of a key; or -1.
	BindStart, BindEnd int
	// Name is Function.name: with "get ", "set " and "#", "default" for a default export, and the
	// name of the class for a constructor and initializers. With Binding Member it is the member's
	// name, although V8 reports "".
	Name string
	// Callee is the name of the function to which it is passed, with the first argument if that is
	// a short string: addEventListener("scroll"). In JSX it is the attribute.
	Callee string
	// Result is the name that the result of that call, or of its chain of calls, is bound to: App
	// in const App = memo(() => …). For a function that is called immediately it is the name for
	// the result of this call.
	Result string
	// Class is the name of the class of a member.
	Class      string
	Parameters int // declared parameters; a pattern is one, TypeScript's this none
	Parent     int // index of the innermost enclosing written function, or -1
}

var (
	// ErrNested is returned for a text that is nested too deeply to be a program.
	ErrNested = errors.New("nested too deep")
	// ErrWork is returned for a text that is so ambiguous that parsing takes too long.
	ErrWork = errors.New("too ambiguous")
)

const (
	maxDepth      = 3000 // nested statements, expressions, types and elements
	tokensPerByte = 40   // limit of tokens read, since ambiguous text is read again
	leastTokens   = 1000
)

// Span is a range of a text, in bytes from its start.
type Span struct{ Start, End int }

// Outline is the result of [Read].
type Outline struct {
	// Functions are sorted by Start, an outer one before nested ones.
	Functions []Function
	// Comments are the spans of white space and comments that contain a comment. Literals are
	// strings, regular expressions and parts of templates. Both are sorted. White space elsewhere
	// is not significant, except in the text of JSX, where it means little.
	Comments, Literals []Span
	Unclear            int // places that were not understood
}

// Read parses a text. With [ErrNested] or [ErrWork] it returns the outline of the text before the
// error; open functions end with the text.
func Read(text []byte, language Language) (Outline, error) {
	p := parser{
		lexer: lexer{
			text:         string(text),
			budget:       tokensPerByte*len(text) + leastTokens,
			htmlComments: language == JavaScript || language == Script,
		},
		types: language == TypeScript || language == TSX,
		jsx:   language == JavaScript || language == TSX,
		// Most texts have fewer than five functions per eight braces, and counting braces is fast.
		functions: make([]Function, 0, min(bytes.Count(text, []byte("{"))*5/8, len(text)/64)+16),
	}
	p.skipHashbang()
	p.next()
	for p.token.kind != eof {
		p.statement()
	}
	p.fillClasses()
	p.order()
	return Outline{p.functions, p.comments, p.literals, p.unclear}, p.err
}

// Functions returns the functions of [Read], and the number of places that were not understood.
func Functions(text []byte, language Language) (functions []Function, unclear int, err error) {
	o, err := Read(text, language)
	return o.Functions, o.Unclear, err
}
