package symbols

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

// written is a text with its functions.
type written struct {
	code      []byte // non-script parts are blanked
	functions []outline.Function

	comments, literals []outline.Span
}

// read parses a text, up to the place where the parser stops at an error.
func read(code []byte, language outline.Language) written {
	o, _ := outline.Read(code, language)
	return written{code, o.Functions, o.Comments, o.Literals}
}

// hashes are hashes of a function's text, without comments, and without white space outside of
// literals.
type hashes struct {
	whole uint32
	own   uint32 // without nested functions, and without its name
}

// Placeholders for omitted parts. Text outside of literals never contains these bytes.
const (
	inPlaceOfFunction = 1
	inPlaceOfName     = 2
)

// polynomial is a hash of a text, with the power of the factor that shifts preceding text.
type polynomial struct{ hash, power uint64 }

const factor = 0x9E3779B97F4A7C15 | 1

func (p *polynomial) add(c byte) {
	p.hash, p.power = p.hash*factor+uint64(c), p.power*factor
}

func (p *polynomial) append(q polynomial) {
	p.hash, p.power = p.hash*q.power+q.hash, p.power*q.power
}

// after returns the part of p after its prefix q. Powers are odd, so they have an inverse.
func (p polynomial) after(q polynomial) polynomial {
	power := p.power * inverse(q.power)
	return polynomial{p.hash - q.hash*power, power}
}

// sum returns the hash, which is never 0. The last bytes of the text affect only the low bits, so
// the high bits are mixed in first.
func (p polynomial) sum() uint32 {
	h := p.hash ^ p.hash>>32
	h *= 0xD6E8FEB86659FD93
	return max(uint32((h^h>>32)*0xD6E8FEB86659FD93>>32), 1)
}

// inverse returns the inverse of an odd number modulo 2^64, by Newton's iteration: each step
// doubles the number of correct bits.
func inverse(x uint64) uint64 {
	y := x // correct in 3 bits
	for range 5 {
		y *= 2 - x*y
	}
	return y
}

// textHashes returns the hashes of each function. It reads the text once: the hash of a part is the
// difference of the hashes of two prefixes.
func (w *written) textHashes() []hashes {
	bounds := make([]int, 0, 4*len(w.functions))
	for i := range w.functions {
		f := &w.functions[i]
		bounds = append(bounds, f.Start, f.End)
		if f.BindStart >= 0 {
			bounds = append(bounds, f.BindStart, f.BindEnd)
		}
	}
	slices.Sort(bounds)
	at := w.prefixes(slices.Compact(bounds))
	within := w.members()
	out := make([]hashes, len(w.functions))
	for i := range w.functions {
		f := &w.functions[i]
		out[i].whole = at[f.End].after(at[f.Start]).sum()
		out[i].own = w.ownHash(f, within(i), at)
	}
	return out
}

// prefixes returns the hashes of the text up to the given offsets, which must be sorted.
func (w *written) prefixes(bounds []int) map[int]polynomial {
	out := make(map[int]polynomial, len(bounds))
	p, next, comment, literal := polynomial{0, 1}, 0, 0, 0
	for i := 0; i <= len(w.code) && next < len(bounds); i++ {
		if i == bounds[next] {
			out[i] = p
			next++
		}
		if i == len(w.code) {
			break
		}
		for comment < len(w.comments) && w.comments[comment].End <= i {
			comment++
		}
		for literal < len(w.literals) && w.literals[literal].End <= i {
			literal++
		}
		switch {
		case comment < len(w.comments) && w.comments[comment].Start <= i:
		case w.code[i] > ' ' || literal < len(w.literals) && w.literals[literal].Start <= i:
			p.add(w.code[i])
		}
	}
	return out
}

// ownHash returns the hash of a function's text without nested functions. The implicit functions of
// a class do not depend on its other members.
func (w *written) ownHash(f *outline.Function, within []int32, at map[int]polynomial) uint32 {
	p, from := polynomial{0, 1}, f.Start
	omit := func(start, end int, inPlace byte) {
		if start < from || end > f.End {
			return
		}
		p.append(at[start].after(at[from]))
		if f.Kind.Written() || inPlace == inPlaceOfName {
			p.add(inPlace)
		}
		from = end
	}
	named := f.BindStart < 0
	for _, i := range within {
		g := &w.functions[i]
		if !named && f.BindStart <= g.Start {
			named = true
			omit(f.BindStart, f.BindEnd, inPlaceOfName)
		}
		omit(g.Start, g.End, inPlaceOfFunction)
	}
	if !named {
		omit(f.BindStart, f.BindEnd, inPlaceOfName)
	}
	p.append(at[f.End].after(at[from]))
	return p.sum()
}

// members returns a function that returns the outermost written functions within a function.
func (w *written) members() func(i int) []int32 {
	children := make(map[int][]int32, len(w.functions)) // by enclosing written function, -1 for none
	for i := range w.functions {
		if f := &w.functions[i]; f.Kind.Written() {
			children[f.Parent] = append(children[f.Parent], int32(i))
		}
	}
	return func(i int) []int32 {
		f := &w.functions[i]
		if f.Kind.Written() {
			return children[i]
		}
		all := children[f.Parent]
		first := func(offset int) int {
			k, _ := slices.BinarySearchFunc(all, offset, func(g int32, offset int) int {
				return cmp.Compare(w.functions[g].Start, offset)
			})
			return k
		}
		return all[first(f.Start):first(f.End)]
	}
}
