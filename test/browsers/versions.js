// node test/browsers/versions.js [VIEWS]
//
// Whether a comparison takes a slower browser for a slower release. Chromium visits one page as it
// is, and as its next version without its optimizing compilers ($FLAGS), which is slower. The code
// of both releases is the same. Release 1 has VIEWS page views (300), of which a quarter are in the
// newer version, and release 2 has as many, three quarters of them in the newer one. It prints a
// figure a line, and fails unless the change is within noise and the interval of browser_ms
// contains the measured difference. The effect tells whether the page views are enough: on a busy
// machine its interval contains 0.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Daemon } from '../../sdk/test/daemon.js';
import { Site } from '../../sdk/test/site.js';
import { launch } from '../chromium/launch.mjs';

const { chromium } = createRequire(new URL('../../sdk/package.json', import.meta.url))('playwright-core');
const views = Number(process.argv[2] ?? 300);
const flags = process.env.FLAGS ?? '--no-opt --no-maglev';
const print = (name, value, unit, more = {}) => console.log(JSON.stringify({ name, value, unit, ...more }));

const daemon = await Daemon.start();
const site = await Site.start(daemon.collector);
site.script('/work.js', await readFile(new URL('work.js', import.meta.url), 'utf8'));
const urls = ['1', '2'].map((release) =>
  site.page(`/release${release}`, { start: { release, page: '/work' }, scripts: ['/work.js'] }),
);

/** Starts a browser with the user agent of a version of Chrome. */
async function browserOf(version, args) {
  const browser = await launch(chromium, { args });
  const userAgent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ' + `Chrome/${version}.0.0.0 Safari/537.36`;
  return { browser, context: await browser.newContext({ userAgent }) };
}

/** Returns the visits in random order: one after another in the same browser may be faster. */
function visitsOf() {
  const all = urls.flatMap((url, release) =>
    Array.from({ length: views }, (_, i) => ({
      url,
      version: (i % 4 == 0) == (release == 0) ? 1 : 0,
      at: Math.random(),
    })),
  );
  return all.sort((a, b) => a.at - b.at);
}

async function visit({ context }, url) {
  const page = await context.newPage();
  const sent = page.waitForResponse((response) => response.url().startsWith(`${daemon.collector}/t/`));
  await page.goto(url);
  await page.evaluate(() => globalThis.fieldtrie.stop());
  assert.equal((await sent).status(), 202);
  await page.close();
}

const both = await Promise.all([browserOf(157, []), browserOf(158, [`--js-flags=${flags}`])]);
try {
  for (const { url, version } of visitsOf()) await visit(both[version], url);
  const [compared, versions] = await Promise.all(
    ['compare?page=/work&release=2&compare_release=1', 'browsers?page=/work&since=1d'].map(async (path) =>
      JSON.parse(await daemon.get(`/api/v1/${path}`)),
    ),
  );
  const { total } = compared;
  const newer = versions.families[0].versions.find(({ browser }) => browser == 'Chrome 158');
  const measured = total.measured_ms.b - total.measured_ms.a;
  print('versions/views', versions.families[0].views, '');
  print('versions/effect', newer.effect.value, '', { low: newer.effect.low, high: newer.effect.high });
  print('versions/measured_ms', measured, 'ms', { of: total.measured_ms.a });
  print('versions/browser_ms', total.browser_ms.value, 'ms', {
    low: total.browser_ms.low,
    high: total.browser_ms.high,
  });
  print('versions/change_ms', total.change_ms.value, 'ms', { low: total.change_ms.low, high: total.change_ms.high });
  print('versions/status', total.status, '');
  assert.equal(total.status, 'within noise', 'the release is the same');
  assert.ok(total.browser_ms.low <= measured && measured <= total.browser_ms.high, 'the difference is the browser’s');
} finally {
  for (const { browser } of both) await browser.close();
  await site.close();
  await daemon.close();
}
