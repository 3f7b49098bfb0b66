import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetYaml } from '../src/pages/code/budget-yaml.ts';
import { treeOf } from '../src/tree/tree.ts';
import { responseOf } from './synthetic.ts';

test('a budget for a function allows a tenth more than it takes in all of the tree', () => {
  const tree = treeOf(responseOf({ 'a b': 30_000, 'c b': 10_000, a: 5000 }, 2));
  const frame = tree.frames.find(({ name }) => name == 'b')!;
  assert.equal(
    budgetYaml(tree, frame, { page: '/feed' }),
    `  - name: "b on /feed"
    page: "/feed"
    function: {name: "b", resource: "src/b.ts"}
    metric: mean
    of: self
    limit: 22ms
`,
  );
  const hostile = { ...frame, name: '"x": *y\n- z' };
  tree.frames[tree.frames.indexOf(frame)] = hostile;
  assert.match(budgetYaml(tree, hostile, {}), /name: "\\"x\\": \*y\\n- z"/);
});
