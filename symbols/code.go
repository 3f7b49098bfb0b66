package symbols

import (
	"bytes"
	"slices"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

// codeHashes returns a hash of the code of each written function of a script, without nested
// functions, and 0 for other functions. The hash does not depend on choices that a bundler makes
// for the build as a whole: identifiers, property keys (webpack mangles them), and names and
// numbers of chunks.
func (w *written) codeHashes() []uint32 {
	var bounds []int
	for i := range w.functions {
		f := &w.functions[i]
		bounds = append(bounds, f.Start, f.Place, f.End)
	}
	slices.Sort(bounds)
	r := codeReader{written: w, text: polynomial{0, 1}}
	at, within := r.prefixes(slices.Compact(bounds)), w.members()
	out := make([]uint32, len(w.functions))
	for i, f := range w.functions {
		if f.Kind.Written() {
			f.Start, f.BindStart = f.Place, -1
			out[i] = w.ownHash(&f, within(i), at)
		}
	}
	return out
}

// codeReader reads a script token by token.
type codeReader struct {
	*written
	text             polynomial
	comment, literal int  // indexes of the next comment and literal
	last             byte // last byte of the previous token; 'a' after a word
}

// prefixes returns the hashes of the code up to the given offsets, which must be sorted.
func (r *codeReader) prefixes(bounds []int) map[int]polynomial {
	out := make(map[int]polynomial, len(bounds))
	for i := 0; len(bounds) > 0; {
		for len(bounds) > 0 && bounds[0] <= i {
			out[bounds[0]] = r.text
			bounds = bounds[1:]
		}
		if i < len(r.code) {
			i = r.token(i)
		} else {
			i++ // a bound after the text would be a bug of the parser
		}
	}
	return out
}

// token adds the token at an offset, and returns its end.
func (r *codeReader) token(i int) (end int) {
	if n := spanEnd(r.comments, &r.comment, i); n > i {
		return n
	}
	c := r.code[i]
	end = spanEnd(r.literals, &r.literal, i)
	switch {
	case end > i:
		if bytes.HasSuffix(r.code[:i], []byte("import(")) {
			r.text.add(inPlaceOfName)
		} else {
			r.add(i, end)
		}
		r.last = 0
	case c <= ' ':
		end = i + 1
	case '0' <= c && c <= '9':
		for end = i; end < len(r.code) && (identifierByte(r.code[end]) || r.code[end] == '.'); end++ {
		}
		if r.chunk(i) {
			r.text.add(inPlaceOfName)
		} else {
			r.add(i, end)
		}
		r.last = '0'
	case wordByte(c):
		end = r.word(i)
	default:
		r.text.add(c)
		r.last, end = c, i+1
	}
	return end
}

func (r *codeReader) add(start, end int) {
	for _, c := range r.code[start:end] {
		r.text.add(c)
	}
}

// word adds a word, or a placeholder for an identifier.
func (r *codeReader) word(i int) (end int) {
	end = wordEnd(r.code, i)
	before := r.last
	r.last = 'a'
	switch word := string(r.code[i:end]); {
	case before != '.' && reserved(word):
		r.add(i, end)
		return end
	case word == "__vite__mapDeps" && end < len(r.code) && r.code[end] == '(':
		if n := bytes.IndexByte(r.code[end:], ')'); n >= 0 {
			end += n // numbers of chunks
		}
	case before == '{' || before == ',':
		if n := r.value(end); n > 0 {
			end = n
		}
	}
	r.text.add(inPlaceOfName)
	return end
}

// value returns the end of the identifier up to offset that is the value of a property, or 0. A
// build that names b a writes {a:b} as {a}.
func (r *codeReader) value(offset int) int {
	i := skipSpace(r.code, offset)
	if i >= len(r.code) || r.code[i] != ':' {
		return 0
	}
	i = skipSpace(r.code, i+1)
	end := wordEnd(r.code, i)
	if end == i || '0' <= r.code[i] && r.code[i] <= '9' || reserved(string(r.code[i:end])) {
		return 0
	}
	next := r.code[skipSpace(r.code, end):]
	if len(next) > 0 && (next[0] == ',' || next[0] == '}') || len(next) > 1 && next[0] == '=' && next[1] != '>' &&
		next[1] != '=' {
		return end
	}
	return 0
}

// chunk reports whether the number at an offset is the id of a chunk or module that webpack loads,
// as in n.e(12).then(n.bind(n,345)).
func (r *codeReader) chunk(offset int) bool {
	before := r.code[:offset]
	if bytes.HasSuffix(before, []byte(".e(")) {
		return true
	}
	before, comma := bytes.CutSuffix(before, []byte(","))
	for len(before) > 0 && wordByte(before[len(before)-1]) {
		before = before[:len(before)-1]
	}
	return comma && bytes.HasSuffix(before, []byte(".bind("))
}

// spanEnd returns the end of the span that contains an offset, or 0. Spans are sorted, and offsets
// increase between calls.
func spanEnd(spans []outline.Span, next *int, offset int) int {
	for *next < len(spans) && spans[*next].End <= offset {
		*next++
	}
	if *next < len(spans) && spans[*next].Start <= offset {
		return spans[*next].End
	}
	return 0
}

// wordByte reports whether a byte may be part of an identifier, including escaped and private ones.
func wordByte(c byte) bool { return identifierByte(c) || c == '\\' || c == '#' }

func wordEnd(code []byte, i int) int {
	for i < len(code) && wordByte(code[i]) {
		i++
	}
	return i
}

// reserved reports whether a word is reserved, and thus not an identifier.
func reserved(word string) bool {
	switch word {
	case "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
		"delete", "do",
		"else", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "let",
		"new", "null",
		"return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while",
		"with", "yield":
		return true
	}
	return false
}
