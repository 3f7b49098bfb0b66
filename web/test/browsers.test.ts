// Browser versions: the table of them, and their marks in charts.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BrowserVersions } from '../src/api/types.ts';
import { estimateOf } from '../src/pages/overview/BrowserVersions.tsx';
import { versionsOf } from '../src/widgets/lines.ts';
import { signedPercent } from '../src/widgets/numbers.ts';
import { placed } from '../src/widgets/Trend.tsx';
import { axeFindsNothing, isNotWide } from './accessible.ts';
import { Daemon, endAll, Tab } from './daemon.ts';
import { traceOf } from './shop.ts';

after(endAll);

const noBudgets = /status of 404/;

/** Returns a response with Chrome 158, which had half of the page views of Chrome since then. */
function responseOf(since: string | null): BrowserVersions {
  const unknown = { effect: null, effect_ms: null, points: [] };
  const versions = [
    { ...unknown, browser: 'Chrome 158', views: 60, share: 0.6, half_since: since },
    { ...unknown, browser: 'Chrome 157', views: 40, share: 0.4, half_since: null },
  ];
  const family = { family: 'Chrome', views: 100, mean_ms: 100, versions };
  return { step_seconds: 3600, families: [family], unknown_views: 0, stats: { partitions: 0, traces: 0, bytes: 0 } };
}

test('a version that reached half is a mark, whose name is in a row of its own', () => {
  const noon = '2026-11-29T12:00:00Z';
  const marks = versionsOf(responseOf(noon));
  assert.deepEqual(marks, [{ name: 'Chrome 158', time: Date.parse(noon), below: true }]);
  assert.deepEqual(versionsOf(responseOf(null)), []);
  assert.deepEqual(versionsOf(undefined), []);
  const release = { name: 'r1', time: Date.parse(noon) };
  const places = placed([release, ...marks], release.time - 3600e3, release.time + 3600e3, 400);
  assert.deepEqual(
    places.map(({ label, below }) => [label, below]),
    [
      ['r1', false],
      ['Chrome 158', true],
    ],
  );
});

test('an unknown effect is a dash', () => {
  assert.equal(estimateOf(null, signedPercent), '–');
  assert.match(
    estimateOf({ value: 0.05, low: -0.01, high: 0.11 }, signedPercent),
    /^\+5\.0\s% \(−1\.0\s% to \+11\s%\)$/,
  );
});

test('a slower version is in the table of the audience, and its name is drawn in the chart of a page', async () => {
  const shop = await Daemon.start();
  const visits = Array.from({ length: 160 }, (_, view) => {
    const browser = view % 4 < 2 ? 'Chrome 157' : 'Chrome 158';
    const ms = (100 + (view % 5) * 10) * (browser == 'Chrome 158' ? 2 : 1);
    const sent = traceOf(view, 'r1', '/cart', ms);
    return { ...sent, labels: { ...(sent.labels as object), browser } };
  });
  await shop.send(...visits);
  const tab = await Tab.open(shop.url, 'audience?page=/cart', { bypassCSP: true }, noBudgets);
  const { page } = tab;
  const row = page.getByRole('table', { name: 'Browser versions' }).getByRole('row', { name: /Chrome 158/ });
  await row.waitFor();
  const cells = await row.getByRole('cell').allInnerTexts();
  assert.deepEqual(
    cells.slice(0, 3).map((text) => text.replace(/\s/g, ' ')),
    ['Chrome 158', 'n = 80', '50 %'],
  );
  assert.match(cells[3]!, /^\+\d.*%\s\(.* to .*\)$/);
  assert.match(cells[4]!, /^\+\d/);
  assert.equal(cells[5], '–', 'it had half from the beginning on');
  await axeFindsNothing(page);
  await isNotWide(page);
  await page.addInitScript(() => {
    const drawn: string[] = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (
      this: CanvasRenderingContext2D,
      text: string,
      ...more: never[]
    ) {
      drawn.push(text);
      return (fillText as (...all: unknown[]) => void).call(this, text, ...more);
    } as typeof fillText;
    Object.assign(window, { drawn });
  });
  const since = new Date(Date.now() - 3 * 60_000).toISOString();
  await page.route('**/api/v1/browsers?*', (route) => route.fulfill({ json: responseOf(since) }));
  await page.goto(`${shop.url}/page?page=/cart`);
  await page.waitForFunction(() => (window as unknown as { drawn: string[] }).drawn.includes('Chrome 158'));
  await tab.close();
  await shop.end();
});
