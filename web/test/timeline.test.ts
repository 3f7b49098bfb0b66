// Calls in chronological order, without a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neighbour, nodeAt } from '../src/flame/hit.ts';
import { middleOf, rangeOf, showing } from '../src/flame/range.ts';
import { momentText, rangeOfText, textOfRange, ticksOf } from '../src/timeline/axis.ts';
import { dragged, gripOf } from '../src/timeline/grip.ts';
import { lanesOf, marksOf, type Spans } from '../src/timeline/lanes.ts';
import { exactly } from '../src/timeline/search.ts';
import { busyOf, nodeFrom, timelineOf } from '../src/timeline/timeline.ts';
import { find, searchOf } from '../src/tree/search.ts';
import { callsOf, randomCalls } from './synthetic.ts';

/** a calls b and c with self time in between, and later, after a gap, b is called alone. */
const calls = callsOf([
  ['a', 0, 100, 200],
  ['b', 1, 100, 130],
  ['c', 1, 150, 180],
  ['d', 2, 150, 160],
  ['b', 0, 300, 350],
]);

test('each call is a node with its own time', () => {
  const { tree, layout } = timelineOf(calls);
  assert.deepEqual([...tree.self], [0, 40, 30, 20, 10, 50]);
  assert.deepEqual([...tree.total], [150, 100, 30, 30, 10, 50]);
  assert.deepEqual([...layout.start], [0, 100, 100, 150, 150, 300]);
  assert.deepEqual([...layout.width], [350, 100, 30, 30, 10, 50]);
  assert.deepEqual([...tree.parent], [-1, 0, 1, 1, 3, 0]);
});

test('gaps are empty, and calls are only at their time', () => {
  const { tree, layout } = timelineOf(calls);
  const at = (level: number, x: number) => nodeAt(layout, level, x);
  assert.deepEqual(
    [at(1, 99), at(1, 100), at(1, 199), at(1, 200), at(1, 300), at(1, 349), at(1, 350)],
    [-1, 1, 1, -1, 5, 5, -1],
  );
  assert.deepEqual([at(2, 130), at(2, 150), at(3, 155), at(4, 155), at(0, 250)], [-1, 3, 4, -1, 0]);
  assert.equal(neighbour(tree, layout, 1, 'right'), 5);
  assert.equal(neighbour(tree, layout, 5, 'left'), 1);
  assert.equal(neighbour(tree, layout, 4, 'caller'), 3);
});

test('the node at a position equals the result of a linear search', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const response = randomCalls(400, seed);
    const { tree, layout } = timelineOf(response);
    const all = layout.width[0]!;
    for (let x = 0; x < all; x += all / 97) {
      for (let level = 1; level < layout.levels.length; level++) {
        const plain = tree.frame.findIndex(
          (_, node) =>
            node > 0 &&
            tree.level[node] == level &&
            layout.start[node]! <= x &&
            x < layout.start[node]! + layout.width[node]!,
        );
        assert.equal(nodeAt(layout, level, x), plain, `seed ${seed}, level ${level}, ${x} µs`);
      }
    }
    const top = tree.frame.reduce((sum, _, node) => sum + (tree.level[node] == 1 ? layout.width[node]! : 0), 0);
    assert.equal(tree.total[0], top, 'the sum of self times is the time of the outermost calls');
    assert.ok(tree.self.every((self) => self >= 0));
  }
});

test('the range of a call finds the call', () => {
  const timeline = timelineOf(calls);
  assert.deepEqual(
    [
      [100, 200],
      [150, 180],
      [300, 350],
      [100, 130],
      [100, 199],
      [0, 350],
    ].map(([from, to]) => nodeFrom(timeline, from!, to!)),
    [1, 3, 5, 2, 0, 0],
  );
});

test('the strip shows which part of each period is busy', () => {
  const busy = busyOf(timelineOf(calls), 7); // 50 µs each
  assert.deepEqual(
    [...busy].map((part) => Math.round(part * 1000) / 1000),
    [0, 0, 1, 1, 0, 0, 1],
  );
  const random = timelineOf(randomCalls(300, 7));
  const sum = busyOf(random, 1000).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs((sum * random.layout.width[0]!) / 1000 - random.tree.total[0]!) < 1);
});

test('a search sums calls and steps through them in chronological order', () => {
  const { tree } = timelineOf(calls);
  const found = find(tree, searchOf(exactly('b')));
  assert.deepEqual([found.nodes, found.total], [[2, 5], 80]);
  assert.equal(exactly('a.b(c)/d'), '/^a\\.b\\(c\\)\\/d$/');
  const long = 'x'.repeat(10_000);
  assert.ok(searchOf(exactly(long)).matches({ name: long, resource: '', line: 0, column: 0 }));
  assert.ok(!searchOf(exactly('b')).matches({ name: 'bb', resource: '', line: 0, column: 0 }));
});

const noSpans: Spans = { page: '/a', end_us: 1000, spans: [], long_tasks: [] };
const bars = (spans: Partial<Spans>, key: string) =>
  lanesOf({ ...noSpans, ...spans })
    .find((lane) => lane.key == key)
    ?.bars.map(({ name, start, end, row }) => [name, start, end, row]);

test('routes are the page of the view where there is no span, else the span that started last', () => {
  assert.deepEqual(bars({}, 'route'), [['/a', 0, 1000, 0]]);
  const spans: Spans['spans'] = [
    { kind: 'page', name: '/b', start_us: 200, end_us: 600 },
    { kind: 'page', name: '/c', start_us: 500, end_us: 700 },
    { kind: 'page', name: '/d', start_us: 900, end_us: 5000 },
    { kind: 'page', name: '/e', start_us: 2000, end_us: 5000 },
  ];
  assert.deepEqual(bars({ spans }, 'route'), [
    ['/a', 0, 200, 0],
    ['/b', 200, 500, 0],
    ['/c', 500, 700, 0],
    ['/a', 700, 900, 0],
    ['/d', 900, 1000, 0],
  ]);
});

test('bars in a row do not overlap, and each label has a lane', () => {
  const spans: Spans['spans'] = [
    { kind: 'label', name: 'ab=1', start_us: 0, end_us: 10 },
    { kind: 'label', name: 'phase=load', start_us: 0, end_us: 900 },
    { kind: 'label', name: 'phase=interaction', start_us: 300, end_us: 400 },
    { kind: 'label', name: 'phase=interaction', start_us: 400, end_us: 500 },
    { kind: 'feature', name: 'search', start_us: 10, end_us: 20 },
  ];
  const lanes = lanesOf({ ...noSpans, spans, long_tasks: [{ start_us: 100, end_us: 200 }] });
  assert.deepEqual(
    lanes.map(({ key, title, rows, more }) => [key, title, rows, more]),
    [
      ['route', 'Routes', 1, 0],
      ['feature', 'Features', 1, 0],
      ['label phase', 'Phases', 2, 0],
      ['label ab', 'ab', 1, 0],
      ['task', 'Long tasks', 1, 0],
    ],
  );
  assert.deepEqual(bars({ spans }, 'label phase'), [
    ['load', 0, 900, 0],
    ['interaction', 300, 400, 1],
    ['interaction', 400, 500, 1],
  ]);
});

test('lanes are bounded, whatever a page sends', () => {
  const spans: Spans['spans'] = [];
  for (let i = 0; i < 2000; i++) spans.push({ kind: 'feature', name: `f${i}`, start_us: i % 50, end_us: 900 });
  for (let i = 0; i < 100; i++) spans.push({ kind: 'label', name: `k${i}=v`, start_us: 0, end_us: 900 });
  const long_tasks = Array.from({ length: 1000 }, (_, i) => ({ start_us: i, end_us: i + 1 }));
  const lanes = lanesOf({ ...noSpans, spans, long_tasks });
  const feature = lanes.find((lane) => lane.key == 'feature')!;
  assert.deepEqual([feature.rows, feature.bars.length, feature.more], [5, 5, 1995]);
  assert.deepEqual(lanes.filter((lane) => lane.key.startsWith('label')).length, 8);
  const task = lanes.find((lane) => lane.key == 'task')!;
  assert.deepEqual([task.bars.length, task.more, task.rows], [300, 700, 1]);
});

test('bars that are too narrow are merged, and invisible bars have no mark', () => {
  const bar = (start: number, end: number, row = 0) => ({ name: '', start, end, row });
  const seen = (bars: ReturnType<typeof bar>[], from: number, to: number) =>
    marksOf(bars, { from, to }, 1000).map(({ bar, bars, end, left, width }) => [bar.start, end, bars, left, width]);
  const all = [
    bar(0, 100),
    bar(101, 102),
    bar(102, 104),
    bar(103, 104, 1),
    bar(109, 110),
    bar(110, 300),
    bar(300, 301),
  ];
  assert.deepEqual(seen(all, 0, 1000), [
    [0, 100, 1, 0, 100],
    [101, 104, 2, 101, 3],
    [103, 104, 1, 103, 2],
    [109, 110, 1, 109, 2],
    [110, 300, 1, 110, 190],
    [300, 301, 1, 300, 2],
  ]);
  assert.deepEqual(seen(all, 90, 110), [
    [0, 100, 1, -4, 504],
    [101, 102, 1, 550, 50],
    [102, 104, 1, 600, 100],
    [103, 104, 1, 650, 50],
    [109, 110, 1, 950, 50],
  ]);
  const many = Array.from({ length: 5000 }, (_, i) => bar(i * 10, i * 10 + 3));
  assert.ok(seen(many, 0, 50_000).length < 400);
  assert.equal(
    seen(many, 0, 50_000).reduce((sum, [, , bars]) => sum + bars!, 0),
    5000,
  );
});

test('ticks are at round times', () => {
  const texts = (from: number, to: number, most: number) => ticksOf({ from, to }, most).map(({ text }) => text);
  assert.deepEqual(texts(0, 2_246_900, 5), ['0 ms', '500 ms', '1,000 ms', '1,500 ms', '2,000 ms']);
  assert.deepEqual(texts(101_000, 104_000, 3), ['101 ms', '102 ms', '103 ms', '104 ms']);
  assert.deepEqual(texts(100_000, 100_500, 6), ['100 ms', '100.1 ms', '100.2 ms', '100.3 ms', '100.4 ms', '100.5 ms']);
  assert.deepEqual(texts(1_000_000, 1_000_003, 3), ['1,000 ms', '1,000.001 ms', '1,000.002 ms', '1,000.003 ms']);
  for (let width = 1; width < 1e10; width *= 3.7) {
    const ticks = ticksOf({ from: 12.5, to: 12.5 + width }, 9);
    assert.ok(ticks.length >= 3 && ticks.length <= 10, `${ticks.length} of ${width} µs`);
    assert.equal(new Set(ticks.map(({ text }) => text)).size, ticks.length, `texts of ${width} µs`);
  }
  assert.deepEqual([0, 103_000, 1_633_149].map(momentText), ['0.0 ms', '103.0 ms', '1,633.1 ms']);
});

test('a range in the URL is parsed to the same range', () => {
  for (const range of [
    { from: 0, to: 350 },
    { from: 198_000, to: 285_100 },
    { from: 12.3, to: 12.4 },
  ]) {
    assert.deepEqual(rangeOfText(textOfRange(range), 1e6), range);
  }
  assert.equal(textOfRange({ from: 198_000, to: 285_100 }), '198-285.1');
  for (const text of ['', '1', '5-4', '1-1', '-1-2', 'a-b', '1-2-3', '1e3-2e3', '900-999'])
    assert.equal(rangeOfText(text, 800_000), undefined, text);
  assert.deepEqual(rangeOfText('1-9999999', 5000), { from: 1000, to: 5000 });
});

test('a range moves to show another one, unless they overlap already', () => {
  const range = { from: 100, to: 200 };
  assert.equal(showing(range, { from: 150, to: 160 }, 1000), range);
  assert.equal(showing(range, { from: 190, to: 400 }, 1000), range);
  assert.deepEqual(showing(range, { from: 500, to: 520 }, 1000), { from: 460, to: 560 });
  assert.deepEqual(showing(range, { from: 990, to: 1000 }, 1000), { from: 900, to: 1000 });
  assert.deepEqual(showing(range, { from: 300, to: 500 }, 1000), { from: 280, to: 520 });
  const { layout } = timelineOf(calls);
  assert.equal(middleOf({ from: 0, to: 350 }, layout, 5), 325);
  assert.equal(middleOf({ from: 0, to: 100 }, layout, 5), 50);
  assert.deepEqual(rangeOf(layout, 5), { from: 300, to: 350 });
});

test('the window of the strip can be moved, resized and drawn anew', () => {
  const range = { from: 200, to: 400 };
  assert.deepEqual(
    [198, 402, 300, 600].map((at) => gripOf(range, at, 5, 1000)),
    ['from', 'to', 'window', 'new'],
  );
  assert.equal(gripOf({ from: 0, to: 1000 }, 500, 5, 1000), 'new', 'the whole range cannot be moved');
  const drag = (grip: 'from' | 'to' | 'window' | 'new', at: number, now: number) =>
    dragged({ grip, at, range }, now, 1000);
  assert.deepEqual(drag('from', 200, 100), { from: 100, to: 400 });
  assert.deepEqual(drag('from', 200, 500), { from: 400, to: 500 });
  assert.deepEqual(drag('to', 400, 1000), { from: 200, to: 1000 });
  assert.deepEqual(drag('window', 300, 900), { from: 800, to: 1000 });
  assert.deepEqual(drag('window', 300, 0), { from: 0, to: 200 });
  assert.deepEqual(drag('new', 700, 500), { from: 500, to: 700 });
  assert.equal(drag('new', 700, 701), range, 'a click is no drag');
  assert.deepEqual(drag('to', 400, 200), { from: 200, to: 200.5 });
});
