import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { functions } from '../truth/functions.js';
import { mark, markerOf } from '../truth/marker.js';
import { Numbers } from '../truth/marked.js';
import { sameFunctions } from '../truth/same.js';
import { strangers, truthOf } from '../truth/truth.js';

const starts = new URL('../../../symbols/outline/testdata/starts/', import.meta.url);

/** Marks a text with numbers starting at 1. */
const marked = (text, file = 'a.js') => mark(text, file, new Numbers().of(file)).marked;

test('functions are at the positions that Chromium reports', async () => {
  const scripts = JSON.parse(await readFile(new URL('starts.json', starts), 'utf8'));
  for (const [name, frames] of Object.entries(scripts)) {
    const text = (await readFile(new URL(name, starts), 'utf8')).replace(/^\uFEFF/, '');
    const found = new Map(functions(text, name).map((fn) => [`${fn.line}:${fn.column}`, fn.name]));
    for (const [line, column, expected] of frames) {
      if (line == 1 && column == 1) continue; // code outside functions
      assert.equal(found.get(`${line}:${column}`), expected, `${name}:${line}:${column}`);
    }
  }
});

test('functions of TypeScript and Vue', () => {
  const found = (text, file) =>
    functions(text, file).map(({ line, column, name, kind }) => `${line}:${column} ${name} ${kind}`);
  assert.deepEqual(
    found('function f(a: string): void;\nfunction f<T>(a: T) {}\nconst g = (<T,>(a: T) => a) as any;', 'a.ts'),
    ['2:14 f FunctionDeclaration', '3:12 g ArrowFunctionExpression'],
  );
  assert.deepEqual(
    found(
      '<template><a b="() => 1"/></template>\n<script setup lang="ts">\nconst h = (a: number) => a;\n</script>',
      'a.vue',
    ),
    ['3:11 h ArrowFunctionExpression'],
  );
});

for (const [name, text, expected] of [
  ['a function', 'function f() { return 1 }', 'function f() {__f(1); return 1 }'],
  ['a directive', 'function f() { "use strict"\nreturn 1 }', 'function f() { "use strict";__f(1);\nreturn 1 }'],
  ['an arrow', 'x => y', 'x =>(__f(1), y)'],
  ['an arrow that gives an object', '() => ({ a })', '() =>(__f(1), ({ a }))'],
  ['arrows in arrows', 'a => b => c', 'a =>(__f(1), b =>(__f(2), c))'],
  ['a comment before the body', '(a /* => */) => a', '(a /* => */) =>(__f(1), a)'],
  [
    'members',
    'class A { #b() {} get c() { return 1 } static d = () => 1 }',
    'class A { #b() {__f(1);} get c() {__f(2); return 1 } static d = () =>(__f(3), 1) }',
  ],
]) {
  test(`a marker in ${name}`, () => assert.equal(marked(text), expected));
}

for (const [name, text, expected] of [
  ['the first statement', 'function f() { __f(7); g() }', 7],
  ['a declaration before', 'function f(a) { let b, c = a, d = !0; __f(7) }', 7],
  ['an operand', 'function f(a) { return __f(7), a ? 1 : 2 }', 7],
  ['a condition', 'a => { if (__f(7), a) b() }', 7],
  ['a test of a loop', 'a => { for (__f(7); a;) b() }', 7],
  ['a parameter that is a field', 'class A { constructor(a) { this.a = a, __f(7) } }', 7],
  ['another function before', 'function f() { function g() { __f(8) } __f(7) }', 7],
  ['the first of two', 'function f() { __f(7); var a = (__f(8), 1) }', 7],
  ['a call before', 'function wrapper() { g(); __f(8) }', undefined],
  ['an argument, before its call', 'function f() { g(__f(7)) }', 7],
  ['a function inside alone', 'function wrapper() { !function () { __f(8) }() }', undefined],
  ['a module', 'function wrapper(e) { e.exports = 1; __f(8) }', undefined],
]) {
  test(`the function of ${name}`, () =>
    assert.equal(markerOf(functions(text, 'a.js').find(({ node }) => node).node), expected));
}

test('unchanged functions keep their numbers', () => {
  const numbers = new Numbers();
  const before = mark('() => 1; () => 2; () => 2', 'a.js', numbers.of('a.js')).marked;
  const after = mark('() => 3; () => 2; () => 2', 'a.js', numbers.of('a.js')).marked;
  const elsewhere = mark('() => 2', 'b.js', numbers.of('b.js')).marked;
  assert.equal(before, '() =>(__f(1), 1); () =>(__f(2), 2); () =>(__f(3), 2)');
  assert.equal(after, '() =>(__f(4), 3); () =>(__f(2), 2); () =>(__f(3), 2)');
  assert.equal(elsewhere, '() =>(__f(5), 2)');
});

test('functions of two releases', () => {
  /** A release whose functions have the same positions in the script as in their file. */
  const release = (script, file, texts) => {
    const functions = texts.map((text, i) => ({ file, line: i + 1, column: 1, name: '', class: '', kind: '', text }));
    const rows = functions.map(({ line, column }) => [line, column + 100, '', file, line, column, '', '', '']);
    return { originals: new Map(functions.entries()), truth: { [script]: rows } };
  };
  const before = release('1.js', 'a.js', ['old', 'stays', 'equal', 'equal', 'twice']);
  const after = release('2.js', 'a.js', ['stays', 'equal', 'new', 'equal', 'twice', 'twice']);
  assert.deepEqual(sameFunctions(before, after), [
    ['1.js', 2, 101, '2.js', 1, 101],
    ['1.js', 3, 101, '2.js', 2, 101],
    ['1.js', 4, 101, '2.js', 4, 101],
  ]);
  assert.deepEqual(sameFunctions(before, release('2.js', 'b.js', ['stays'])), []);
  after.truth['3.js'] = [after.truth['2.js'][0]];
  assert.equal(sameFunctions(before, after).length, 2, 'functions in two scripts are omitted');
});

test('the truth about a script', () => {
  const original = {
    file: 'src/a.ts',
    line: 3,
    column: 9,
    name: 'sortRows',
    class: '',
    kind: 'FunctionDeclaration',
    text: '',
  };
  const truth = { 'a.js': truthOf('var e=()=>e,t=function(){__f(7)}', 'a.js', new Map([[7, original]])) };
  assert.deepEqual(truth['a.js'], [
    [1, 7, 'e'],
    [1, 23, 't', 'src/a.ts', 3, 9, 'sortRows', '', 'FunctionDeclaration'],
  ]);
  const frames = [
    { name: 't', line: 1, column: 23, resourceId: 0 },
    { name: '', line: 1, column: 1, resourceId: 0 },
    { name: 'e', line: 1, column: 8, resourceId: 0 },
    { name: 'native' },
  ];
  assert.deepEqual(strangers({ frames, resources: ['https://site.example/assets/a.js'] }, truth), [frames[2]]);
});
