package symbols

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

// The hash of a function's code changes with its behaviour, but not with choices of the bundler for
// the rest of the build.
func TestCodeHashes(t *testing.T) {
	for _, x := range []struct {
		about, a, b string
		differ      []int // functions whose code differs
	}{
		{"identifiers", "function f(e,t){return e+t}", "function $(of,_x){return of+_x}", nil},
		{"white space and comments", "function f(e){return e+1}", "function f(e){ /* of */return e + 1\n}", nil},
		{"a name", "x(function f(e){return e})", "x(function(e){return e})", nil},
		{"a property with the name of its value", "f=e=>({a:e,b:2,c:e=3})", "f=a=>({a,b:2,c=3})", nil},
		{"mangled exports", "f=()=>(0,n.Ay)(1)", "f=()=>(0,r.zX)(1)", nil},
		{"chunks of webpack", "f=()=>n.e(12).then(n.bind(n,34))", "f=()=>r.e(56).then(r.bind(r,78))", nil},
		{"chunks of Vite", `f=()=>i(()=>import("./a-1f.js"),__vite__mapDeps([0,1]))`,
			`f=()=>o(()=>import("./a-2e.js"),__vite__mapDeps([2,3,4]))`, nil},
		{"a number", "f=e=>e*1", "f=e=>e*2", []int{0}},
		{"a bound number", "f=e=>g.bind(e,1,2)", "f=e=>g.bind(e,1,3)", []int{0}},
		{"a string", `f=e=>e+"dev build"`, `f=e=>e+"the build"`, []int{0}},
		{"a template", "f=e=>`a ${e} b`", "f=e=>`a ${e} c`", []int{0}},
		{"a regular expression", "f=e=>/ab/.test(e)", "f=e=>/ac/.test(e)", []int{0}},
		{"dead code", "f=e=>e", "f=e=>(log(e),e)", []int{0}},
		{"a word of the language", "f=e=>typeof e", "f=e=>void e", []int{0}},
		{"a condition, not a property", "f=e=>[e,e?e:e]", "f=e=>[e,e?e:1]", []int{0}},
		{"a function within", "function f(){return()=>1}", "function f(){return()=>2}", []int{1}},
	} {
		a, b := read([]byte(x.a), outline.Script), read([]byte(x.b), outline.Script)
		before, after := a.codeHashes(), b.codeHashes()
		if len(before) != len(after) || slices.Contains(before, 0) {
			t.Fatalf("%s: hashes %v, %v", x.about, before, after)
		}
		var differ []int
		for i := range before {
			if before[i] != after[i] {
				differ = append(differ, i)
			}
		}
		if !slices.Equal(differ, x.differ) {
			t.Errorf("%s: functions %v differ, not %v", x.about, differ, x.differ)
		}
	}
}
