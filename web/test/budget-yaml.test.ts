import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Budget, Point, Series } from '../src/api/types.ts';
import { functionLine, worst } from '../src/pages/overview/budgets.ts';
import { budgetYaml } from '../src/pages/code/budget-yaml.ts';
import { treeOf } from '../src/tree/tree.ts';
import { responseOf } from './synthetic.ts';

test('a budget for a function allows 10 % more than its self time in the whole tree', () => {
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

const budgetOf = (name: string, of: Partial<Budget>) =>
  ({
    name,
    metric: 'p75',
    unit: 'ms',
    since: '24h',
    limit: 100,
    min_views: 100,
    blown: false,
    status: 'ok',
    ...of,
  }) as Budget;

test('a page has the worst of its budgets, including budgets of functions', () => {
  const value = (value: number) => ({ value: { value } });
  const all = [
    budgetOf('page', { page: '/products', ...value(90) }),
    budgetOf('function', { page: '/products', function: { name: 'formatPrice' }, blown: true, ...value(110) }),
    budgetOf('blown by hysteresis', { page: '/cart', blown: true, ...value(97) }),
    budgetOf('nearly', { page: '/cart', ...value(99) }),
    budgetOf('feature', { feature: 'search', page: '', ...value(400) }),
  ];
  assert.equal(worst(all, 'page', '/products')?.name, 'function');
  assert.equal(worst(all, 'page', '/cart')?.name, 'blown by hysteresis');
  assert.equal(worst(all, 'feature', 'search')?.name, 'feature');
  assert.equal(worst(all, 'page', '/'), undefined);
  assert.equal(worst(undefined, 'page', '/'), undefined);
});

test('the history of a budget for functions is their time in a series by function', () => {
  const group = (name: string, ...means: number[]) => ({
    labels: { function: name },
    points: means.map((mean_ms, i) => ({ time: `2026-11-0${i + 1}T00:00:00Z`, views: 10, mean_ms }) as Point),
  });
  const series = {
    groups: [
      group('draw a.js:1:2', 5, 6),
      group('draw b.js:3:4', 1, 2),
      group('drawAll a.js:9:1', 50, 60),
      group('(other)', 7, 7),
    ],
  } as unknown as Series;
  const of = (called: { name: string; resource?: string }) => functionLine(series, called).map(({ value }) => value);
  assert.deepEqual(of({ name: 'draw' }), [6, 8]);
  assert.deepEqual(of({ name: 'draw', resource: 'a.js' }), [5, 6]);
  assert.deepEqual(of({ name: 'draw', resource: '*.js' }), [6, 8]);
  assert.deepEqual(of({ name: 'draw', resource: 'c.js' }), []);
  assert.deepEqual(of({ name: 'paint' }), []);
});
