import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionsOf } from '../src/tree/functions.ts';
import { keyOf, keyAt } from '../src/tree/key.ts';
import { keyOfOther } from '../src/tree/other.ts';
import { focus, hide, mergeRecursion, shaped, unshaped } from '../src/tree/shape.ts';
import { treeOf, type Tree } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';

function textOf(tree: Tree): string {
  let text = '';
  for (let node = 1; node < tree.frame.length; node++) {
    text +=
      `${'.'.repeat(tree.level[node]! - 1)}${tree.frames[tree.frame[node]!]!.name} ` +
      `${tree.self[node]}/${tree.total[node]}\n`;
  }
  return text;
}

const frameOf = (tree: Tree, name: string) => tree.frames.findIndex((frame) => frame.name == name);

test('recursion is merged', () => {
  const tree = treeOf(responseOf({ a: 1, 'a a': 2, 'a a b': 3, 'a b': 4, 'a c a': 5, 'a a a c': 6 }));
  assert.equal(textOf(mergeRecursion(tree)), 'a 3/21\n.c 6/11\n..a 5/5\n.b 7/7\n');
});

test('merging keeps the times of functions', () => {
  for (let seed = 0; seed < 20; seed++) {
    const tree = treeOf(randomResponse(400, seed, { names: 6, base: true }));
    const merged = mergeRecursion(tree);
    assert.ok(merged.frame.length < tree.frame.length);
    assert.deepEqual(functionsOf(merged), functionsOf(tree));
  }
});

test('the time of hidden functions is added to their callers', () => {
  const tree = treeOf(responseOf({ 'a b c': 1, 'a b': 2, 'a c': 4, b: 8, 'b c': 16 }));
  const hidden = hide(tree, new Set([frameOf(tree, 'b')]));
  assert.equal(textOf(hidden), 'c 16/16\na 2/7\n.c 5/5\n');
  assert.equal(hidden.self[0], 8); // self time of the hidden function without a caller
  assert.equal(hidden.total[0], tree.total[0]);
});

test('focus keeps the stacks through some functions', () => {
  const tree = treeOf(responseOf({ 'a b c': 1, 'a b': 2, 'a c': 4, a: 32, 'd b b': 8, e: 64 }));
  const focused = focus(tree, new Set([frameOf(tree, 'b')]));
  assert.equal(textOf(focused), 'd 0/8\n.b 0/8\n..b 8/8\na 0/3\n.b 2/3\n..c 1/1\n');
});

test('focus keeps the time of the function', () => {
  const tree = treeOf(randomResponse(600, 5, { names: 15, base: true }));
  for (const { frame, total, baseTotal } of functionsOf(tree)) {
    const focused = focus(tree, new Set([frame]));
    assert.deepEqual([focused.total[0], focused.baseTotal![0]], [total, baseTotal]);
  }
});

test('a shape identifies functions by keys', () => {
  const tree = treeOf(responseOf({ 'a b b c': 1, 'a c': 4, d: 2 }));
  assert.equal(shaped(tree, unshaped), tree);
  const key = (name: string) => keyOf([tree.frames[frameOf(tree, name)]!]);
  const out = shaped(tree, { merged: true, hidden: [key('c')], focused: [key('b')] });
  assert.equal(textOf(out), 'a 0/1\n.b 1/1\n');
  assert.equal(shaped(tree, { merged: false, hidden: [], focused: ['0000000000000000'] }).total[0], 0);
});

test('(other) is queried by the key of its caller in the tree that the API returned', () => {
  const tree = treeOf(responseOf({ 'a b (other)': 1, 'a (other)': 3, '(other)': 5, 'c b (other)': 9 }));
  const others = (of: Tree) =>
    [...of.frame.keys()].filter((node) => keyOfOther(of, node)).map((node) => keyOfOther(of, node));
  const keys = [keyAt(tree, 2), keyAt(tree, 1), keyAt(tree, 7)];
  assert.deepEqual(others(tree), keys);
  assert.deepEqual(others(mergeRecursion(tree)).sort(), keys.toSorted());
  const hidden = hide(mergeRecursion(tree), new Set([frameOf(tree, 'b')]));
  assert.deepEqual(others(hidden), [keys[2]]); // the one below a represents two
});
