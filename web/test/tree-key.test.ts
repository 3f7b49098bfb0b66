import assert from 'node:assert/strict';
import { test } from 'node:test';
import { framesWith, keyAt, keyOf, nodeWith, stackOf } from '../src/tree/key.ts';
import { treeOf } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';

const frame = (name: string, resource: string, line: number, column: number) => ({ name, resource, line, column });
const dom = 'node_modules/react-dom/cjs/react-dom-client.production.js';

test('keys are computed as in the daemon', () => {
  const scheduled = frame('scheduleImmediateRootScheduleTask/scheduleMicrotask()', dom, 13579, 30);
  const cases: [key: string, stack: Parameters<typeof keyOf>[0]][] = [
    // The daemon returned trees for queries with these values of root.
    [
      'fee78d6db3815891',
      [frame('performWorkUntilDeadline', 'node_modules/scheduler/cjs/scheduler.production.js', 121, 34)],
    ],
    ['9527104424aad39a', [scheduled, frame('processRootScheduleInMicrotask', dom, 13456, 40)]],
    // These were computed with 64-bit integers.
    ['cbf29ce484222325', []],
    // encode/columns tests the same keys.
    ['ea5e7ae9076e14e6', [frame('main', 'https://x.example/app.js', 4, 109)]],
    ['3e00929e07427569', [frame('main', 'https://x.example/app.js', 4, 109), frame('über ✓', '', 0, 0)]],
    ['c495d7fe8775006d', [frame('größe ☃ 😀', 'src/ß.ts', 1, 2)]],
    ['7e9d11e12f9e71d3', [frame('a\0b', '', 0, 0), frame('c', '', 4294967295, 7)]],
  ];
  for (const [key, stack] of cases) assert.equal(keyOf(stack), key);
});

test('a node is found by its key', () => {
  const tree = treeOf(randomResponse(300, 2));
  for (let node = 1; node < tree.frame.length; node += 7) assert.equal(nodeWith(tree, keyAt(tree, node)), node);
  for (const key of ['', 'x', '0000000000000000', keyOf([])]) assert.equal(nodeWith(tree, key), 0);
  assert.equal(keyAt(tree, 0), '');
});

test('the stack of a node in a subtree starts at the root of the whole tree', () => {
  const response = responseOf({ 'c d': 3 });
  response.strings.push('top');
  response.root = [response.frames.name.push(response.strings.length - 1) - 1];
  const tree = treeOf(response);
  assert.deepEqual(
    stackOf(tree, 2).map(({ name }) => name),
    ['top', 'c', 'd'],
  );
  assert.equal(nodeWith(tree, keyAt(tree, 2)), 2);
});

test('frames have keys', () => {
  const tree = treeOf(responseOf({ 'a b c': 3 }));
  assert.deepEqual([...framesWith(tree, [keyOf([tree.frames[1]!]), 'none'])], [1]);
});
