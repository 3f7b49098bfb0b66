package outline_test

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

func TestText(t *testing.T) {
	testExamples(t, outline.JavaScript, []example{
		{"hashbang", "#!/usr/bin/env node function(\na=¦()=>1", list("arrow a")},
		{"byte order mark", "\ufeff#!function(\na=¦()=>1", list("arrow a")},
		{"comments", "/*a=()=>1*/a=¦(/*)=>*/)=>1//=>\n/**//***/b=¦()=>1/*", list("arrow a", "arrow b")},
		{"html comments", "<!-- a=()=>1\n--> b=()=>1\na=¦()=>1;while(n-->0)m=¦()=>1\n  --> c(",
			list("arrow a", "arrow m")},
		{"ends of lines", "a=1;\r\n/re(/.b(¦()=>1)\u2028//(\u2029c=¦()=>1\r//(\rd=¦()=>1", list("arrow in b", "arrow c",
			"arrow d")},
		{"blanks", "a\u00a0=\ufeff¦()\u3000=>\v1\f;\u2003b=¦()=>1", list("arrow a", "arrow b")},
		{"letters", "const é=¦()=>1,𝒳=¦(ñ)=>1,a\u200d=¦()=>1", list("arrow é", "arrow 𝒳", "arrow a\u200d")},
		{"strings", `a('()=>1',"()=>1",'\'()=>1',"\
()=>1");b=¦()=>1`, list("arrow b")},
		{"line separators in strings", "a='\u2028()=>1';b=¦()=>1", list("arrow b")},
		{"numbers", "a=1..b(¦()=>1)+1.5.c(¦()=>1)+1e+5+1E-5+0x1e+0b1+1_000n+.5e5;[...¦()=>1]", list("arrow in b",
			"arrow in c", "arrow")},
		{"regex after operators", "a=/[/]()=>1\\//g;b(/(/);c=!/(/.d(¦()=>1);return/(/", list("arrow in d")},
		{"regex after a parenthesis", "if(a)/'/.b(¦()=>1);c=(d)/e/'f'", list("arrow in b")},
		{"regex after a brace", "{}/'/.a(¦()=>1);b={}/c/'d';function e¦(){}/'/.f(¦()=>1);g=function¦(){}/h/'i'",
			list("arrow in a", "function e", "arrow in f", "function")},
		{"regex of sets", "a=/[[a-z]--[/aeiou]]/v;b=¦()=>1", list("arrow b")},
		{"regex that begins with =", "a=/=(/;b/=c", nil},
		{"templates", "a=`()=>1${b(¦()=>`${¦()=>'}'}`)}`;c=`\\`${`${{}}`}\\${`;d=¦()=>1", list("arrow in b", "arrow",
			"arrow d")},
		{"tagged templates", "a`${¦()=>1}``${¦()=>2}`.b(¦()=>3);new c``(¦()=>4)", list("arrow", "arrow",
			"arrow in b", "arrow")},
		{"jsx text", "a=<b>it's `{¦()=>1}` /* {¦()=>2} // </b>;c=¦()=>1", list("arrow", "arrow", "arrow c")},
		{"jsx", `a=<b.c d:e="\" f='{' g-h=<i/> j k={<>{}{/**/}{...l}</>}/>;m=¦()=><n>{o&&<p q={¦()=>1}/>}<r></r></n>`,
			list("arrow m", "arrow in q")},
		{"jsx in jsx", "a=<b><c><d e={¦()=>1}></d></c>{f.map(¦g=><h key={g}/>)}< / b>", list("arrow in e",
			"arrow in map")},
		{"less", "for(;a<b;)c(¦()=>1);d<e>(f)", list("arrow in c")},
	})
}

func TestStatements(t *testing.T) {
	testExamples(t, outline.JavaScript, []example{
		{"names that are words",
			"let=1;let\nyield=¦()=>1;async=¦()=>1;of=¦()=>1;var " +
				"get=¦()=>1,set=¦()=>1,static_=1,from=2;await=¦()=>1;type\na=¦()=>1;using=¦()=>1;as=¦as=>as",
			list("arrow yield", "arrow async", "arrow of", "arrow get", "arrow set", "arrow await", "arrow a",
				"arrow using", "arrow as")},
		{"let", "let[a]=b,{c}=d;let e=¦()=>1;let async=¦()=>1,of=¦()=>1", list("arrow e", "arrow async", "arrow of")},
		{"async", "async\nfunction a¦(){}\nb=async\nfunction c¦(){}", list("function a", "function c")},
		{"async arrows", "a=¦async()=>1;b=¦async c=>1;d=¦async(e,f)=>1;g=¦async " +
			"async=>1;h=¦async=>1;for(¦async of=>{};;);i(¦async({j=¦()=>1})=>1)",
			list("arrow a", "arrow b", "arrow d", "arrow g", "arrow h", "arrow", "arrow in i", "arrow j")},
		{"await", "async function a¦(){await(¦()=>1);await[b];await/(/.c(¦()=>1);for await(const d of " +
			"e)f(¦()=>1);await new g(¦()=>1)}", list("function a", "arrow", "arrow in c", "arrow in f", "arrow in g")},
		{"yield", "function*a¦(){yield;yield/(/.b(¦()=>1);yield*c;d=yield " +
			"¦()=>1;e=[yield,yield];yield\n/(/.f(¦()=>1);(yield)?g:h}function i¦(){yield/j/'k'}",
			list("function a", "arrow in b", "arrow", "arrow in f", "function i")},
		{"loops", "for(var a=¦()=>1,b;c;d)e(¦()=>1);for(const f of[¦()=>1])g;for(h in{i¦(){}}){}for(let of of " +
			"j);for(let[k=¦()=>1]of l);for(;;)break;do m(¦()=>1);while(n)o;do;while(0)p=¦()=>1",
			list("arrow a", "arrow in e", "arrow", "method i", "arrow k", "arrow in m", "arrow p")},
		{"branches", "if(a)b=¦()=>1;else if(c)d=¦()=>1;else e=¦()=>1\nswitch(f){case ¦()=>1:g=¦()=>1;default:h=¦()=>1}",
			list("arrow b", "arrow d", "arrow e", "arrow", "arrow g", "arrow h")},
		{"try", "try{a(¦()=>1)}catch({b=¦()=>1}){c(¦()=>1)}finally{d(¦()=>1)}try{}catch{}", list("arrow in a",
			"arrow b", "arrow in c", "arrow in d")},
		{"labels", "a:b:for(;;)continue a;async:c=¦()=>1;yield:d=¦()=>1", list("arrow c", "arrow d")},
		{"without semicolons",
			"var a=¦()=>{}\nb=¦()=>1\n++c\nd=¦()=>{}\n/(/.e(¦()=>1)\nreturn\nf=¦()=>1\nthrow " +
				"¦()=>1\n;debugger\ng=¦()=>1", list("arrow a", "arrow b", "arrow d", "arrow in e", "arrow f", "arrow",
				"arrow g")},
		{"arrows end", "a=¦()=>{}\n(b,c);d=e?¦()=>{}:f;g(¦()=>{},h);i=¦()=>{}\n[j].k;l=¦()=>({}).m",
			list("arrow a", "arrow", "arrow in g", "arrow i", "arrow l")},
		{"conditionals", "a=b?¦(c)=>d:¦(e)=>f;g?(h):i=¦()=>1;j?k:l?m:¦()=>1;n?(o,p):¦q=>r", list("arrow", "arrow",
			"arrow i", "arrow", "arrow")},
		{"in", "a=#b in c;g=('h'in i)", nil},
		{"using", "using a=b(¦()=>1);await using c=¦()=>1;for(using d of e);for(await using f of g);await " +
			"using\nusing\nh=¦()=>1;for(using of i);using[j]=k",
			list("arrow in b for a", "arrow c", "arrow h")},
		{"imports", `import a,{b as c,default as d}from"e"with{type:"json"};import*as f from"g"
import"h"
import i from"j"assert{type:"json"}
import defer*as k from"l";import{}from"m";n=¦()=>1;import("o",{with:{}}).p(¦()=>1);import.meta.q`,
			list("arrow n", "arrow in p")},
		{"exports", "export*from\"a\";export*as b from\"c\"with{d:\"e\"};export{f as default,g " +
			"as\"h\"};export{i}from\"j\"\nexport let k=¦()=>1;export default l=¦()=>1", list("arrow k", "arrow l")},
	})
}
