package outline

// lexeme is the kind of a token.
type lexeme uint8

const (
	eof lexeme = iota
	unknown
	privateName
	number
	quoted
	backtick // the first character of a template; the parser reads the rest

	// Words that can be names.
	identifier
	wordAbstract
	wordAccessor
	wordAs
	wordAssert
	wordAsserts
	wordAsync
	wordAwait
	wordDeclare
	wordFrom
	wordGet
	wordGlobal
	wordImplements
	wordInfer
	wordInterface
	wordIs
	wordKeyof
	wordLet
	wordModule
	wordNamespace
	wordOf
	wordOut
	wordOverride
	wordPrivate
	wordProtected
	wordPublic
	wordReadonly
	wordSatisfies
	wordSet
	wordStatic
	wordType
	wordUnique
	wordUsing
	wordYield

	// Words that are reserved.
	wordBreak
	wordCase
	wordCatch
	wordClass
	wordConst
	wordContinue
	wordDebugger
	wordDefault
	wordDelete
	wordDo
	wordElse
	wordEnum
	wordExport
	wordExtends
	wordFinally
	wordFor
	wordFunction
	wordIf
	wordImport
	wordIn
	wordInstanceof
	wordLiteral // null, true, false
	wordNew
	wordReturn
	wordSuper
	wordSwitch
	wordThis
	wordThrow
	wordTry
	wordTypeof
	wordVar
	wordVoid
	wordWhile
	wordWith

	braceOpen
	braceClose
	parenOpen
	parenClose
	bracketOpen
	bracketClose
	semicolon
	comma
	colon
	question
	dot
	optionalDot // ?.
	ellipsis
	arrowSign // =>
	at
	not
	tilde
	increment // ++ and --

	// Assignments.
	assign        // =
	assignLogical // ||= &&= ??=
	assignOther
	assignSlash   // /=, or the start of a regular expression
	assignGreater // >>= >>>=

	// Binary operators.
	sign // + and -
	star
	slash
	less
	lessLess
	greater
	greaterMore // >= >> >>>
	ampersand
	bar
	binaryOther
)

// isName reports whether a token can be the name of a variable.
func (k lexeme) isName() bool { return k >= identifier && k <= wordYield }

// isWord reports whether a token is a name or a reserved word.
func (k lexeme) isWord() bool { return k >= identifier && k <= wordWith }

func (k lexeme) isAssignment() bool { return k >= assign && k <= assignGreater }

func (k lexeme) isBinary() bool {
	return k >= sign && k <= binaryOther || k == wordIn || k == wordInstanceof
}

// isGreater reports whether a token begins with >, which ends type arguments.
func (k lexeme) isGreater() bool { return k == greater || k == greaterMore || k == assignGreater }

func (k lexeme) isClosing() bool { return k == braceClose || k == parenClose || k == bracketClose }
