import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectionOf } from '../src/api/selection.ts';
import type { Entry } from '../src/api/types.ts';
import { begun, storedOf } from '../src/pages/parts/chart.ts';
import { apart } from '../src/widgets/Histogram.tsx';
import { longestBar } from '../src/widgets/Interval.tsx';
import { randomOf } from './synthetic.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = Date.parse('2026-11-25T12:00:00Z');

test('names of percentiles never overlap, leave the chart or change their order', () => {
  const random = randomOf(7);
  for (let i = 0; i < 1000; i++) {
    const width = 120 + random() * 1000;
    const places = [random(), random(), random()].sort((a, b) => a - b).map((part) => part * width);
    const texts = apart(places, width);
    for (let n = 0; n < 3; n++) {
      assert.ok(texts[n]! >= 13.99 && texts[n]! <= width - 13.99, `${texts} of ${places} in ${width}`);
      if (n) assert.ok(texts[n]! - texts[n - 1]! >= 27.99, `${texts} of ${places} in ${width}`);
    }
  }
  assert.deepEqual(apart([100, 200, 300], 400), [100, 200, 300], 'each at its place, where there is room');
});

test('one outlier leaves more than slivers of the other bars', () => {
  assert.equal(longestBar([10, 12, 8000]), 48);
  assert.equal(longestBar([10, 12, 14]), 14);
  assert.equal(longestBar([]), 0);
  const random = randomOf(3);
  for (let i = 0; i < 500; i++) {
    const values = Array.from({ length: 1 + Math.floor(random() * 30) }, () => 10 ** (random() * 5));
    const longest = longestBar(values);
    assert.ok(longest <= Math.max(...values));
    const long = values.filter((value) => value >= longest / 4 - 1e-9).length;
    assert.ok(long >= values.length / 2, 'half of the bars have a quarter of the length');
  }
});

test('charts start with the first data', () => {
  const day = { ...selectionOf(new URLSearchParams()), page: '/feed' };
  const begin = (ago: number, traces = 100) => begun(day, { first: now - ago, traces }, now - 24 * hour, now).since;
  assert.equal(begin(3 * hour), '2026-11-25T09:00:00.000Z');
  assert.equal(begin(2 * minute), '2026-11-25T11:50:00.000Z', 'ten minutes at least');
  assert.equal(begin(30 * minute, 4_000), '2026-11-25T11:30:00.000Z', 'half an hour would be a dot in eight hours');
  assert.equal(begin(2 * minute, 1e6), '2026-11-25T04:00:00.000Z', 'with many traces, the finest points are hours');
  assert.equal(begin(23 * hour), '24h');
  assert.equal(begin(48 * hour), '24h');
  assert.equal(begin(-hour), '24h', 'after its end');
  assert.equal(begun(day, { first: Infinity, traces: 0 }, now - 24 * hour, now), day, 'no data is known');
});

test('data starts with the first trace of the page, the feature and the release', () => {
  const entry = (page: string, kind: Entry['kind'], name: string, first: number): Entry => {
    return { page, kind, name, traces: 1, first: new Date(first).toISOString(), last: new Date(now).toISOString() };
  };
  const entries = [
    entry('/', 'page', '/', now - 5 * hour),
    entry('/feed', 'page', '/feed', now - 3 * hour),
    entry('/feed', 'release', '2.0', now - hour),
    entry('/feed', 'feature', 'search', now - 2 * hour),
  ];
  const first = (query: string) => now - storedOf({ entries }, selectionOf(new URLSearchParams(query))).first;
  assert.equal(first(''), 5 * hour);
  assert.equal(first('page=/feed'), 3 * hour);
  assert.equal(first('page=/feed&release=2.0'), hour);
  assert.equal(first('feature=search'), 2 * hour);
  assert.equal(storedOf({ entries }, selectionOf(new URLSearchParams())).traces, 2);
  assert.equal(storedOf(undefined, selectionOf(new URLSearchParams())).first, Infinity);
});
