import assert from 'node:assert/strict';
import { test } from 'node:test';
import { swapped } from '../src/pages/compare/Compare.tsx';
import { mergedLabels } from '../src/pages/compare/Sides.tsx';
import {
  conditionOf,
  durationOf,
  fineStep,
  frozen,
  otherSideOf,
  paramsOf,
  rangeOf,
  selectionOf,
} from '../src/api/selection.ts';
import { changed, linkHere, linkTo, permanentLink, placeOf } from '../src/state/url.ts';

const at = (url: string) => placeOf(new URL(url, 'http://host/below/'));
const noon = Date.parse('2026-11-23T12:34:56.000Z');

test('the route is the last segment, below any path', () => {
  assert.equal(at('page?page=/feed').route, 'page');
  assert.equal(at('./?since=7d').route, '');
  assert.equal(placeOf(new URL('http://host/a/b/compare')).route, 'compare');
});

test('any selection survives its URL', () => {
  const selections = [
    { page: '/feed', feature: '', release: '', label: [], since: '24h', until: '' },
    {
      page: '/ü?&=#%\u0000\u202e',
      feature: 'a b+c',
      release: '</script>',
      label: ['device=mobile-low', 'page!=/', 'browser=~Chrome .*', 'x!~"'],
      since: '2026-11-20',
      until: '2026-11-21T10:00:00.000Z',
    },
  ];
  for (const selection of selections) {
    const link = linkTo(at('./'), 'page', Object.fromEntries(Object.entries(selection)));
    assert.deepEqual(selectionOf(at(link).params), selection);
    assert.deepEqual(selectionOf(paramsOf(selection)), selection);
  }
});

test('the other side is only what compare_ parameters set, including empty texts', () => {
  assert.equal(otherSideOf(at('compare?release=B').params), undefined);
  const params = at('compare?compare_release=A&compare_page=&compare_label=device=x&compare_label=y=z').params;
  const other = { release: 'A', page: '', label: ['device=x', 'y=z'] };
  assert.deepEqual(otherSideOf(params), other);
  const back = paramsOf(selectionOf(new URLSearchParams('since=7d')), other);
  assert.equal(String(back), 'since=7d&compare_page=&compare_release=A&compare_label=device%3Dx&compare_label=y%3Dz');
});

test('links to other pages keep exactly the time, release, labels and unit', () => {
  const from = at('page?page=/feed&since=7d&label=a=b&label=c=d&unit=share&tab=top&release=B&q=x');
  assert.equal(linkTo(from, 'pages'), './pages?since=7d&release=B&label=a%3Db&label=c%3Dd&unit=share');
  assert.equal(linkTo(from, '', { since: '' }), './?release=B&label=a%3Db&label=c%3Dd&unit=share');
  assert.equal(linkHere(from, { tab: '', q: undefined, label: [] }), './page?page=/feed&since=7d&unit=share&release=B');
});

test('changes replace all values of a key', () => {
  const params = new URLSearchParams('label=a&label=b&x=1');
  assert.equal(String(changed(params, { label: ['c', 'd'], x: 2 })), 'label=c&label=d&x=2');
  assert.equal(String(params), 'label=a&label=b&x=1', 'the parameters themselves stay');
});

test('conditions have a key, an operator and a value', () => {
  assert.deepEqual(conditionOf('a=b=c'), { key: 'a', operator: '=', value: 'b=c' });
  assert.deepEqual(conditionOf('a!=b'), { key: 'a', operator: '!=', value: 'b' });
  assert.deepEqual(conditionOf('a=~.*\n.'), { key: 'a', operator: '=~', value: '.*\n.' });
  assert.deepEqual(conditionOf('a!~'), { key: 'a', operator: '!~', value: '' });
  assert.equal(conditionOf('a'), undefined);
  assert.equal(conditionOf('=b'), undefined);
});

test('durations have the syntax of the API', () => {
  assert.equal(durationOf('90m'), 5_400_000);
  assert.equal(durationOf('7d'), 604_800_000);
  assert.equal(durationOf('7'), undefined);
  assert.equal(durationOf('2026-11-20'), undefined);
});

test('ranges of six hours and more start at a full hour', () => {
  assert.equal(new Date(rangeOf({ since: '1h', until: '' }, noon).from).toISOString(), '2026-11-23T11:34:56.000Z');
  assert.equal(new Date(rangeOf({ since: '6h', until: '' }, noon).from).toISOString(), '2026-11-23T06:00:00.000Z');
  assert.equal(rangeOf({ since: 'nonsense', until: 'nonsense' }, noon).to, noon);
});

test('a permanent link does not change with time', () => {
  assert.equal(
    permanentLink(at('page?page=/&since=24h&tab=top'), noon),
    './page?page=/&tab=top&since=2026-11-22T12:00:00.000Z&until=2026-11-23T12:34:56.000Z',
  );
  const place = at('compare?since=24h&compare_since=48h');
  const link = at(permanentLink(place, noon)).params;
  assert.equal(link.get('compare_since'), '2026-11-21T12:00:00.000Z');
  assert.equal(link.get('compare_until'), '2026-11-22T12:00:00.000Z', 'it ends where the first one begins');
  const once = permanentLink(place, noon);
  const sorted = (url: string) => [...at(url).params].map(String).sort();
  assert.deepEqual(sorted(permanentLink(at(once), noon + 1e9)), sorted(once));
  assert.deepEqual(frozen({ since: '2026-11-20', until: '2026-11-21' }, noon), {
    since: '2026-11-20T00:00:00.000Z',
    until: '2026-11-21T00:00:00.000Z',
  });
});

test('sides can be exchanged, and exchanging twice changes nothing', () => {
  const place = at('compare?release=B&compare_release=A&since=24h&page=/');
  const once = at(swapped(place.params)).params;
  assert.equal(once.get('release'), 'A');
  assert.equal(once.get('compare_release'), 'B');
  assert.equal(once.get('page'), '/');
  const twice = at(swapped(once)).params;
  twice.sort();
  const before = new URLSearchParams(place.params);
  before.sort();
  assert.equal(String(twice), String(before));
  const only = at(swapped(at('compare?compare_page=/x').params)).params;
  assert.deepEqual([only.get('page'), only.get('compare_page')], ['/x', '']);
});

test('labels of the other side replace those with the same key', () => {
  assert.deepEqual(mergedLabels(['device=a', 'browser!=b'], ['device!=c']), ['browser!=b', 'device!=c']);
  assert.deepEqual(mergedLabels(['device=a']), ['device=a']);
});

test('a range of a few hours has points of minutes', () => {
  const at = (since: string, until = '') => fineStep({ since, until });
  assert.deepEqual(
    ['30m', '1h', '3h', '6h', '24h', '30d'].map((since) => at(since)),
    ['1m', '2m', '5m', '10m', undefined, undefined],
  );
  assert.equal(at('2026-11-23T06:28:00Z', '2026-11-23T06:46:00Z'), '1m');
  assert.equal(at('2026-11-20', '2026-11-23'), undefined);
});
