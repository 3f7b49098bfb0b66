import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionsOf } from '../src/tree/functions.ts';
import { callees, callers } from '../src/tree/sandwich.ts';
import { treeOf, type Tree } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';

/** Stacks of a tree, starting at the first node, with their times. */
function stacksOf(tree: Tree): Record<string, number> {
  const out: Record<string, number> = {};
  const path: string[] = [];
  for (let node = 1; node < tree.frame.length; node++) {
    path.length = tree.level[node]! - 1;
    path.push(tree.frames[tree.frame[node]!]!.name);
    if (tree.self[node]) out[path.join(' ')] = tree.self[node]!;
  }
  return out;
}

const frameOf = (tree: Tree, name: string) => tree.frames.findIndex((frame) => frame.name == name);

const recursive = () => treeOf(responseOf({ 'a b a': 1, 'a b a c': 2, 'a a': 4, 'd a c': 8, 'b c': 16 }, 2));

test('nested calls of the same function count once', () => {
  const tree = recursive();
  const rows = functionsOf(tree).map(({ frame, self, total }) => [tree.frames[frame]!.name, self, total]);
  assert.deepEqual(rows, [
    ['c', 26, 26],
    ['a', 5, 15],
    ['b', 0, 19],
    ['d', 0, 8],
  ]);
});

test('functions that only the other side has are included', () => {
  const tree = treeOf(responseOf({ 'a b': [3, 4], 'a c': [0, 6] }));
  const rows = functionsOf(tree).map(({ frame, total, baseSelf, baseTotal }) => [
    tree.frames[frame]!.name,
    total,
    baseSelf,
    baseTotal,
  ]);
  assert.deepEqual(rows, [
    ['b', 3, 4, 4],
    ['a', 3, 0, 10],
    ['c', 0, 6, 6],
  ]);
});

test('functions of random trees equal a naive computation', () => {
  for (let seed = 0; seed < 20; seed++) {
    const tree = treeOf(randomResponse(300, seed, { names: 12, base: true }));
    const self = new Map<number, number>();
    const total = new Map<number, number>();
    for (let node = 1; node < tree.frame.length; node++) {
      const frames = new Set<number>();
      for (let at = node; at > 0; at = tree.parent[at]!) frames.add(tree.frame[at]!);
      for (const frame of frames) total.set(frame, (total.get(frame) ?? 0) + tree.self[node]!);
      self.set(tree.frame[node]!, (self.get(tree.frame[node]!) ?? 0) + tree.self[node]!);
    }
    for (const sum of functionsOf(tree)) {
      assert.equal(sum.self, self.get(sum.frame));
      assert.equal(sum.total, total.get(sum.frame));
    }
  }
});

test('callees are below the outermost calls', () => {
  const tree = recursive();
  assert.deepEqual(stacksOf(callees(tree, frameOf(tree, 'a'))), { 'a a': 4, 'a b a': 1, 'a b a c': 2, 'a c': 8 });
  assert.deepEqual(stacksOf(callees(tree, frameOf(tree, 'b'))), { 'b a': 1, 'b a c': 2, 'b c': 16 });
});

test('callers have the time of the calls', () => {
  const tree = recursive();
  assert.deepEqual(stacksOf(callers(tree, frameOf(tree, 'c'))), { 'c a b a': 2, 'c a d': 8, 'c b': 16 });
  assert.deepEqual(stacksOf(callers(tree, frameOf(tree, 'a'))), { a: 7, 'a d': 8 });
});

test('totals of callers and callees in random trees equal the total of the function', () => {
  const tree = treeOf(randomResponse(800, 3, { names: 20, base: true }));
  for (const { frame, total, baseTotal, self } of functionsOf(tree)) {
    for (const part of [callees(tree, frame), callers(tree, frame)]) {
      assert.equal(part.total[0], total);
      assert.equal(part.baseTotal![0], baseTotal);
      assert.equal(part.end[1], part.frame.length); // one first node
      assert.equal(part.frame[1], frame);
    }
    assert.equal(functionsOf(callees(tree, frame)).find((sum) => sum.frame == frame)!.self, self);
  }
});

test('callers continue above the root of a subtree', () => {
  const response = responseOf({ 'c d': 3 });
  response.strings.push('top');
  response.root = [response.frames.name.push(response.strings.length - 1) - 1];
  const tree = treeOf(response);
  assert.deepEqual(stacksOf(callers(tree, frameOf(tree, 'd'))), { 'd c top': 3 });
  assert.deepEqual(stacksOf(callees(tree, frameOf(tree, 'd'))), { d: 3 });
});
