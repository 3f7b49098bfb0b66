import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Comparison, FunctionChange, Status } from '../src/api/types.ts';
import { latestPair } from '../src/pages/Attention.tsx';
import { changeOfMeans, timeBefore } from '../src/pages/before.ts';
import { byKind, kindOf } from '../src/pages/Code.tsx';
import { covered } from '../src/pages/Footer.tsx';
import { explained, verdictOf } from '../src/pages/verdict.ts';
import { binned, niceWidth } from '../src/widgets/Histogram.tsx';
import { releasesOf } from '../src/widgets/lines.ts';
import { placed } from '../src/widgets/Trend.tsx';

function changeOf(status: Status, value: number, share?: number): FunctionChange {
  const pair = { a: 0, b: value };
  const estimate = { value, low: value - 1, high: value + 1 };
  const common = { mean_ms: pair, difference_ms: value, mix_ms: 0, change_ms: estimate, p: 0, q: 0, detectable_ms: 1 };
  return { ...common, status, name: `f${value}`, total_ms: pair, reach: pair, share };
}

function comparison(changes: Partial<Comparison['total']>, more: Partial<Comparison> = {}): Comparison {
  return {
    method_of_sums: 'views',
    note: '',
    views: { a: 500, b: 600 },
    min_views: 100,
    enough: true,
    false_discovery: 0.05,
    method: '',
    total: {
      mean_ms: { a: 106, b: 126 },
      difference_ms: 20,
      mix_ms: 2,
      change_ms: { value: 18, low: 11, high: 25 },
      relative: 0.17,
      p: 0,
      q: 0,
      detectable_ms: 9.5,
      status: 'slower',
      ...changes,
    },
    strata: [],
    uncovered: 0,
    features: [],
    functions: [],
    tested_functions: 3,
    rest: { functions: 0, mean_ms: { a: 0, b: 0 }, change_ms: 0 },
    ...more,
  };
}

/** With plain spaces, which read better here. */
const sentence = (of: Comparison) => verdictOf(of).sentence.replaceAll('\u00a0', ' ');

test('a change is said with its interval, where it is, and what the traffic did', () => {
  const functions = [
    changeOf('slower', 8, 0.44),
    changeOf('new', 4, 0.22),
    changeOf('slower', 2, 0.1),
    changeOf('slower', 1.3, 0.07),
    changeOf('slower', 0.9, 0.05),
    changeOf('faster', -2, -0.1),
    changeOf('within noise', 5, 0.3),
  ];
  assert.equal(
    sentence(comparison({}, { functions })),
    '+18.0 ms (+17 %), 95 % +11.0 to +25.0; 83 % of it in 4 functions; traffic mix +2.00 ms.',
  );
  assert.equal(sentence(comparison({ mix_ms: 0 })), '+18.0 ms (+17 %), 95 % +11.0 to +25.0.');
  const faster = comparison({ status: 'faster', change_ms: { value: -18 }, relative: undefined, mix_ms: -1 });
  assert.equal(sentence(faster), '−18.0 ms, no interval is known; traffic mix −1.00 ms.');
});

test('functions explain a change only as far as they changed for sure', () => {
  const functions = [changeOf('slower', 5, 0.3), changeOf('within noise', 9, 0.6)];
  assert.deepEqual(explained(comparison({}, { functions })), { functions: 1, share: 0.3 });
  assert.deepEqual(explained(comparison({})), { functions: 0, share: 0 });
});

test('noise is called noise, and too few page views are no verdict', () => {
  const change_ms = { value: 7.54, low: -15.9, high: 31 };
  const noise = comparison({ status: 'within noise', change_ms, relative: 0.014 });
  noise.functions = [changeOf('new', 15.6)];
  assert.equal(
    sentence(noise),
    'Within noise: +7.54 ms (+1.4 %), 95 % −15.9 to +31.0; a change of less than 9.50 ms can not be told from noise; ' +
      '1 function changed for sure.',
  );
  const few = verdictOf(comparison({}, { enough: false, views: { a: 34, b: 1200 } }));
  assert.equal(few.sentence, 'Too few page views to say: 34 against 1,200, each side needs 100.');
  assert.equal(few.status, 'too few views');
});

test('what the sums can not say is said', () => {
  const { remarks } = verdictOf(comparison({}, { uncovered: 0.12, warnings: ['a warning'] }));
  assert.equal(remarks.length, 2);
  assert.match(remarks[1]!, /12.% of the page views/);
});

test('releases are in the order in which they were first seen', () => {
  const entry = (page: string, name: string, first: string) => {
    return { page, kind: 'release' as const, name, traces: 1, first, last: first };
  };
  const entries = [
    entry('/', 'B', '2026-11-02T00:00:00Z'),
    entry('/x', 'B', '2026-11-01T00:00:00Z'),
    entry('/', 'A', '2026-11-01T12:00:00Z'),
    { ...entry('/', 'f', '2026-01-01T00:00:00Z'), kind: 'feature' as const },
  ];
  assert.deepEqual(releasesOf({ entries }).map(({ name }) => name), ['B', 'A']);
  assert.deepEqual(releasesOf({ entries }, '/').map(({ name }) => name), ['A', 'B']);
  assert.deepEqual(latestPair(['1', '2', '3'], ''), { before: '2', after: '3' });
  assert.deepEqual(latestPair(['1', '2', '3'], '2'), { before: '1', after: '2' });
  assert.equal(latestPair(['1'], ''), undefined);
  assert.equal(latestPair(['1', '2'], '1'), undefined);
  assert.equal(latestPair(['1', '2'], 'unknown'), undefined);
});

test('markers have a text where there is room, which counts those that have none', () => {
  const markers = [1, 2, 3, 500, 999, 2000].map((time) => ({ time, name: `r${time}` }));
  const places = placed(markers, 0, 1000, 700);
  assert.deepEqual(places.map(({ label }) => label), ['r1 +2', '', '', 'r500', 'r999']);
  assert.deepEqual(places.map(({ right }) => right), [false, false, false, false, true]);
});

test('the change against the time before is sure if its interval is on one side', () => {
  const item = (value: number, half: number) => ({
    value: '/',
    views: 500,
    traces: 1,
    self_us: 1,
    samples: 1,
    stackless_us: 0,
    idle_us: 0,
    unsampled_us: 0,
    mean_ms: value,
    spread: { mean: { value, low: value - half, high: value + half }, p50: { value }, p75: { value }, p95: { value } },
  });
  assert.deepEqual(changeOfMeans(item(100, 3), item(110, 4)), { value: 10, low: 5, high: 15, sure: true });
  assert.equal(changeOfMeans(item(100, 3), item(104, 4))?.sure, false);
  assert.equal(changeOfMeans(undefined, item(1, 1)), undefined);
  const selection = { page: '', feature: '', release: '', label: [], since: '24h', until: '' };
  const day = 86_400_000;
  const before = timeBefore(selection, 10 * day, 11 * day);
  assert.deepEqual([before.since, before.until], ['1970-01-10T00:00:00.000Z', '1970-01-11T00:00:00.000Z']);
});

test('histograms keep all page views', () => {
  const bars = Array.from({ length: 100 }, (_, i) => ({ low_ms: i * 4, high_ms: i * 4 + 4, count: i }));
  bars.push({ low_ms: 9000, high_ms: 9100, count: 3 });
  const bins = binned(bars, 30, 200);
  assert.equal(bins.reduce((sum, bin) => sum + bin.count, 0), 99 * 50 + 3);
  assert.ok(bins.length <= 32);
  assert.equal(bins.at(-1)?.high_ms, 9100);
  assert.deepEqual(binned([], 30, 0), []);
  assert.deepEqual([0.11, 3, 20, 51].map(niceWidth), [0.2, 5, 20, 100]);
});

test('owners are summed up to their kinds', () => {
  const owners = ['(app)', '(framework react-dom)', '(third-party x.com)', '@acme/shop'];
  assert.deepEqual(owners.map(kindOf), ['app', 'framework', 'third-party', 'team']);
  const owner = (name: string, self_us: number, reach: number) => ({ name, self_us, total_us: 0, samples: 0, reach });
  const rows = byKind([owner('(framework a)', 1000, 5), owner('(framework b)', 3000, 2), owner('(app)', 500, 1)], 10);
  assert.deepEqual(rows.map(({ kind, ms, reach }) => [kind, ms, reach]), [['framework', 0.4, 5], ['app', 0.05, 1]]);
});

test('coverage counts page views with a profile and without', () => {
  const page = { traces: 1, self_us: 10, samples: 1, stackless_us: 0, idle_us: 0, unsampled_us: 0, mean_ms: 1 };
  const sum = covered({
    key: 'page',
    values: [
      { ...page, value: '/', views: 10, population: { value: 100 }, coverage: { unsupported: 40 } },
      { ...page, value: '/x', views: 5, coverage: { unsupported: 2, refused: 3 } },
    ],
    stats: { partitions: 0, traces: 0, bytes: 0 },
  });
  assert.deepEqual([sum.views, sum.population, sum.missing], [15, 110, { unsupported: 42, refused: 3 }]);
});
