package outline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

// hostile are fragments that, repeated, make a text deeply nested, ambiguous everywhere, or never
// closed.
var hostile = []struct {
	piece    string
	language outline.Language
}{
	{"(", outline.JavaScript}, {"[", outline.JavaScript}, {"{", outline.JavaScript}, {"({", outline.Script},
	{"`${", outline.JavaScript}, {"a=>", outline.JavaScript}, {"(a=>", outline.JavaScript},
	{"(a=(", outline.JavaScript},
	{"function f(){", outline.JavaScript}, {"(function(a=", outline.JavaScript}, {"class A{a=", outline.JavaScript},
	{"class A{static{", outline.JavaScript}, {"class extends ", outline.JavaScript}, {"=class extends ",
		outline.JavaScript}, {"class A{[", outline.JavaScript},
	{"new ", outline.JavaScript}, {"!", outline.JavaScript}, {"-", outline.JavaScript}, {"a=", outline.JavaScript},
	{"a?", outline.JavaScript}, {"a?b:", outline.JavaScript},
	{"async ", outline.JavaScript}, {"async(", outline.JavaScript}, {"async\n", outline.JavaScript},
	{"await ", outline.JavaScript}, {"yield ", outline.JavaScript},
	{"if(a)", outline.JavaScript}, {"if(a);else ", outline.JavaScript}, {"do ", outline.JavaScript},
	{"a:", outline.JavaScript}, {"for(", outline.JavaScript}, {"switch(a){case ", outline.JavaScript},
	{"@(", outline.JavaScript}, {"@a ", outline.JavaScript}, {"export ", outline.JavaScript},
	{"import ", outline.JavaScript}, {"let ", outline.JavaScript}, {"using ", outline.JavaScript},
	{"()=>1,", outline.JavaScript}, {"a(()=>1).", outline.JavaScript}, {"f(()=>", outline.JavaScript},
	{"x=f(()=>", outline.JavaScript}, {"(a=()=>1)=>", outline.JavaScript}, {"(()=>1,", outline.JavaScript},
	{"<a>", outline.JavaScript}, {"<a b={", outline.JavaScript}, {"<a>{", outline.JavaScript},
	{"<a b=<a ", outline.JavaScript}, {"<>", outline.JavaScript}, {"<", outline.JavaScript},
	{"<a.", outline.JavaScript}, {"<a/>/*", outline.JavaScript},
	{"/[", outline.JavaScript}, {"/", outline.JavaScript}, {"/*", outline.JavaScript}, {"<!--", outline.JavaScript},
	{"'", outline.JavaScript}, {"'\\", outline.JavaScript}, {"\\u{", outline.JavaScript},
	{"\\", outline.JavaScript}, {"a\\u{", outline.JavaScript},
	{"}", outline.JavaScript}, {")", outline.JavaScript}, {"\xe2\x80", outline.JavaScript},
	{"\xff", outline.JavaScript}, {"\x00", outline.JavaScript}, {"#", outline.JavaScript},
	{"0.", outline.JavaScript}, {"\n-->", outline.JavaScript},
	{"({a({", outline.JavaScript}, {"{get ", outline.JavaScript}, {"({get a(){", outline.JavaScript},
	{"a?.", outline.JavaScript}, {"a[", outline.JavaScript}, {"a`", outline.JavaScript},

	{"a?(b):", outline.TypeScript}, {"a?(", outline.TypeScript}, {"a?(b):c=>", outline.TypeScript}, {"a?(b:c)=>d:(e)=>",
		outline.TypeScript}, {"a?async(b):c=>", outline.TypeScript}, {"case(a):b=>", outline.TypeScript},
	{"a<", outline.TypeScript}, {"a<b<", outline.TypeScript}, {"a<(", outline.TypeScript}, {"a<{", outline.TypeScript},
	{"a<b>(", outline.TypeScript}, {"a<b>(c<", outline.TypeScript}, {"a<[b<", outline.TypeScript},
	{"a<`${", outline.TypeScript}, {"a<()=>", outline.TypeScript},
	{"<a>", outline.TypeScript}, {"<a>(", outline.TypeScript}, {"<", outline.TypeScript},
	{"<a extends ", outline.TypeScript}, {"async<a>(", outline.TypeScript}, {"async<a>(b=", outline.TypeScript},
	{"<a>(b=", outline.TypeScript},
	{"(", outline.TypeScript}, {"(a:", outline.TypeScript}, {"(a):", outline.TypeScript}, {"(a?:", outline.TypeScript},
	{"(a:b=", outline.TypeScript}, {"():()=>", outline.TypeScript}, {"()=>(a):", outline.TypeScript},
	{"let a:", outline.TypeScript}, {"type a=", outline.TypeScript}, {"type a=b extends ", outline.TypeScript},
	{"type a=(", outline.TypeScript}, {"type a=keyof ", outline.TypeScript}, {"type a=b|", outline.TypeScript},
	{"let a:(b:", outline.TypeScript},
	{"declare ", outline.TypeScript}, {"abstract class a{", outline.TypeScript}, {"namespace a{", outline.TypeScript},
	{"enum a{b=", outline.TypeScript}, {"interface a{", outline.TypeScript}, {"function f();", outline.TypeScript},
	{"class a{b();", outline.TypeScript}, {"class a implements ", outline.TypeScript},
	{"a!", outline.TypeScript}, {"a as ", outline.TypeScript}, {"a as b<", outline.TypeScript},
	{"@a<b>", outline.TypeScript},
	{"<T,>(", outline.TSX}, {"<T>", outline.TSX}, {"<a<b>>", outline.TSX}, {"a?<b>(c):{", outline.TSX},
	{"async<T,>(", outline.TSX},
}

func TestHostile(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.piece, func(t *testing.T) {
			text := []byte(strings.Repeat(test.piece, 1<<18/len(test.piece)))
			checkFunctions(t, text, test.language)
		})
	}
}

// checkFunctions checks properties of the functions of any text.
func checkFunctions(t *testing.T, text []byte, language outline.Language) {
	t.Helper()
	functions, _, err := outline.Functions(text, language)
	if err != nil && !errors.Is(err, outline.ErrNested) && !errors.Is(err, outline.ErrWork) {
		t.Errorf("error %v", err)
	}
	if len(functions) > len(text) {
		t.Errorf("%d functions in %d bytes", len(functions), len(text))
	}
	for i, f := range functions {
		if f.Start < 0 || f.Start > f.Place || f.Place > f.Body || f.Body > f.End || f.End > len(text) ||
			f.Start == f.End {
			t.Fatalf("function %d: %+v of %d bytes", i, f, len(text))
		}
		if (f.BindStart < 0) != (f.BindEnd < 0) || f.BindStart > f.BindEnd || f.BindEnd > len(text) {
			t.Fatalf("function %d: bound to %d–%d of %d bytes", i, f.BindStart, f.BindEnd, len(text))
		}
		if f.Kind > outline.Statics || f.Binding > outline.Member || f.Parameters < 0 {
			t.Fatalf("function %d: %+v", i, f)
		}
		if i > 0 && functions[i-1].Start > f.Start {
			t.Fatalf("functions %d and %d are not sorted", i-1, i)
		}
		if f.Parent < -1 || f.Parent >= i {
			t.Fatalf("function %d has parent %d", i, f.Parent)
		}
		if f.Parent >= 0 {
			if around := functions[f.Parent]; !around.Kind.Written() || around.Start > f.Start || around.End < f.End {
				t.Fatalf("function %d: %+v does not enclose %+v", i, around, f)
			}
		}
	}
}

func FuzzFunctions(f *testing.F) {
	for _, pattern := range []string{"*.tsx", "starts/*.js"} {
		names, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("no seeds %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			for language := range outline.Script + 1 {
				f.Add(text, uint8(language))
			}
		}
	}
	for _, test := range hostile {
		f.Add([]byte(strings.Repeat(test.piece, 20)), uint8(test.language))
	}
	f.Fuzz(func(t *testing.T, text []byte, language uint8) {
		checkFunctions(t, text, outline.Language(language)%(outline.Script+1))
		if scripts := outline.ComponentScripts(text); len(scripts) != len(text) {
			t.Errorf("scripts of %d bytes have %d", len(text), len(scripts))
		}
	})
}
