import assert from 'node:assert/strict';
import { paint, stop } from './browser.js';
import { check, seen } from './check.js';
import { until } from './daemon.js';
import { closeTab } from './leave.js';

// After stop(), nothing of the script is left in the page, and all its data arrives.

/** Counts the observers and timers of a page. */
const counts = () => {
  const observers = new Set();
  const timers = new Set();
  const Real = globalThis.PerformanceObserver;
  globalThis.PerformanceObserver = class extends Real {
    observe(/** @type {any} */ options) {
      observers.add(this);
      super.observe(options);
    }
    disconnect() {
      observers.delete(this);
      super.disconnect();
    }
  };
  for (const [set, clear, again] of [
    ['setTimeout', 'clearTimeout', false],
    ['setInterval', 'clearInterval', true],
    ['requestIdleCallback', 'cancelIdleCallback', false],
  ]) {
    const { [set]: real, [clear]: end } = globalThis;
    globalThis[set] = (work, ...more) => {
      const id = real(
        (...args) => {
          if (!again) timers.delete(set + id);
          work(...args);
        },
        ...more,
      );
      timers.add(set + id);
      return id;
    };
    globalThis[clear] = (id) => {
      timers.delete(set + id);
      end(id);
    };
  }
  globalThis.left = () => ({ observers: observers.size, timers: timers.size });
};

/**
 * Returns the browser's number of listeners, and the number that `counts` reports.
 * @param {import('playwright-core').Page} page
 */
async function left(page) {
  const session = await page.context().newCDPSession(page);
  let listeners = 0;
  for (const expression of ['window', 'document', 'navigation', 'document.documentElement']) {
    const { result } = await session.send('Runtime.evaluate', { expression });
    listeners += (await session.send('DOMDebugger.getEventListeners', { objectId: result.objectId })).listeners.length;
  }
  await session.detach();
  return { listeners, ...(await page.evaluate(() => globalThis.left())) };
}

/**
 * Waits until a page has as few as a page without the script.
 * @param {import('playwright-core').Page} page
 * @param {object} none
 */
const nothing = (page, none) =>
  until('nothing is left', async () => JSON.stringify(await left(page)) == JSON.stringify(none)).catch(async () =>
    assert.deepEqual(await left(page), none),
  );

/** @type {[name: string, file: string, options?: Record<string, unknown>, profiled?: boolean][]} */
const kinds = [
  ['the loader', '/sdk.js'],
  ['everything in one file', '/sdk-all.js'],
  ['the core', '/sdk-core.js'],
  ['windows', '/sdk-all.js', { windows: { length: 500, gap: 100 } }],
  // On a busy machine a frame may be long without a reason in the page, and its record prevents
  // another keep() within a second.
  ['the flight recorder', '/sdk-all.js', { recorder: { frame: 1e5, interaction: 1e5 } }],
  ['who is not profiled, and reports', '/sdk.js', { sampleRate: 0, reportRate: 1 }, false],
  ['who is neither', '/sdk.js', { sampleRate: 0, reportRate: 0 }, false],
];
for (const [name, file, start, profiled = true] of kinds)
  check(`after stop() nothing is left: ${name}`, async ({ daemon, site, open }) => {
    site.script('/hot.js', 'globalThis.hot = function hot() { return globalThis.spin(200); }');
    const document = { sdk: daemon.collector + file, scripts: ['/hot.js'] };
    const none = await left(await open(site.page('/without', { ...document, start: false }), counts));
    const page = await open(site.page('/page', { ...document, start }), counts);
    if (start?.reportRate !== 0)
      await until('observers', async () => (await left(page)).observers || file == '/sdk-core.js');
    await page.waitForTimeout(300);
    const busy = await left(page);
    if (file == '/sdk-core.js') assert.equal(busy.observers, 0);
    assert.ok(busy.listeners > none.listeners, `no listeners before stop(): ${JSON.stringify(busy)}`);
    const ms = await page.evaluate(() => globalThis.hot());
    await page.evaluate(() => globalThis.fieldtrie.keep?.('now'));
    await page.waitForTimeout(50);
    await stop(page);
    await nothing(page, none);
    if (profiled) {
      const profile = await until('a profile', () => daemon.profile('--page', '/page'));
      if (!start?.windows) seen(profile.total('hot'), ms, 'hot');
    }
    // Later code is not profiled.
    await page.evaluate(() => globalThis.hot());
    await page.mouse.click(10, 10);
    await paint(page);
    const traces = await daemon.traces();
    await closeTab(page);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await daemon.traces(), traces);
  });

check('waiting data arrives after stop(), even if the page is closed immediately', async ({ daemon, site, open }) => {
  site.script('/hot.js', 'globalThis.hot = function hot() { return globalThis.spin(150); }; globalThis.ms = hot();');
  // With these draws a window ends after 0.5 s, and the next one starts 0.6 s later.
  const document = { start: { windows: { length: 1000, gap: 900 } }, scripts: ['/hot.js'] };
  const page = await open(site.page('/left', document), () => {
    Math.random = () => 0.5;
  });
  const ms = await page.evaluate(async () => {
    await new Promise((done) => setTimeout(done, 800 - performance.now()));
    globalThis.fieldtrie.stop();
    return globalThis.ms;
  });
  await closeTab(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/left'));
  seen(profile.total('hot'), ms, 'hot');
});

for (const [outcome, start] of /** @type {[string, object][]} */ ([
  ['profiled', {}],
  ['unsampled', { sampleRate: 0, reportRate: 1 }],
]))
  check(
    `stop() before the rest is loaded leaves nothing, and sends the existing data: ${outcome}`,
    async ({ daemon, site, open }) => {
      const document = { sdk: daemon.collector + '/sdk.js', start, body: '<script>fieldtrie.stop()</script>' };
      const page = await open(site.page('/early', document), counts);
      await until('what there is', () => daemon.views(outcome, '/early'));
      await nothing(page, await left(await open(site.page('/without', { start: false }), counts)));
    },
  );
