package symbols

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

// anonymous is the name of a function without a name or known caller.
const anonymous = "(anonymous)"

// wraps reports whether a function is known to return its argument, so that its result gets the
// name of the argument.
func wraps(callee string) bool {
	switch callee {
	case "memo", "forwardRef", "lazy", "observer", "connect", "useCallback", "useEvent", "debounce", "throttle",
		"defineComponent", "action", "cache", "styled", "withRouter", "createAsyncThunk", "batch", "track",
		"untracked", "once":
		return true
	}
	return false
}

// own returns the name of a function without its enclosing functions.
func own(f *outline.Function) string {
	switch {
	case f.Kind == outline.Constructor || !f.Kind.Written():
		if f.Name == "" {
			return "new (class)"
		}
		return "new " + f.Name
	case f.Name != "" && f.Class != "":
		for _, accessor := range [...]string{"get ", "set "} {
			if rest, ok := strings.CutPrefix(f.Name, accessor); ok {
				return accessor + f.Class + "." + rest
			}
		}
		return f.Class + "." + f.Name
	case f.Name != "":
		return f.Name
	case f.Result != "" && wraps(f.Callee):
		return f.Result
	case f.Result != "" && f.Callee != "":
		return f.Result + "/" + call(f.Callee)
	case f.Callee != "":
		return call(f.Callee)
	}
	return anonymous
}

// call formats a call. A callee with an argument already has parentheses.
func call(callee string) string {
	if strings.HasSuffix(callee, ")") {
		return callee
	}
	return callee + "()"
}

// describe sets the paths of all functions, from their names and the names of enclosing functions,
// and numbers functions with equal paths.
func (o *original) describe() {
	if o.paths != nil {
		return
	}
	o.paths, o.ordinals = make([]string, len(o.functions)), make([]uint32, len(o.functions))
	seen := make(map[string]uint32, len(o.functions))
	for i := range o.functions { // enclosing functions come first
		f := &o.functions[i]
		p := own(f)
		if f.Parent >= 0 {
			p = o.paths[f.Parent] + "/" + p
		}
		if len(p) > maxPath { // for functions nested a thousand deep, the end of the path distinguishes them
			p = p[len(p)-maxPath:]
		}
		o.paths[i], o.ordinals[i] = p, seen[p]
		seen[p]++
	}
}

// maxPath is the maximum length of a path, in bytes: otherwise deep nesting would take quadratic
// space.
const maxPath = 1 << 10

// label returns the readable name. A function without a name gets the name of the nearest enclosing
// function that has one.
func (o *original) label(i int32) string {
	f := &o.functions[i]
	name := own(f)
	if f.Name != "" || f.Kind == outline.Constructor || !f.Kind.Written() || f.Result != "" && wraps(f.Callee) {
		return name
	}
	for at := f.Parent; at >= 0; at = o.functions[at].Parent {
		if around := &o.functions[at]; around.Name != "" || around.Result != "" {
			return own(around) + "/" + name
		}
	}
	return name
}

// keyOf returns the key of a function from its source, its path, and its number among the functions
// with the same path.
func keyOf(source, path string, ordinal uint32) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(source))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(path))
	_, _ = h.Write(binary.AppendUvarint([]byte{0}, uint64(ordinal)))
	return max(h.Sum64(), 1)
}

// PathKey returns a hash of the function's source, its name and its enclosing names: the key
// without the number. It undoes the last steps of [keyOf], so tables need no column for it.
func (f *Function) PathKey() uint64 {
	const prime = 1099511628211 // of FNV
	h := f.Key
	for _, b := range slices.Backward(binary.AppendUvarint([]byte{0}, uint64(f.Ordinal))) {
		h = h*inverse(prime) ^ uint64(b)
	}
	return h
}
