package wasm

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Function returns the name of a function by its number, which counts the imported
// functions first; "" if it has none.
//
// Names of C++ and Rust are demangled. Go's linker replaces each character except letters, digits,
// "_" and "." with "_" (nameRegexp in cmd/link/internal/wasm). Only one form can be recognised in
// the result: a method of a pointer, pkg.__T_.Method, which becomes pkg.(*T).Method again. Slashes
// and dashes in the path of a package are lost, and so are brackets of type arguments:
// example.com_a_b.F may belong to example.com/a/b or to example.com/a_b. TinyGo keeps all names
// unchanged.
func (m *Module) Function(number uint32) string { return m.readable(m.names[number]) }

// readable returns the usual form of a name of m.
func (m *Module) readable(name string) string {
	if m.fromGo {
		return pointerMethods(name)
	}
	return demangled(name)
}

// Limits of demangled names. A short mangled name can expand to a very long one.
const (
	maxMangled   = 8 << 10
	maxDemangled = 14 // as a power of two
)

// demangled returns the C++ or Rust form of name, or name itself.
func demangled(name string) string {
	if len(name) > maxMangled || !strings.HasPrefix(name, "_") {
		return name
	}
	return demangle.Filter(name, demangle.NoClones, demangle.MaxLength(maxDemangled))
}

// pointerMethods replaces ".__T_." by ".(*T).".
func pointerMethods(name string) string {
	const begin, end = ".__", "_."
	var b strings.Builder
	for {
		i := strings.Index(name, begin)
		if i < 0 {
			break
		}
		i += len(begin)
		n := strings.IndexByte(name[i:], '.') // T is a word
		if n < 2 || !strings.HasSuffix(name[:i+n+1], end) {
			b.WriteString(name[:i])
			name = name[i:]
			continue
		}
		b.WriteString(name[:i-len("__")] + "(*" + name[i:i+n-1] + ")")
		name = name[i+n:]
	}
	return b.String() + name
}
