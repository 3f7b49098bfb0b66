import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoundChange, PageChange } from '../src/api/types.ts';
import { amountOf, endOf, hourly, shownOf, sinceOf, textOf, urgent, valueOf } from '../src/pages/changes/words.ts';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

test('a change is plain, unless only the change at an equal rest is more than noise', () => {
  const of = (change: [number, number], beside?: [number, number]): PageChange => {
    const estimate = ([low, high]: [number, number]) => ({ value: (low + high) / 2, low, high });
    const rest = beside && estimate(beside);
    return {
      page: '/a',
      views: { a: 1, b: 1 },
      value: { a: 1, b: 2 },
      change: estimate(change),
      beside: rest,
      level: 0.95,
    };
  };
  assert.deepEqual(shownOf(of([1, 3])), { estimate: { value: 2, low: 1, high: 3 }, atRest: false });
  assert.equal(shownOf(of([1, 3], [2, 3])).atRest, false);
  assert.equal(shownOf(of([-1, 3], [2, 3])).atRest, true);
  assert.equal(shownOf(of([-1, 3], [-2, 3])).atRest, false);
});

test('numbers have units, and unknown numbers are omitted', () => {
  const fn = {
    kind: 'function',
    metric: 'self',
    function: { name: 'formatPrice', resource: 'a.ts', line: 1, column: 1 },
  } as const;
  const cls = { kind: 'vital', metric: 'cls' } as const;
  assert.equal(plain(amountOf(fn, { value: 160.2, low: 112, high: 208 })), '+160 ms (+112 to +208)');
  assert.equal(plain(amountOf(fn, { value: -2 })), '−2.00 ms');
  assert.equal(plain(valueOf(fn, 18.7)), '18.7 ms');
  assert.equal(valueOf(cls, 0.1), '0.10');
  assert.equal(textOf(fn), 'formatPrice');
  assert.equal(textOf(cls), 'CLS');
  assert.equal(textOf({ kind: 'feature', metric: 'js', feature: 'search' }), 'feature search');
  assert.equal(textOf({ kind: 'page', metric: 'js' }), 'JavaScript');
  assert.equal(
    textOf({ kind: 'function', metric: 'self', function: { name: '', resource: '', line: 0, column: 0 } }),
    '(anonymous)',
  );
});

test('a release is named only if the change began with it', () => {
  const change = { release: 'b', compare_release: 'a', resolution: 'back' } as FoundChange;
  assert.equal(sinceOf(change), 'with release b (before: a)');
  assert.equal(sinceOf({} as FoundChange), 'with no release that explains it');
  assert.equal(endOf(change), 'It returned to the earlier level.');
  assert.equal(endOf({ resolution: 'new normal' } as FoundChange), 'It lasted 14 days and is the new normal.');
  assert.equal(endOf({ resolution: 'by hand' } as FoundChange), 'Resolved by hand.');
});

test('changes are sorted by day, newest first, then by size, without moved time', () => {
  const of = (id: string, begin: string, value: number, direction = 'slower') =>
    ({
      id,
      begin,
      direction,
      pages: [{ page: '/', views: { a: 1, b: 100 }, value: { a: 1, b: 2 }, change: { value }, level: 0.95 }],
    }) as unknown as FoundChange;
  const all = [
    of('old and large', '2026-11-20T10:00:00Z', 400),
    of('small', '2026-11-27T12:00:00Z', 2),
    of('large', '2026-11-27T11:00:00Z', -90, 'faster'),
    of('moved', '2026-11-27T11:00:00Z', 500, 'moved'),
  ];
  assert.deepEqual(
    urgent(all).map(({ id }) => id),
    ['large', 'small', 'old and large'],
  );
});

test('an hourly line is interrupted where hours are missing', () => {
  const of = (time: string, value: number) => ({ time, views: 1, value: { value } });
  const samples = hourly([of('2026-11-27T10:00:00Z', 1), of('2026-11-27T11:00:00Z', 2), of('2026-11-27T14:00:00Z', 3)]);
  assert.deepEqual(
    samples.map(({ value }) => value),
    [1, 2, undefined, 3],
  );
  assert.equal(samples[0]!.time, Date.parse('2026-11-27T10:30:00Z'));
});
