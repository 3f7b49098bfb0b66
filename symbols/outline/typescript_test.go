package outline_test

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

func TestTypeScript(t *testing.T) {
	testExamples(t, outline.TypeScript, []example{
		{"arrows", "a=¦(b:c)=>d;e=¦(f?:g,...h:i[])=>j;k=¦():l=>m;n=¦async(o:p):Promise<q>=>r;s=¦({t}:u={}," +
			"[v=¦()=>1]:w)=>x",
			list("arrow a", "arrow e", "arrow k", "arrow n", "arrow s", "arrow v")},
		{"generic arrows", "a=¦<T>(b:T)=>c;d=¦async<T>(e:T):Promise<T>=>f;g=¦<const T extends h=i,in out " +
			"U>(j:T)=>k;l(¦<T,>()=>m)", list("arrow a", "arrow d", "arrow g", "arrow in l")},
		{"casts", "a=<b>(¦()=>1);c=<d>function¦(){};e=<f<g>>h(¦()=>1);i=<any>(j).k(¦()=>1);l=<const>[¦()=>1];" +
			"m=<()=>n>(¦o=>p)",
			list("arrow a", "function c", "arrow in h for e", "arrow in k for i", "arrow", "arrow m")},
		{"conditionals", "a?(b):¦c=>d;e?¦(f):g=>h:i;j?(k,l):¦m=>n;o?(p)?(q):r:¦s=>t;u?¦():v=>w:x;y?¦(z:a)=>" +
			"b:c;d?¦(e)=>(f):¦g=>h;i?{j:¦(k):l=>m}:n",
			list("arrow", "arrow", "arrow", "arrow", "arrow", "arrow", "arrow", "arrow", "arrow j")},
		{"conditionals in lines", "a=b\n?(c)\n:¦(d)=>{e?.f(¦():g=>h)}\nswitch(i){case(j):k;case(l):m(¦()=>1)}",
			list("arrow", "arrow in f", "arrow in m")},
		{"types of arrows", "a=¦():{b:c;d():e}=>f;g=¦():undefined|(()=>void)=>h;i=¦():(()=>j)=>k;l=¦():(m|n)=>n;" +
			"o=¦(p):p is q=>r;s=¦():asserts t is u=>v;w=¦():x extends " +
			"y?z:a=>b;c=¦():()=>d=>e;f=¦(g:(h:i)=>j):[k,l?]=>m",
			list("arrow a", "arrow g", "arrow i", "arrow l", "arrow o", "arrow s", "arrow w", "arrow c", "arrow f")},
		{"as", "a=(¦()=>1)as b;c=function¦(){}satisfies d as e;f={g:(¦()=>1)!}", list("arrow a", "function c",
			"arrow g")},
		{"operators on types",
			"a=(¦()=>1)as b;c=d as e<f>;g=(h as any as i).j(¦()=>1);k=l satisfies m&&n;o=p as const;for(const q " +
				"of r as s[])t(¦()=>1)", list("arrow a", "arrow in j for g", "arrow in t")},
		{"not null", "a!.b(¦()=>1);c![d]!(¦()=>1);e=f!+g;h=i!\nj=¦()=>1;k!=l;m=n! as o;p=q!in r", list("arrow in b",
			"arrow", "arrow j")},
		{"type arguments", "a<b>(¦()=>1);c.d<e,f<g>>(¦()=>1);new " +
			"h<i>(¦()=>1);j=k<l>;m=n<o<p>>\nq=r<s>`${¦()=>1}`;t?.<u>(¦()=>1);v<<T>(w:T)=>x>(¦()=>1)",
			list("arrow in a", "arrow in d", "arrow in h", "arrow", "arrow in t", "arrow in v")},
		{"comparisons", "a<b||c>(d);for(e=0;e<f;e++)g(¦()=>1);h=i<j&&k>l;if(p<q)r>=s;t(u<v,w>x,¦()=>1);" +
			"y=z<a?¦()=>1:¦()=>2;b=c<d,e>>f;g=h<5&&i>(j)", list("arrow in g", "arrow in t", "arrow", "arrow")},
		{"overloads", "function a(b:c):d;function a(b:e):f\nfunction a¦(b:g){}export default function(h):i;export " +
			"default function¦(h){}¦class j{}", list("function a", "function default", "class j")},
		{"functions", "function a<T extends b<c>>¦(this:d,e?:f,...g):asserts this is h{}function i¦():i " +
			"is{j:k}{}async function*l<T>¦():m<n>{}function o¦(p=¦(q):r=>s){}",
			list("function a", "function i", "function l", "function o", "arrow p")},
		{"types", "type a<T>=T extends(infer b extends c)[]?`${b&string}`:-1|typeof d.e<f>|import('g').h;type i={[j " +
			"in keyof k as`l${j}`]-?:m}&{n?():o,get p():q}\ntype r=\n|s\n|(new()=>t)|(abstract new()=>u)|unique " +
			"symbol|readonly v[]\ntype=1;w=¦()=>1", list("arrow w")},
		{"interfaces", "interface a<T>extends b<T>,c.d{e?(f:g):h;[i:string]:j;new(k):l;get " +
			"m():n;'o':`p${q}`}interface\nr=¦()=>1;export interface s{};export default interface t{}u=¦()=>1",
			list("arrow r", "arrow u")},
		{"enums", "enum a{b,c=1,'d'=e.length,[`f`]=g<<1}const enum h{i}export enum j{k=(¦()=>1)()}declare enum " +
			"l{m}n=¦()=>1", list("arrow", "arrow n")},
		{"namespaces", "namespace a.b{export function c¦(){}}module d{e(¦()=>1)}declare module'f'{function " +
			"g():h}declare module'i';declare global{interface j{}}namespace=1;module.k=¦()=>1;module\nl=¦()=>1",
			list("function c", "arrow in e", "arrow k (member)", "arrow l")},
		{"declare", "declare function a(b:c):d\ndeclare class e{f():g;h=1;constructor(i)}declare const " +
			"j:k,l:m;declare abstract class n{};declare let o:()=>p;declare type q=r;declare namespace " +
			"s{}\ndeclare=1;t=¦()=>1", list("arrow t")},
		{"imports", "import type a from'b';import{type c,type d as e}from'f';import g=require('h');import " +
			"i=j.k;import type l=m.n;export import o=p;export type{q}from'r';export type*as s " +
			"from't';export=u;export as namespace v;w=¦()=>1", list("arrow w")},
		{"variables", "let a:b=¦()=>1,c!:d,e:(f:g)=>h=¦()=>1;const{i}:j={},[k]:l=[];for(const m:n of " +
			"o)p(¦()=>1);try{}catch(q:unknown){}var r:typeof s<t>=¦()=>1,u:v<w>=¦()=>1",
			list("arrow a", "arrow e", "arrow in p", "arrow r", "arrow u")},
		{"names that are words",
			"type=¦()=>1;declare=¦()=>1;abstract=¦()=>1;namespace(¦()=>1);global.a=¦()=>1;is=¦is=>is;" +
				"readonly=¦(keyof)=>1;b=¦(type:is)=>1;interface(¦()=>1);satisfies=¦()=>1",
			list("arrow type", "arrow declare", "arrow abstract", "arrow in namespace", "arrow a (member)", "arrow is",
				"arrow readonly", "arrow b", "arrow in interface", "arrow satisfies")},
	})
}

func TestTypeScriptClasses(t *testing.T) {
	testExamples(t, outline.TypeScript, []example{
		{"members", "abstract ¦class A<T>extends B<T>implements C<T>,D.E{private a¦(){}public static " +
			"b<U>¦():U{}protected async*c¦(){}override get d¦():e{}static set f¦(g:h){}abstract i():j;abstract " +
			"get k():l;m?¦():n{}o<T>(p:T):q;o¦(p){}}",
			list("class A", "method a of A", "method b of A", "method c of A", "getter get d of A", "setter set f of A",
				"method m of A", "method o of A")},
		{"fields", "¦class A{declare a:b;abstract c:d;[e:string]:f;readonly[g:`h`]:i;private readonly " +
			"¦j:k=¦():l=>m;n!:o;p?:(q:r)=>s;¦static readonly t:u=¦async<T>(v:T)=>w;private static x;accessor y:z=1}",
			list("class A", "fields A", "arrow j of A", "statics A", "arrow t of A")},
		{"constructors", "class A{constructor(a:b);constructor¦(private c=¦()=>1,public readonly " +
			"d?:e,@f()override g:h=i,protected j){super()}}¦class K{constructor(l)}",
			list("constructor A", "arrow c", "class K")},
		{"words", "¦class A{public¦(){}¦private;readonly=1;declare¦(){}abstract?:b;" +
			"override!:c\n¦static\nreadonly d;type:e;get:f;async?¦():g{}}", list("class A", "method public of A",
			"fields A", "method declare of A", "statics A", "method async of A")},
		{"heritage", "¦class A extends b<c>(¦()=>1)<d>{}¦class E extends F.G<H>implements I{}a=¦class " +
			"implements J{};¦class implements{}b=¦class<T>{};c=¦class extends d implements e{}",
			list("class A", "arrow in b", "class E", "class a", "class implements", "class b", "class c")},
		{"decorators", "@a<b>()@c export ¦class D{@e()private f¦(@g()h:i,@j k){}@l(¦()=>m)¦n:o}export default " +
			"@p ¦class{}", list("class D", "method f of D", "arrow in l", "fields D", "class default")},
		{"expressions", "a=¦class B{¦c=¦()=>1} as d;e=f(¦class<T>extends g{h¦(){}})", list("class B", "fields B",
			"arrow c of B", "class in f for e", "method h")},
	})
}

func TestTSX(t *testing.T) {
	testExamples(t, outline.TSX, []example{
		{"generic arrows", "a=¦<T,>()=>1;b=¦<T extends c>(d:T)=><e/>;f=¦<const " +
			"T,>(g)=>1;h=¦async<T,>(i)=>1;j=¦<T=k>()=>1", list("arrow a", "arrow b", "arrow f", "arrow h", "arrow j")},
		{"elements", "a=<T>()=&gt;{¦()=>1}</T>;b=<T extends/>;c=<T extends={d}>{¦()=>1}</T>;e=<f<g>h={¦(i:j)=>k}/>",
			list("arrow", "arrow", "arrow in h")},
		{"conditionals", "a?<b c={¦()=>1}/>:(d)?<e>{¦(f):g=>h}</e>:¦i=>j", list("arrow in c", "arrow", "arrow")},
		{"comparisons", "a<b;c=d<e>(¦()=>1);if(f<g)h(¦()=>1)", list("arrow in d for c", "arrow in h")},
		{"components", "const A:FC<B>=memo<C>(¦({d=¦()=>1}:E):F=>{return(<><G {...h}i='\\'j=\"{\"/>{k&&<l.m " +
			"n:o={¦p=>q}>r's {/* ( */}</l.m>}</>)});", list("arrow in memo for A", "arrow d", "arrow in n:o")},
	})
}
