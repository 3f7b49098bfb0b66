package symbols

import (
	"math"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// original is a source file of a script, with indexes of its functions.
type original struct {
	written
	text      []byte
	positions *sourcemap.Positions

	// The innermost function at an offset is within[i], where i is the last edge at or before the
	// offset; -1 is none.
	edges  []int32
	within []int32
	last   int // last edge found; the next lookup is usually close to it

	// begins has the function that begins at an offset, or whose own name begins there. parameters
	// has the function whose parameters begin there after the parenthesis, which minifiers drop or
	// map to the first parameter.
	begins     map[int32]int32
	parameters map[int32]int32

	mapped []uint64 // bit by offset: a mapping leads there
	taken  []bool   // by function: matched with a function of the script

	paths    []string // by function, see describe
	ordinals []uint32
}

// newOriginal parses a source. Languages without functions, such as CSS, have none.
func newOriginal(source string, text []byte) *original {
	o := &original{text: text, positions: sourcemap.NewPositions(text), mapped: make([]uint64, len(text)/64+1)}
	code := text
	language := outline.JavaScript
	name, _, _ := strings.Cut(source, "?")
	switch path.Ext(name) {
	case ".ts", ".mts", ".cts":
		language = outline.TypeScript
	case ".tsx":
		language = outline.TSX
	case ".vue", ".svelte", ".astro":
		language, code = outline.TypeScript, outline.ComponentScripts(text)
	case ".css", ".scss", ".sass", ".less", ".json", ".html", ".svg":
		return o
	}
	o.written = read(code, language)
	o.taken = make([]bool, len(o.functions))
	o.nest()
	o.indexBegins(code)
	return o
}

// nest finds the innermost function at every offset.
func (o *original) nest() {
	var open []int32
	edge := func(offset int, function int32) {
		if n := len(o.edges); n > 0 && int(o.edges[n-1]) == offset {
			o.within[n-1] = function
			return
		}
		o.edges, o.within = append(o.edges, int32(offset)), append(o.within, function)
	}
	closeOne := func() {
		end := o.functions[open[len(open)-1]].End
		open = open[:len(open)-1]
		around := int32(-1)
		if len(open) > 0 {
			around = open[len(open)-1]
		}
		edge(end, around)
	}
	for i := range o.functions {
		f := &o.functions[i]
		for len(open) > 0 && o.functions[open[len(open)-1]].End <= f.Start {
			closeOne()
		}
		if f.Kind.Written() {
			open = append(open, int32(i))
			edge(f.Start, int32(i))
		}
	}
	for len(open) > 0 {
		closeOne()
	}
}

// indexBegins records where functions begin. The first function at an offset takes it; written
// functions come before implicit functions of classes.
func (o *original) indexBegins(code []byte) {
	o.begins, o.parameters = make(map[int32]int32, 2*len(o.functions)), map[int32]int32{}
	put := func(m map[int32]int32, offset, function int) {
		if _, ok := m[int32(offset)]; !ok {
			m[int32(offset)] = int32(function)
		}
	}
	for i := range o.functions {
		f := &o.functions[i]
		if !f.Kind.Written() {
			continue
		}
		put(o.begins, f.Place, i)
		put(o.begins, f.Start, i)
		if f.Binding == outline.Own {
			put(o.begins, f.BindStart, i)
		}
	}
	for i := range o.functions {
		f := &o.functions[i]
		if !f.Kind.Written() {
			put(o.begins, f.Place, i)
			continue
		}
		at := f.Place
		if rest := code[at:]; f.Kind == outline.Arrow && len(rest) > 5 && string(rest[:5]) == "async" &&
			!identifierByte(rest[5]) {
			at = skipSpace(code, at+5)
			put(o.begins, at, i)
		}
		if at = skipTypes(code, at); at < len(code) && code[at] == '(' {
			put(o.parameters, skipSpace(code, at+1), i)
		}
	}
}

// skipTypes returns the offset after the type parameters at an offset and the white space after
// them.
func skipTypes(code []byte, at int) int {
	depth := 0
	for i := at; i < len(code) && i < at+maxTypes; i++ {
		switch code[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return skipSpace(code, i+1)
			}
		}
		if depth == 0 {
			break
		}
	}
	return at
}

// maxTypes bounds the bytes of type parameters, as they are searched for each function.
const maxTypes = 500

func skipSpace(text []byte, at int) int {
	for at < len(text) && text[at] <= ' ' {
		at++
	}
	return at
}

func identifierByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// innermost returns the innermost function at an offset, or -1.
func (o *original) innermost(offset int32) int32 {
	holds := func(i int) bool {
		return o.edges[i] <= offset && (i+1 == len(o.edges) || offset < o.edges[i+1])
	}
	if len(o.edges) == 0 || offset < o.edges[0] {
		return -1
	}
	if !holds(o.last) {
		i, found := slices.BinarySearch(o.edges, offset)
		if !found {
			i--
		}
		o.last = i
	}
	return o.within[o.last]
}

// markMapped records that a mapping points to an offset.
func (o *original) markMapped(offset int32) { o.mapped[offset/64] |= 1 << (offset % 64) }

// fragmentEnd returns the next offset with a mapping. Bundlers that do not map identifiers map
// fragments, the text between two such offsets.
func (o *original) fragmentEnd(offset int32) int32 {
	offset++
	word := int(offset / 64)
	if word >= len(o.mapped) {
		return math.MaxInt32
	}
	set := o.mapped[word] >> (offset % 64) << (offset % 64)
	for set == 0 {
		if word++; word == len(o.mapped) {
			return math.MaxInt32
		}
		set = o.mapped[word]
	}
	return int32(64*word + bits.TrailingZeros64(set))
}

// beginning returns the first offset of a function, which may be its own name.
func beginning(f *outline.Function) int {
	if f.Binding == outline.Own {
		return min(f.Start, f.BindStart)
	}
	return f.Start
}
