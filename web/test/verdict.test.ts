import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Comparison, FunctionChange, Point, Series, Status } from '../src/api/types.ts';
import { changeOfMeans, timeBefore } from '../src/pages/overview/before.ts';
import { byKind, kindOf } from '../src/pages/code/Ownership.tsx';
import { apart, explained, explanation, folds, notEdited, sure, verdictOf } from '../src/pages/compare/verdict.ts';
import { binned, niceWidth } from '../src/widgets/Histogram.tsx';
import { releasesOf } from '../src/widgets/lines.ts';
import { placed } from '../src/widgets/Trend.tsx';

function changeOf(status: Status, value: number, share?: number): FunctionChange {
  const pair = { a: 0, b: value };
  const estimate = { value, low: value - 1, high: value + 1 };
  const known = { change_ms: estimate, mix_ms: { value: 0, low: 0, high: 0 }, browser_ms: null, left_out_ms: 0 };
  const common = { mean_ms: pair, measured_ms: pair, ...known, level: 0.99, p: 0, q: 0, detectable_ms: 1 };
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
      mean_ms: { a: 106, b: 124 },
      measured_ms: { a: 106, b: 126 },
      mix_ms: { value: 2, low: 1, high: 3 },
      browser_ms: null,
      change_ms: { value: 18, low: 11, high: 25 },
      left_out_ms: 0,
      level: 0.99,
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

/** Replaces no-break spaces, for readable expectations. */
const sentence = (of: Comparison) => verdictOf(of).sentence.replaceAll('\u00a0', ' ');

test('functions that were not edited are summed up if an executed one was edited', () => {
  const change_ms = { value: -3.14159, low: -4, high: -2 };
  assert.equal(
    notEdited({ functions: 1, changed: 0 }),
    '1 more function was not edited; none changed by more than noise.',
  );
  assert.equal(
    notEdited({ functions: 12, changed: 2, largest: { name: '' }, change_ms }),
    '12 more functions were not edited; 2 of them changed, by at most −3.14 ms (anonymous).',
  );
  const same: FunctionChange = { ...changeOf('slower', 3), code: 'not edited' };
  assert.equal(folds(comparison({}), same), false);
  assert.equal(folds(comparison({}, { not_edited: { functions: 1, changed: 1 } }), same), true);
  assert.equal(folds(comparison({}, { not_edited: { functions: 1, changed: 1 } }), changeOf('slower', 3)), false);
});

test('a verdict has the change, its interval and the functions, and the explanation has the traffic', () => {
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
    '+18.0 ms (+17 %), likely +11.0 to +25.0. 83 % of it is in 4 functions.',
  );
  assert.equal(
    explanation(comparison({}).total),
    'The means as measured are 106 ms and 126 ms. Of their difference of +20.0 ms, ' +
      '+2.00 ms (+1.00 to +3.00) come from a different traffic mix in B.',
  );
  const browser_ms = { value: -1, low: -2, high: 0 };
  assert.match(
    explanation(comparison({ browser_ms, left_out_ms: 1 }).total),
    new RegExp(
      String.raw`, \+2\.00 ms \(.*\) come from a different traffic mix in B, ` +
        String.raw`−1\.00 ms \(−2\.00 to 0\) from different browser versions, ` +
        String.raw`and \+1\.00 ms from traffic that only A has\.$`,
    ),
  );
  assert.equal(explanation(comparison({ measured_ms: { a: 106, b: 124 } }).total), '');
});

test('functions explain a change only if their own changes are more than noise', () => {
  const functions = [changeOf('slower', 5, 0.3), changeOf('within noise', 9, 0.6)];
  assert.deepEqual(explained(comparison({}, { functions })), { functions: 1, share: 0.3 });
  assert.deepEqual(explained(comparison({})), { functions: 0, share: 0 });
});

test('noise is reported as noise, and too few page views have no verdict', () => {
  const change_ms = { value: 7.54, low: -15.9, high: 31 };
  const noise = comparison({ status: 'within noise', change_ms, relative: 0.014 });
  noise.functions = [changeOf('new', 15.6)];
  assert.equal(
    sentence(noise),
    'No clear change: +7.54 ms (+1.4 %), likely −15.9 to +31.0. A change of 9.50 ms would be found nine times ' +
      'out of ten. ' +
      '1 function changed significantly.',
  );
  const unknown = {
    change_ms: { value: 20, low: 12, high: 28 },
    mix_ms: null,
    browser_ms: null,
    left_out_ms: null,
    detectable_ms: null,
    relative: undefined,
  };
  const few = comparison(
    { ...unknown, level: 0.95, status: 'too few views' },
    { enough: false, views: { a: 34, b: 1200 }, warnings: ['34 of 100'] },
  );
  assert.equal(sentence(few), 'Not known yet. As measured: +20.0 ms, likely +12.0 to +28.0.');
  assert.deepEqual([verdictOf(few).status, verdictOf(few).remarks], ['too few views', ['34 of 100']]);
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
  assert.deepEqual(
    releasesOf({ entries }).map(({ name }) => name),
    ['B', 'A'],
  );
  assert.deepEqual(
    releasesOf({ entries }, '/').map(({ name }) => name),
    ['A', 'B'],
  );
});

test('markers have a text where there is room, with the number of those without one', () => {
  const markers = [1, 2, 3, 500, 999, 2000].map((time) => ({ time, name: `r${time}` }));
  const places = placed(markers, 0, 1000, 700);
  assert.deepEqual(
    places.map(({ label }) => label),
    ['', '', 'r3 +2', 'r500', 'r999'],
  );
  assert.deepEqual(
    places.map(({ right }) => right),
    [false, false, false, false, true],
  );
});

test('a change against the previous period is certain if its interval excludes 0', () => {
  const item = (value: number, half: number) => ({
    value: '/',
    views: 500,
    traces: 1,
    own_us: 0,
    self_us: 1,
    samples: 1,
    stackless_us: 0,
    idle_us: 0,
    unsampled_us: 0,
    mean_ms: value,
    scaled_mean_ms: value,
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
  assert.equal(
    bins.reduce((sum, bin) => sum + bin.count, 0),
    99 * 50 + 3,
  );
  assert.ok(bins.length <= 32);
  assert.equal(bins.at(-1)?.high_ms, 9100);
  assert.deepEqual(binned([], 30, 0), []);
  assert.deepEqual([0.11, 3, 20, 51].map(niceWidth), [0.2, 5, 20, 100]);
});

test('owners are summed up by kind', () => {
  const owners = ['(app)', '(framework react-dom)', '(third-party x.com)', '@acme/shop'];
  assert.deepEqual(owners.map(kindOf), ['app', 'framework', 'third-party', 'team']);
  const owner = (name: string, self_us: number, reach: number) => ({ name, self_us, total_us: 0, samples: 0, reach });
  const rows = byKind([owner('(framework a)', 1000, 5), owner('(framework b)', 3000, 2), owner('(app)', 500, 1)], 10);
  assert.deepEqual(
    rows.map(({ kind, ms, reach }) => [kind, ms, reach]),
    [
      ['framework', 0.4, 5],
      ['app', 0.05, 1],
    ],
  );
});

// The comparisons are generated by the package that also compares in the daemon. The test judges
// sentences by the meaning of their words, not by how they are composed.
test('no sentence contradicts the numbers of a random comparison', () => {
  const folder = mkdtempSync(join(tmpdir(), 'comparisons-'));
  const file = join(folder, 'comparisons.jsonl');
  const root = fileURLToPath(new URL('../..', import.meta.url));
  execFileSync('go', ['test', './query/compare', '-run', '^TestRules$', '-comparisons', file], {
    cwd: root,
    stdio: 'inherit',
  });
  const all = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Comparison);
  rmSync(folder, { recursive: true });
  assert.equal(all.length, 1000);
  const said = new Map<string, number>();
  for (const one of all) {
    const { status } = verdictOf(one);
    const text = sentence(one);
    said.set(status, (said.get(status) ?? 0) + 1);
    const estimate = one.total.change_ms;
    const why = `${text} ${JSON.stringify(one.total)}`;
    assert.equal(text.startsWith('Not known yet'), !one.enough, why);
    assert.equal(text.startsWith('No clear change'), status == 'within noise', why);
    assert.equal(status == 'too few views' || text.startsWith('Not known') ? !one.enough : one.enough, true, why);
    if (!one.enough) assert.doesNotMatch(text, /[Tt]raffic|code|clear|of it/, why);
    const { mean_ms, relative } = one.total;
    const size = 1 + mean_ms.a + mean_ms.b;
    assert.ok(Math.abs(mean_ms.b - mean_ms.a - estimate.value) < 1e-6 * size, why);
    assert.ok(
      relative == undefined || (relative >= -1 && Math.abs(relative * mean_ms.a - estimate.value) < 1e-6 * size),
      why,
    );
    if (sure.includes(status))
      assert.ok(apart(estimate) && estimate.value > 0 == (status == 'slower' || status == 'new'), why);
    if (status == 'within noise') assert.ok(!apart(estimate) && estimate.low != undefined, why);
    if (estimate.low == undefined) assert.match(text, /no interval/, why);
    assert.doesNotMatch(text, /NaN|undefined|null|Infinity/, why);
  }
  for (const status of ['slower', 'faster', 'within noise', 'too few views', 'not known']) {
    assert.ok((said.get(status) ?? 0) > 5, `${status} was said ${said.get(status)} times`);
  }
});
