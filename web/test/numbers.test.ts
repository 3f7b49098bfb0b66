import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ago,
  count,
  cut,
  duration,
  hours,
  moment,
  number,
  percent,
  plural,
  shortCount,
  signed,
  signedPercent,
  visible,
} from '../src/widgets/numbers.ts';
import { amount, inUnit, ofPeriod, scaleOf } from '../src/widgets/unit.ts';
import type { Point } from '../src/api/types.ts';
import { randomOf } from './synthetic.ts';
import { nextOrder, orderOf, sorted } from '../src/widgets/sorting.ts';
import { unitOf } from '../src/state/view.ts';

/** Replaces no-break spaces, for readable expectations. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

test('numbers have three significant digits', () => {
  const cases: [number, string][] = [
    [0, '0'],
    [0.001, '<0.01'],
    [-0.001, '≈0'],
    [0.006, '0.01'],
    [5.4444, '5.44'],
    [9.996, '10.0'],
    [54.44, '54.4'],
    [99.96, '100'],
    [544.4, '544'],
    [999.6, '1,000'],
    [1_234_567, '1,234,567'],
    [-23.496, '−23.5'],
  ];
  for (const [value, text] of cases) assert.equal(number(value), text, String(value));
});

test('signs are formatted', () => {
  assert.equal(signed(18.16), '+18.2');
  assert.equal(signed(-3.33), '−3.33');
  assert.equal(signed(0), '0');
  assert.equal(signed(0.001), '≈0');
  assert.equal(plain(signedPercent(0.17)), '+17 %');
  assert.equal(plain(signedPercent(-0.372)), '−37 %');
});

test('times, shares and counts', () => {
  assert.deepEqual([duration(54.4), duration(999.4), duration(1234)].map(plain), ['54.4 ms', '999 ms', '1.23 s']);
  const times = [hours(12.34), hours(0.0386), hours(0.01), hours(0)];
  assert.deepEqual(times.map(plain), ['12.3 h', '2.32 min', '36.0 s', '0 h']);
  const shares = [0, 0.0001, 0.055, 0.17, 1].map(percent);
  assert.deepEqual(shares.map(plain), ['0 %', '<0.1 %', '5.5 %', '17 %', '100 %']);
  assert.equal(count(12345.4), '12,345');
  assert.deepEqual([99_999, 123_456, 4e6].map(shortCount), ['99,999', '123.5K', '4M']);
  const ages = [0, 12_000, 180_000, 7_200_000, 4 * 86_400_000].map(ago);
  assert.deepEqual(ages, ['now', '12 s', '3 min', '2 h', '4 d']);
  assert.deepEqual([plural(1, 'function'), plural(2, 'function')], ['1 function', '2 functions']);
});

test('foreign texts are cut between characters, and nothing in them is invisible', () => {
  assert.equal(cut('abc', 3), 'abc');
  assert.equal(cut('abcd', 3), 'abc…');
  assert.equal(cut('😀😀😀😀', 3), '😀😀😀…');
  assert.equal(cut('x'.repeat(10_000), 5), 'xxxxx…');
  assert.equal(visible('a\u0000b\u001b[1m\u007f\u202e'), 'a␀b␛[1m␡\ufffd');
});

test('all units have the same mean', () => {
  const scale = { unit: 'ms' as const, hoursPerMs: 0.005, perDay: true, wholeMs: 400 };
  assert.equal(inUnit(100, scale), 100);
  assert.equal(inUnit(100, { ...scale, unit: 'hours' }), 0.5);
  assert.deepEqual([ofPeriod({ perDay: false }), ofPeriod(scale)], ['in this range', 'per day']);
  assert.equal(inUnit(100, { ...scale, unit: 'share' }), 0.25);
  assert.equal(plain(amount(100, { ...scale, unit: 'share' })), '25 %');
  assert.equal(inUnit(100, { ...scale, unit: 'share', wholeMs: 0 }), 0);
  const point = { mean_ms: 100, people: { hours: 0.5, days: 2, per_day: true } } as Point;
  assert.deepEqual(scaleOf('ms', point, 400), scale, 'people’s time is what the API says');
  assert.equal(unitOf(new URLSearchParams('unit=nonsense')), 'ms');
});

test('rows without a value are last in both orders', () => {
  const rows = [{ v: 2 }, { v: undefined }, { v: 10 }, { v: 1 }];
  const value = (row: { v?: number }) => row.v;
  assert.deepEqual(sorted(rows, value, false).map(value), [1, 2, 10, undefined]);
  assert.deepEqual(sorted(rows, value, true).map(value), [10, 2, 1, undefined]);
  assert.deepEqual(
    sorted(['r10', 'r2'], (row) => row, false),
    ['r2', 'r10'],
  );
  assert.deepEqual(orderOf('-mean'), { key: 'mean', descending: true });
  assert.equal(nextOrder(orderOf('-mean'), 'mean', true), 'mean');
  assert.equal(nextOrder(orderOf('-mean'), 'views', true), '-views');
  assert.equal(nextOrder(orderOf('-mean'), 'name', false), 'name');
});

test('numbers and dates are formatted like with Intl', () => {
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
  const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
  const random = randomOf(7);
  for (let i = 0; i < 5000; i++) {
    const value = Math.round(10 ** (random() * 14));
    assert.equal(count(value), whole.format(value));
    if (value >= 100_000) assert.equal(shortCount(value), compact.format(value), String(value));
    const time = Math.floor(random() * 2e12);
    const said = new Date(time).toLocaleString('en-GB', {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
    assert.equal(moment(time), said.replace('Sept', 'Sep'));
  }
  for (const value of [99_999, 99_999.5, 999_499, 999_949, 999_950, 999_999, 1e6, 1.05e6, 999_999_999]) {
    assert.equal(shortCount(value), value < 99_999.5 ? whole.format(value) : compact.format(value), String(value));
  }
});
