import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionsOf } from '../src/tree/functions.ts';
import { keyOf, nodeWith, stackOf } from '../src/tree/key.ts';
import { find, searchOf } from '../src/tree/search.ts';
import { treeOf, type Tree, type TreeAnswer } from '../src/tree/tree.ts';

/** Returns a tree of nodes such as ['a', 0, 5]: the name, how deep it lies, and its self time; in a file of its name. */
function tree(nodes: [name: string, level: number, self: number, base?: number][]): Tree {
  const names = [...new Set(nodes.map(([name]) => name))];
  const numbers = names.map((_, i) => i);
  const stats = { traces: 1, bytes: 0, partitions: 0 };
  const answer: TreeAnswer = {
    unit: 'us',
    views: 2,
    traces: 2,
    total_us: 0,
    strings: [...names, ...names.map((name) => `src/${name}.ts`)],
    frames: { name: numbers, resource: numbers.map((i) => i + names.length), line: numbers.map(() => 1), column: numbers.map(() => 2) },
    label: nodes.map(([name]) => names.indexOf(name)),
    level: nodes.map(([, level]) => level),
    self: nodes.map(([, , self]) => self),
    pruned: { nodes: 0, self_us: 0 },
    stats,
  };
  if (nodes.some((node) => node.length > 3)) {
    answer.base = { views: 1, traces: 1, total_us: 0, self: nodes.map(([, , , base]) => base ?? 0), stats };
  }
  return treeOf(answer);
}

const recursive = tree([
  ['main', 0, 1],
  ['walk', 1, 2],
  ['walk', 2, 3],
  ['draw', 3, 4],
  ['walk', 3, 5],
  ['draw', 1, 6],
  ['idle', 0, 7],
]);

test('a tree knows totals and where each node ends', () => {
  assert.deepEqual([...recursive.total], [28, 21, 14, 12, 4, 5, 6, 7]);
  assert.deepEqual([...recursive.end], [8, 7, 6, 6, 5, 6, 7, 8]);
  assert.deepEqual([...recursive.parent], [-1, 0, 1, 2, 3, 3, 1, 0]);
  const two = tree([['a', 0, 1, 10], ['b', 1, 2, 20], ['c', 0, 0, 5]]);
  assert.deepEqual([...two.baseTotal!], [35, 30, 20, 5]);
  assert.equal(two.baseViews, 1);
});

test('functions count calls within calls of themselves once', () => {
  const sums = functionsOf(recursive).map(({ frame, self, total }) => [recursive.frames[frame]!.name, self, total]);
  assert.deepEqual(sums, [
    ['walk', 10, 14],
    ['draw', 10, 10],
    ['idle', 7, 7],
    ['main', 1, 21],
  ]);
});

test('what is searched for adds up, however it is nested', () => {
  const found = (text: string) => {
    const { functions, total, nodes } = find(recursive, searchOf(text));
    return [functions, total, nodes.length];
  };
  assert.deepEqual(found('walk'), [1, 14, 1]);
  assert.deepEqual(found('draw'), [1, 10, 2]);
  assert.deepEqual(found('/walk|draw/'), [2, 20, 2]);
  assert.deepEqual(found('/WALK/i'), [1, 14, 1]);
  assert.deepEqual(found('WALK'), [0, 0, 0]); // capitals count
  assert.deepEqual(found('src/main'), [1, 21, 1]);
  assert.deepEqual(found(''), [0, 0, 0]);
  assert.match(searchOf('/(/').problem ?? '', /regular expression/i);
});

test('keys are those of the daemon', () => {
  const frame = { name: 'main', resource: 'https://x.example/app.js', line: 4, column: 109 };
  // Of encode/columns, which has them from the definition of FNV-1a.
  assert.equal(keyOf([]), 'cbf29ce484222325');
  assert.equal(keyOf([frame]), 'ea5e7ae9076e14e6');
  assert.equal(keyOf([frame, { name: 'über ✓', resource: '', line: 0, column: 0 }]), '3e00929e07427569');
  for (let node = 1; node < recursive.frame.length; node++) assert.equal(nodeWith(recursive, keyOf(stackOf(recursive, node))), node);
  assert.equal(nodeWith(recursive, '0'.repeat(16)), 0);
});
