import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VitalElement, VitalReport } from '../src/api/types.ts';
import { rowsOf } from '../src/pages/page/Elements.tsx';

const estimate = { value: 1200, low: 1100, high: 1300 };

const element = (name: string, share: number): VitalElement => ({
  ...{ element: name, views: Math.round(1000 * share), page_views: Math.round(1000 * share), share },
  ...{ p75: estimate, poor: 0, rating: 'good' },
});

const vital = (name: string, elements: VitalElement[], more?: number): VitalReport => ({
  ...{
    name,
    unit: 'ms',
    views: 1000,
    page_views: 1000,
    p50: estimate,
    p75: estimate,
    p95: estimate,
    good: 1,
    poor: 0,
    rating: 'good',
  },
  ...{ elements, more_elements: more },
});

const shown = (vitals: VitalReport[], all: boolean) =>
  rowsOf(vitals, all).map(
    ({ vital, element, share }) => `${vital.name} ${element?.element ?? 'rest'} ${share.toFixed(2)}`,
  );

test('elements of each vital are shown, with a row for the rest', () => {
  const many = ['a', 'b', 'c', 'd'].map((name, i) => element(name, [0.4, 0.3, 0.2, 0.1][i] ?? 0));
  const vitals = [vital('lcp', [element('image img#hero', 0.9)]), vital('inp', many), vital('fcp', [])];
  assert.deepEqual(shown(vitals, false), [
    'lcp image img#hero 0.90',
    'lcp rest 0.10',
    'inp a 0.40',
    'inp b 0.30',
    'inp c 0.20',
    'inp rest 0.10',
  ]);
  assert.deepEqual(shown(vitals, true), [
    'lcp image img#hero 0.90',
    'lcp rest 0.10',
    'inp a 0.40',
    'inp b 0.30',
    'inp c 0.20',
    'inp d 0.10',
  ]);
  assert.deepEqual(shown([vital('cls', [element('div', 1)])], true), ['cls div 1.00']);
});
