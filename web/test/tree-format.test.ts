import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  amount,
  change,
  count,
  fullPlaceOf,
  hours,
  nameOf,
  placeOf,
  share,
  shown,
  signed,
  time,
  type Scale,
} from '../src/tree/format.ts';

test('times have three significant digits', () => {
  const cases: [ms: number, text: string][] = [
    [0, '0 ms'],
    [0.0001, '<0.001 ms'],
    [0.031, '0.031 ms'],
    [0.5, '0.5 ms'],
    [0.9999, '1 ms'],
    [1.234, '1.23 ms'],
    [9.996, '10 ms'],
    [12.44, '12.4 ms'],
    [99.96, '100 ms'],
    [452.9, '453 ms'],
    [999.4, '999 ms'],
    [999.6, '1 s'],
    [1240, '1.24 s'],
    [1234567, '1,235 s'],
    [-3.14, '−3.14 ms'],
  ];
  for (const [ms, text] of cases) assert.equal(time(ms), text);
});

test('differences have signs', () => {
  const cases: [ms: number, text: string][] = [
    [18.2, '+18.2 ms'],
    [-3.1, '−3.1 ms'],
    [0, '0 ms'],
    [-0.0001, '−<0.001 ms'],
  ];
  for (const [ms, text] of cases) assert.equal(signed(ms), text);
});

test('shares, counts and hours', () => {
  assert.deepEqual([0, 0.00001, 0.0003, 0.0812, 0.9999, 1, -0.5].map(share), [
    '0 %',
    '<0.01 %',
    '0.03 %',
    '8.1 %',
    '100 %',
    '100 %',
    '−50 %',
  ]);
  assert.deepEqual([0, 1234567].map(count), ['0', '1,234,567']);
  assert.deepEqual([0, 0.05, 12.34, -3].map(hours), ['0 h', '0.05 h', '12.3 h', '−3 h']);
});

test('amounts are in the unit of the scale', () => {
  const scale: Scale = { unit: 'ms', views: 10, total: 500_000 };
  const base: Scale = { unit: 'ms', views: 20, total: 500_000 };
  assert.equal(amount(124_000, scale), '12.4 ms');
  assert.equal(change(124_000, scale, 124_000, base), '+6.2 ms');
  assert.equal(amount(124_000, { ...scale, unit: 'share' }), '24.8 %');
  assert.equal(change(124_000, { ...scale, unit: 'share' }, 150_000, { ...base, unit: 'share' }), '−5.2 pp');
  assert.equal(amount(360_000, { ...scale, unit: 'hours', viewsPerDay: 200_000 }), '2 h');
  assert.equal(change(0, { ...scale, unit: 'hours', viewsPerDay: 200_000 }, 720_000, base), '−2 h');
  assert.equal(amount(124_000, { ...scale, unit: 'hours' }), '12.4 ms');
});

test('functions have names and locations', () => {
  const frame = (name: string, resource: string, line = 12, column = 3) => ({ name, resource, line, column });
  assert.equal(nameOf(frame('', '')), '(anonymous)');
  assert.equal(placeOf(frame('f', 'src/grid/file.ts')), 'file.ts:12:3');
  assert.equal(placeOf(frame('f', 'https://example.com/a/b.js?v=1#x')), 'b.js:12:3');
  assert.equal(placeOf(frame('f', 'src/a.ts', 12, 0)), 'a.ts:12');
  assert.equal(placeOf(frame('f', '', 0, 0)), '');
  assert.equal(fullPlaceOf(frame('f', 'https://example.com/a/b.js')), 'example.com/a/b.js:12:3');
  assert.equal(
    fullPlaceOf(frame('f', `node_modules/${'x'.repeat(200)}/cjs/react.js`), 30),
    'node_modules/…xxx/cjs/react.js:12:3',
  );
});

test('hostile texts are cut and contain no invisible characters', () => {
  assert.equal(shown('a\0b\u001b[31m\u202ec'), 'a\ufffdb\ufffd[31m\ufffdc');
  assert.equal(shown('x'.repeat(10_000)).length, 200);
  assert.equal(shown('😀'.repeat(200), 10), '😀😀😀😀…');
  assert.equal(shown('</script>'), '</script>');
});
