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

// isClosing reports whether a token ends what a bracket began.
func (k lexeme) isClosing() bool { return k == braceClose || k == parenClose || k == bracketClose }

// wordKind tells names from words with a meaning.
func wordKind(word string) lexeme {
	if len(word) < 2 || len(word) > 10 {
		return identifier
	}
	switch word[0] {
	case 'a':
		switch word {
		case "as":
			return wordAs
		case "async":
			return wordAsync
		case "await":
			return wordAwait
		case "abstract":
			return wordAbstract
		case "accessor":
			return wordAccessor
		case "assert":
			return wordAssert
		case "asserts":
			return wordAsserts
		}
	case 'b':
		if word == "break" {
			return wordBreak
		}
	case 'c':
		switch word {
		case "case":
			return wordCase
		case "catch":
			return wordCatch
		case "class":
			return wordClass
		case "const":
			return wordConst
		case "continue":
			return wordContinue
		}
	case 'd':
		switch word {
		case "do":
			return wordDo
		case "default":
			return wordDefault
		case "delete":
			return wordDelete
		case "declare":
			return wordDeclare
		case "debugger":
			return wordDebugger
		}
	case 'e':
		switch word {
		case "else":
			return wordElse
		case "enum":
			return wordEnum
		case "export":
			return wordExport
		case "extends":
			return wordExtends
		}
	case 'f':
		switch word {
		case "for":
			return wordFor
		case "from":
			return wordFrom
		case "false":
			return wordLiteral
		case "finally":
			return wordFinally
		case "function":
			return wordFunction
		}
	case 'g':
		switch word {
		case "get":
			return wordGet
		case "global":
			return wordGlobal
		}
	case 'i':
		return wordKindI(word)
	case 'k':
		if word == "keyof" {
			return wordKeyof
		}
	case 'l':
		if word == "let" {
			return wordLet
		}
	case 'm':
		if word == "module" {
			return wordModule
		}
	case 'n':
		switch word {
		case "new":
			return wordNew
		case "null":
			return wordLiteral
		case "namespace":
			return wordNamespace
		}
	case 'o':
		switch word {
		case "of":
			return wordOf
		case "out":
			return wordOut
		case "override":
			return wordOverride
		}
	case 'p':
		switch word {
		case "private":
			return wordPrivate
		case "protected":
			return wordProtected
		case "public":
			return wordPublic
		}
	case 'r':
		switch word {
		case "return":
			return wordReturn
		case "readonly":
			return wordReadonly
		}
	case 's':
		switch word {
		case "set":
			return wordSet
		case "super":
			return wordSuper
		case "static":
			return wordStatic
		case "switch":
			return wordSwitch
		case "satisfies":
			return wordSatisfies
		}
	case 't':
		switch word {
		case "try":
			return wordTry
		case "this":
			return wordThis
		case "true":
			return wordLiteral
		case "type":
			return wordType
		case "throw":
			return wordThrow
		case "typeof":
			return wordTypeof
		}
	case 'u':
		switch word {
		case "using":
			return wordUsing
		case "unique":
			return wordUnique
		}
	case 'v':
		switch word {
		case "var":
			return wordVar
		case "void":
			return wordVoid
		}
	case 'w':
		switch word {
		case "with":
			return wordWith
		case "while":
			return wordWhile
		}
	case 'y':
		if word == "yield" {
			return wordYield
		}
	}
	return identifier
}

// wordKindI is wordKind for words that begin with i.
func wordKindI(word string) lexeme {
	switch word {
	case "if":
		return wordIf
	case "in":
		return wordIn
	case "is":
		return wordIs
	case "infer":
		return wordInfer
	case "import":
		return wordImport
	case "instanceof":
		return wordInstanceof
	case "interface":
		return wordInterface
	case "implements":
		return wordImplements
	}
	return identifier
}
