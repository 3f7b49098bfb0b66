import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeOf } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';

test('a tree has the totals, callers and ends of its nodes', () => {
  const tree = treeOf(responseOf({ 'a b': 3, 'a c d': 5, a: 1, e: 2 }));
  assert.deepEqual([...tree.total], [11, 9, 3, 5, 5, 2]);
  assert.deepEqual([...tree.self], [0, 1, 3, 0, 5, 2]);
  assert.deepEqual([...tree.parent], [-1, 0, 1, 1, 3, 0]);
  assert.deepEqual([...tree.level], [0, 1, 2, 2, 3, 1]);
  assert.deepEqual([...tree.end], [6, 5, 3, 5, 5, 6]);
  assert.deepEqual([...tree.frame], [-1, 0, 1, 2, 3, 4]);
  assert.equal(tree.baseSelf, undefined);
});

test('a tree has the other side', () => {
  const tree = treeOf(responseOf({ 'a b': [3, 4], 'a c': [0, 6] }, 10, 20));
  assert.deepEqual([...tree.baseTotal!], [10, 10, 4, 6]);
  assert.deepEqual([...tree.baseSelf!], [0, 0, 4, 6]);
  assert.deepEqual([tree.views, tree.baseViews], [10, 20]);
});

test('an empty tree has a root', () => {
  const tree = treeOf(responseOf({}));
  assert.deepEqual([tree.frame.length, tree.total[0], tree.end[0]], [1, 0, 1]);
});

test('a node that skips levels is a callee of the previous node', () => {
  const response = responseOf({ 'a b': 1, 'a c': 2 });
  response.level = [4, 9, 2];
  assert.deepEqual([...treeOf(response).parent], [-1, 0, 1, 2]);
});

test('ends and totals of random trees match their subtrees', () => {
  const tree = treeOf(randomResponse(500, 1, { base: true }));
  for (let node = 0; node < tree.frame.length; node++) {
    let end = node + 1;
    while (end < tree.frame.length && tree.level[end]! > tree.level[node]!) end++;
    assert.equal(tree.end[node], end);
    assert.equal(
      tree.total[node],
      tree.self.slice(node, end).reduce((a, b) => a + b, 0),
    );
    assert.equal(
      tree.baseTotal![node],
      tree.baseSelf!.slice(node, end).reduce((a, b) => a + b, 0),
    );
  }
});
