import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { endAfter } from '../../../test/chromium/limits.mjs';
import { Daemon, until } from '../daemon.js';
import { hostile } from '../hostile.js';
import { Site, header } from '../site.js';
import { chances } from '../visits.js';
import { firefox, webkit } from './drive.js';

// The script in other engines: no error in the page, the reason for a missing profile, and the same
// Web Vitals as the library web-vitals. make test-engines installs the browsers.

const library = readFileSync(new URL('../../node_modules/web-vitals/dist/web-vitals.iife.js', import.meta.url), 'utf8');
const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs before the script: stores errors of the page and reports of the library. */
const before = `<script>
  errors = [];
  const note = (error, text) => errors.push(text + ' ' + error?.stack);
  // Pages may send their own errors.
  addEventListener('error', ({ error, message, isTrusted }) => isTrusted && note(error, message));
  addEventListener('unhandledrejection', ({ reason }) => note(reason, 'rejection: ' + reason));
  ${library}
  library = {};
  for (const name of ['LCP', 'INP', 'CLS', 'FCP', 'TTFB'])
    webVitals['on' + name](({ value, navigationType }) => {
      (library[navigationType] ??= {})[name.toLowerCase()] = value;
    }, { reportAllChanges: true });
</script>`;

const body = `<h1>A heading that is the largest text</h1>
<form style="position: fixed; left: 20px; top: 200px; padding: 60px;
  width: 200px" onsubmit="return false" onclick="event.target == this && spin(90)">
<input type="hidden" name="id"><input type="hidden" name="closest"></form>
<button id="go" style="position: fixed; left: 20px; top: 120px; width: 200px;
  height: 50px" onclick="spin(160)">Go</button>
<script>
  setTimeout(() => { document.querySelector('h1').style.marginTop = '90px' }, 900);
  feature = globalThis.fieldtrie?.feature('x', () => 41 + 1);
</script>`;

const options = (/** @type {string} */ url, more = {}) =>
  JSON.stringify({ url, sampleRate: 1, reportRate: 1, ...more });

/** Ways to load the script, and the outcome where there is no profiler. */
const pages = [
  ['loader', '/sdk.js', {}, 'unsupported'],
  ['all', '/sdk-all.js', {}, 'unsupported'],
  ['core', '/sdk-core.js', {}, 'unsupported'],
  ['module', '/sdk.mjs', {}, 'unsupported'],
  ['recorder', '/sdk.js', { recorder: { seconds: 3 } }, 'unsupported'],
  ['unsampled', '/sdk.js', { sampleRate: 0 }, 'unsampled'],
];

after(() => endAfter(60_000));
endAfter(15 * 60_000);

for (const [name, start, knows] of /** @type {const} */ ([
  ['Firefox', firefox, ['ttfb', 'fcp', 'lcp', 'inp']],
  ['WebKitGTK', webkit, ['ttfb', 'fcp']],
]))
  test(`${name}`, { timeout: 600_000 }, async (t) => {
    const daemon = await Daemon.start();
    const site = await Site.start(daemon.collector);
    const browser = await start();
    console.error(`${name} ${browser.version}`);
    try {
      site.page('/next', { start: false, tag: '' });
      for (const [page, file, more, outcome] of /** @type {any[]} */ (pages))
        await t.test(page, async () => {
          const src = daemon.collector + file;
          const tag = file.endsWith('.mjs')
            ? `${before}<script type="module">import { start } from '${src}'; ` +
              `start(${options(daemon.collector, more)})</script>`
            : `${before}<script src="${src}" ` +
              `crossorigin="anonymous"></script><script>fieldtrie.start(${options(daemon.collector, more)})</script>`;
          await browser.go(site.page(`/${page}`, { tag, start: false, body }));
          await wait(2000);
          for (const y of [140, 230, 140]) {
            await browser.click(60, y);
            await wait(500);
          }
          const { errors, feature, library, types } = await browser.evaluate(
            '({ errors, feature: window.feature, library, types: PerformanceObserver.supportedEntryTypes })',
          );
          assert.deepEqual(errors, []);
          if (!file.endsWith('.mjs')) assert.equal(feature, 42);
          await browser.go(site.url('/next'));
          await until('the outcome', () => daemon.views(outcome, `/${page}`));
          if (page == 'core') return; // it has no Web Vitals
          const said = Object.values(library)[0];
          const names = Object.keys(said).filter((vital) => vital != 'cls' || types.includes('layout-shift'));
          await until('the report', () =>
            daemon.metric(`fieldtrie_ingest_vital_page_views_total{page="/${page}",rating="good",vital="ttfb"}`),
          );
          await daemon.stop(); // which stores the reports
          await daemon.start();
          const got = Object.fromEntries(
            ((await daemon.vitals(`/${page}`))?.vitals ?? []).map((vital) => [vital.name, vital.p50.value]),
          );
          assert.deepEqual(Object.keys(got).sort(), names.sort());
          assert.deepEqual(names.filter((vital) => knows.includes(vital)).sort(), [...knows].sort());
          // Values are stored as histograms with buckets 3 % wide.
          for (const vital of names)
            assert.ok(
              Math.abs(got[vital] - said[vital]) <= 0.035 * said[vital] + 2,
              `${vital} is ${got[vital]}, the library reports ${said[vital]}`,
            );
        });

      await t.test('a return from the back/forward cache has an LCP only in browsers that report one', async () => {
        const tag = `${before}<script src="${daemon.collector}/sdk-all.js" crossorigin="anonymous"></script>
          <script>fieldtrie.start(${options(daemon.collector, { release: 'back' })});
          addEventListener('pageshow', (event) => { window.restored = event.persisted })</script>`;
        await browser.go(site.page('/back', { tag, start: false, body }));
        await wait(1500);
        await browser.go(site.url('/next'));
        await wait(500);
        await browser.back();
        await wait(1500);
        const { errors, restored } = await browser.evaluate('({ errors, restored: window.restored })');
        assert.deepEqual(errors, []);
        await browser.go(site.url('/next'));
        await wait(1000);
        await daemon.stop();
        await daemon.start();
        const vitals = Object.fromEntries(
          ((await daemon.vitals('/back'))?.vitals ?? []).map((vital) => [vital.name, vital]),
        );
        assert.ok(restored, 'the page came from the cache');
        assert.equal(vitals.fcp?.page_views, 2);
        assert.equal(vitals.lcp?.page_views, knows.includes('lcp') ? 2 : undefined);
      });

      await t.test('stop() leaves a page unchanged', async () => {
        await browser.go(
          site.page('/stopped', { sdk: daemon.collector + '/sdk.js', start: { reportRate: 1 }, head: before, body }),
        );
        await wait(1500);
        await browser.evaluate('fieldtrie.stop()');
        await browser.click(60, 140);
        await wait(300);
        assert.deepEqual(await browser.evaluate('errors'), []);
      });

      await t.test('hostile pages have no errors', async () => {
        for (let seed = 1; seed <= 20; seed++) {
          const {
            traits,
            before: hostility,
            options: more,
            top,
            inputs,
            headers,
            after: last,
          } = hostile(chances(seed));
          const html = `<!doctype html><title>Hostile</title>${before}<script>${hostility}</script><body>
            <div id="all"><div id="top">${top}</div>
            <form style="position: fixed; left: 20px; top: 120px; padding: 60px">
              <button type="button">Go</button>${inputs}</form></div>
            <script>ready = () => {}; loaded = () => true</script>
              <script src="${daemon.collector}/sdk-all.js" crossorigin="anonymous"></script>
            <script>fieldtrie.start({ url: '${daemon.collector}', sampleRate: 1, reportRate: 1, ${more} });</script>
            <script>const b = document.querySelector('button'); { ${last} }</script>`;
          await browser.go(site.html(`/hostile${seed}`, html, { ...header, ...headers }));
          await wait(300);
          await browser.click(60, 200);
          await wait(200);
          assert.equal(await browser.evaluate('errors.join()'), '', `page ${seed}: ${traits}`);
        }
      });
    } finally {
      await browser.end();
      await site.close();
      await daemon.close();
    }
  });
