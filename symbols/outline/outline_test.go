package outline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

var kindNames = map[outline.Kind]string{
	outline.Plain: "function", outline.Arrow: "arrow", outline.Method: "method", outline.Getter: "getter",
	outline.Setter: "setter", outline.Constructor: "constructor", outline.Class: "class",
	outline.Fields: "fields", outline.Statics: "statics",
}

// describe describes a function in words, without its places.
func describe(f outline.Function) string {
	words := []string{kindNames[f.Kind]}
	if f.Name != "" {
		words = append(words, f.Name)
	}
	if f.Binding == outline.Member {
		words = append(words, "(member)")
	}
	if f.Class != "" && f.Kind.Written() && f.Kind != outline.Constructor {
		words = append(words, "of "+f.Class)
	}
	if f.Callee != "" {
		words = append(words, "in "+f.Callee)
	}
	if f.Result != "" {
		words = append(words, "for "+f.Result)
	}
	return strings.Join(words, " ")
}

// cut removes the marks ¦ from a text and returns their offsets.
func cut(marked string) (text string, marks []int) {
	for {
		before, after, found := strings.Cut(marked, "¦")
		text += before
		if !found {
			return text, marks
		}
		marks = append(marks, len(text))
		marked = after
	}
}

// example is a text with a ¦ at the place of each function, and descriptions of these, sorted by
// start.
type example struct {
	name, text string
	want       []string
}

func testExamples(t *testing.T, language outline.Language, examples []example) {
	for _, test := range examples {
		t.Run(test.name, func(t *testing.T) {
			text, marks := cut(test.text)
			functions, unclear, err := outline.Functions([]byte(text), language)
			if unclear > 0 || err != nil {
				t.Errorf("%d places unclear, error %v", unclear, err)
			}
			var got []string
			var places []int
			for _, f := range functions {
				got = append(got, describe(f))
				places = append(places, f.Place)
			}
			slices.Sort(places)
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if !slices.Equal(places, marks) {
				t.Errorf("places %v, want %v", places, marks)
			}
		})
	}
}

func list(functions ...string) []string { return functions }

func TestNames(t *testing.T) {
	testExamples(t, outline.JavaScript, []example{
		{"empty", "", nil},
		{"declarations", "function a¦(){} async function b¦(){} function* c¦(){} async function*d¦(){}",
			list("function a", "function b", "function c", "function d")},
		{"variables", "var a=function¦(){},b=¦()=>1;let c=¦async()=>1;const d=¦async x=>x", list("function a",
			"arrow b", "arrow c", "arrow d")},
		{"own name first", "const a=function b¦(){}", list("function b")},
		{"parentheses", "const a=((function¦(){}));const b=(¦()=>1)", list("function a", "arrow b")},
		{"comma", "const a=(0,function¦(){})", list("function")},
		{"operators", "const a=b||function¦(){},c=b?¦()=>1:¦()=>2,d=!function¦(){}", list("function", "arrow", "arrow",
			"function")},
		{"called immediately", "const a=(function¦(){})();const b=(¦()=>{})();!function¦(){}()", list("function for a",
			"arrow for b", "function")},
		{"member of a function", "const a=function¦(){}.bind(b)", list("function")},
		{"assignments", "a=function¦(){};a??=¦()=>1;a||=¦()=>1;a&&=¦()=>1;a+=¦()=>1;a=b=¦()=>1", list("function a",
			"arrow a", "arrow a", "arrow a", "arrow", "arrow b")},
		{"members", "a.b=function¦(){};a.b.c=¦()=>1;a['d e']=¦()=>1;a[f]=¦()=>1;this.#g=¦()=>1;a?.h(¦()=>1)",
			list("function b (member)", "arrow c (member)", "arrow d e (member)", "arrow", "arrow #g (member)",
				"arrow in h")},
		{"defaults", "function f¦(a=¦()=>1,{b=¦()=>1,c:d=¦()=>1,e:{g=¦()=>1}},[h=¦()=>1]){}", list("function f",
			"arrow a", "arrow b", "arrow d", "arrow g", "arrow h")},
		{"patterns", "const {a=¦()=>1,b:c=¦()=>1}=d,[e=¦()=>1]=f;({g=¦()=>1}=h);[i=¦()=>1]=j",
			list("arrow a", "arrow c", "arrow e", "arrow g", "arrow i")},
		{"defaults of arrows", "const f=¦(a=¦()=>1,b)=>a;const g=¦({h=¦()=>1})=>h", list("arrow f", "arrow a",
			"arrow g", "arrow h")},
		{"curried", "const a=¦b=>¦c=>¦(d)=>¦async e=>f", list("arrow a", "arrow", "arrow", "arrow")},
		{"objects", "a={b¦(){},c:function¦(){},d:¦()=>1,async e¦(){},*f¦(){},async*g¦(){},get h¦(){},set " +
			"i¦(v){},'j k'¦(){},1e3¦(){},[l]¦(){},['m']¦(){},get[n]¦(){},...o,p,q:r}",
			list("method b", "function c", "arrow d", "method e", "method f", "method g", "getter get h",
				"setter set i", "method j k", "method 1000", "method", "method m (member)", "getter")},
		{"words as keys", "a={get¦(){},set¦(){},async¦(){},static¦(){},await¦(){},get get¦(){},async " +
			"async¦(){},get:¦()=>1,async:1,get,set,if¦(){},async*yield¦(){},get\nx¦(){}}",
			list("method get", "method set", "method async", "method static", "method await", "getter get get",
				"method async", "arrow get", "method if", "method yield", "getter get x")},
		{"numbers as keys", "a={0x10¦(){},.5¦(){},1_000¦(){},42n¦(){},0b11¦(){},1e21¦(){},1e-7¦(){}}",
			list("method 16", "method 0.5", "method 1000", "method 42", "method 3", "method 1e+21", "method 1e-7")},
		{"prototype", "a={__proto__:¦()=>1,'__proto__':¦()=>1,__proto__¦(){}}", list("arrow", "arrow",
			"method __proto__")},
		{"escapes", `const \u0061b\u{63}=¦()=>1;a={'\n\x41\u{1f600}\ud83d\ude00\
'¦(){},"\q"¦(){}}`, list("arrow abc", "method \nA😀😀", "method q")},
		{"default function", "export default function¦(){}", list("function default")},
		{"default async function", "export default async function¦(){}", list("function default")},
		{"default arrow", "export default ¦()=>1", list("arrow default")},
		{"default in parentheses", "export default (function¦(){})", list("function default")},
		{"default class", "export default ¦class{a¦(){}}", list("class default", "method a of default")},
		{"default with a name", "export default function a¦(){}", list("function a")},
		{"default call", "export default memo(¦()=>1)", list("arrow in memo for default")},
		{"exports", "export function a¦(){} export const b=¦()=>1;export async function c¦(){} export class " +
			"D{constructor¦(){}}", list("function a", "arrow b", "function c", "constructor D")},
	})
}

func TestCalls(t *testing.T) {
	testExamples(t, outline.JavaScript, []example{
		{"callee", "a(¦()=>1);b.c(function¦(){});new D(¦()=>1);new e.F(¦()=>1);super.g(¦()=>1)", list("arrow in a",
			"function in c", "arrow in D", "arrow in F", "arrow in g")},
		{"no name", "a()(¦()=>1);a[b](¦()=>1);(0,a)(¦()=>1);a['b'](¦()=>1)", list("arrow", "arrow", "arrow",
			"arrow in b")},
		{"all arguments", "a(¦()=>1,b,function c¦(){},...d)", list("arrow in a", "function c in a")},
		{"literal", `a('b',¦()=>1);a("b",c,¦()=>1);a("b"+c,¦()=>1);a(c,"b",¦()=>1)`, list(`arrow in a("b")`,
			`arrow in a("b")`, "arrow in a", "arrow in a")},
		{"long literal", "a('" + strings.Repeat("b", 65) + "',¦()=>1)", list("arrow in a")},
		{"result", "const a=memo(¦()=>1),b=c.d(¦()=>1);e=f(¦()=>1);g={h:i(¦()=>1)}", list("arrow in memo for a",
			"arrow in d for b", "arrow in f for e", "arrow in i for h")},
		{"result of a chain", "const a=b(¦()=>1).c(¦()=>2)", list("arrow in b for a", "arrow in c for a")},
		{"result of new", "const a=new B(¦()=>1)", list("arrow in B for a")},
		{"result of a call of a call", "const a=b(c)(¦()=>1)", list("arrow for a")},
		{"result of parentheses", "const a=(b(¦()=>1))", list("arrow in b for a")},
		{"not the result", "const a=b(¦()=>1)+1,c=[d(¦()=>1)],e=f(g(¦()=>1)),h=i(¦()=>1).j", list("arrow in b",
			"arrow in d", "arrow in g", "arrow in i")},
		{"class as argument", "const a=b(¦class{c¦(){}})", list("class in b for a", "method c")},
		{"new", "new new a(¦()=>1)(¦()=>2);new a;new a.b;new (a())(¦()=>3)", list("arrow in a", "arrow", "arrow")},
		{"new.target", "function a¦(){new.target(¦()=>1)}", list("function a", "arrow")},
		{"optional", "a?.(¦()=>1);a?.b?.[c]?.(¦()=>1);a?.5:¦()=>1", list("arrow in a", "arrow", "arrow")},
		{"import", "import(a).then(¦()=>1);import.meta.b(¦()=>1)", list("arrow in then", "arrow in b")},
		{"called async", "async(¦()=>1);async\n(¦()=>1);const a=async(¦()=>1)", list("arrow in async", "arrow in async",
			"arrow in async for a")},
		{"jsx", "a=<b c={¦()=>1} d-e={function¦(){}} f={g(¦()=>1)} {...h(¦()=>1)}>{¦()=>1}</b>", list("arrow in c",
			"function in d-e", "arrow in g", "arrow in h", "arrow")},
	})
}

func TestClasses(t *testing.T) {
	testExamples(t, outline.JavaScript, []example{
		{"bare", "¦class A{};a=¦class{};b=¦class C extends D{}", list("class A", "class a", "class C")},
		{"named by a variable", "const A=¦class{b¦(){} ¦c=1}", list("class A", "method b of A", "fields A")},
		{"constructors", "class A{constructor¦(){}} class B extends A{'constructor'¦(){super()}} ¦class C{static " +
			"constructor¦(){} ['constructor']¦(){} get[a]¦(){}}",
			list("constructor A", "constructor B", "class C", "method constructor of C",
				"method constructor (member) of C", "getter of C")},
		{"members", "¦class A{a¦(){} static b¦(){} async c¦(){} *d¦(){} async*e¦(){} get f¦(){} set f¦(v){} " +
			"#g¦(){} static async*#h¦(){} get #i¦(){} 'j'¦(){} 1¦(){} [k]¦(){}}",
			list("class A", "method a of A", "method b of A", "method c of A", "method d of A", "method e of A",
				"getter get f of A", "setter set f of A", "method #g of A", "method #h of A", "getter get #i of A",
				"method j of A", "method 1 of A", "method of A")},
		{"fields", "¦class A{¦a=¦()=>1;b=function¦(){};#c=¦()=>1;'d'=¦()=>1;[e]=¦()=>1;f;g=h(¦()=>1)}",
			list("class A", "fields A", "arrow a of A", "function b of A", "arrow #c of A", "arrow d of A", "arrow",
				"arrow in h for g")},
		{"statics", "¦class A{¦static a=¦()=>1;static b;static{¦()=>1}}", list("class A", "statics A",
			"arrow a of A", "arrow")},
		{"static block", "¦class A{¦static{var a=¦()=>1;function b¦(){}} static\n{}}", list("class A", "statics A",
			"arrow a", "function b")},
		{"computed field", "¦class A{¦[a]=1}", list("class A", "fields A")},
		{"words as members", "¦class A{get¦(){} set¦(){} async¦(){} static¦(){} static static¦(){} static get " +
			"get¦(){} static async async¦(){}}",
			list("class A", "method get of A", "method set of A", "method async of A", "method static of A",
				"method static of A", "getter get get of A", "method async of A")},
		{"words as fields", "¦class A{¦get;set;async\nstatic\nb¦(){} get\n*c¦(){} accessor;accessor " +
			"d=1;¦static async;static e}",
			list("class A", "fields A", "method b of A", "method c of A", "statics A")},
		{"fields without semicolons", "¦class A{¦a=1\nb=2\nc\nd¦(){}\ne\n['f']¦(){}}", list("class A", "fields A",
			"method d of A", "method f (member) of A")},
		{"in a class", "¦class A{a¦(){return ¦class{b¦(){}}}}", list("class A", "method a of A", "class", "method b")},
		{"function in a method", "¦class A{a¦(){function b¦(){}}}", list("class A", "method a of A", "function b")},
		{"heritage", "¦class A extends b(¦class{}){};¦class C extends (d,¦class{}){}", list("class A", "class in b",
			"class C", "class")},
		{"decorators", "@a @b.c(¦()=>1) @(d) ¦class A{@e f¦(){} @g() static h¦(){} @i ¦j=1}", list("arrow in c",
			"class A", "method f of A", "method h of A", "fields A")},
		{"member of a class", "a.b=¦class{c¦(){}};const d=¦class{}.e", list("class b (member)",
			"method c of b", "class")},
	})
}
