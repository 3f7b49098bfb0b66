import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find, nextMatch, searchOf } from '../src/tree/search.ts';
import { treeOf } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';

const frame = (name: string, resource = '') => ({ name, resource, line: 1, column: 1 });

test('texts and expressions match names and locations', () => {
  const cases: [text: string, name: string, resource: string, matches: boolean][] = [
    ['row', 'sortRows', '', true],
    ['Row', 'sortRows', '', true],
    ['Row', 'grow', '', false],
    ['react', 'use', 'node_modules/React/index.js', true],
    ['/^sort/', 'sortRows', '', true],
    ['/^Sort/', 'sortRows', '', false],
    ['/^Sort/i', 'sortRows', '', true],
    ['/a|\\.ts$/', 'x', 'src/x.ts', true],
    ['a.c', 'abc', '', false],
    ['/', 'x', 'src/x.ts', true],
    ['', 'x', '', false],
  ];
  for (const [text, name, resource, want] of cases) {
    assert.equal(searchOf(text).matches(frame(name, resource)), want, `${text} in ${name} ${resource}`);
  }
  assert.match(searchOf('/(/').problem!, /group/);
  assert.equal(searchOf('/(/').matches(frame('(')), false);
});

test('nested matches count once', () => {
  const tree = treeOf(responseOf({ 'a b x': 1, 'x a x': 2, 'b c': 4, 'c xx': 8, x: [0, 9] }));
  const found = find(tree, searchOf('/^x+$/'));
  assert.deepEqual([found.functions, found.total, found.nodes], [2, 11, [3, 4, 6, 10]]);
  assert.equal(found.share, 11 / 15);
});

test('the total of matches in random trees is the time of stacks with a match', () => {
  const tree = treeOf(randomResponse(1000, 9));
  const found = find(tree, searchOf('row'));
  let want = 0;
  for (let node = 1; node < tree.frame.length; node++) {
    let matches = false;
    for (let at = node; at > 0; at = tree.parent[at]!) matches ||= found.frames[tree.frame[at]!] == 1;
    if (matches) want += tree.self[node]!;
  }
  assert.equal(found.total, want);
  assert.ok(want > 0);
});

test('matches wrap around at the ends', () => {
  const found = find(treeOf(responseOf({ 'a x': 1, 'b x': 2, 'c x': 4 })), searchOf('x'));
  assert.deepEqual(found.nodes, [2, 4, 6]);
  const cases: [from: number, forward: boolean, to: number][] = [
    [0, true, 2],
    [2, true, 4],
    [3, true, 4],
    [6, true, 2],
    [0, false, 6],
    [2, false, 6],
    [3, false, 2],
    [6, false, 4],
  ];
  for (const [from, forward, to] of cases) assert.equal(nextMatch(found, from, forward), to, `${from} ${forward}`);
  assert.equal(nextMatch({ ...found, nodes: [] }, 0, true), -1);
});
