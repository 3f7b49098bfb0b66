import assert from 'node:assert/strict';
import { stop } from './browser.js';
import { check, long, seen } from './check.js';
import { until } from './daemon.js';
import { closeTab } from './leave.js';

// Unintended behaviour of sites and browsers, tested with the built scripts as the daemon serves
// them.

const hot = () => {
  globalThis.hot = function hot() {
    return globalThis.spin(200);
  };
};

/** Returns the number of refused documents. @param {import('./daemon.js').Daemon} daemon */
const refused = async (daemon) => {
  const lines = (await daemon.get('/metrics'))
    .split('\n')
    .filter((line) => /^fieldtrie_ingest_requests_total\{.*code="4/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

/**
 * For open(): observers of interactions get made-up entries, with possible and impossible times.
 */
const oddEntries = (/** @type {number} */ seed) => {
  const Real = globalThis.PerformanceObserver;
  let state = seed;
  const chance = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const at = (/** @type {number} */ from, /** @type {number} */ most) =>
    from + Math.round(chance() * most * 1000) / 1000;
  const entries = () =>
    Array.from({ length: 60 }, (_, i) => {
      const startTime = at(performance.now() - 900, 800);
      const duration = Math.round(at(0, chance() < 0.5 ? 50 : 500) / 8) * 8;
      const processingStart = at(startTime - (chance() < 0.1 ? 5 : 0), 60);
      const processingEnd = at(processingStart, chance() < 0.5 ? 20 : 400); // sometimes after the paint
      const name = chance() < 0.5 ? 'keydown' : 'click';
      return {
        entryType: 'event',
        name,
        interactionId: 1 + Math.floor(i * chance()),
        startTime,
        duration,
        processingStart,
        processingEnd,
      };
    });
  globalThis.PerformanceObserver = class extends Real {
    #tell;
    constructor(/** @type {PerformanceObserverCallback} */ callback) {
      super(callback);
      this.#tell = callback;
    }
    observe(/** @type {PerformanceObserverInit} */ options) {
      if (options.type == 'event')
        setInterval(() => this.#tell(/** @type {any} */ ({ getEntries: entries }), this), 50);
      else super.observe(options);
    }
  };
};

const seeds = long ? 8 : 2;

check('interactions with any times are in documents that are accepted', async ({ daemon, site, open }) => {
  site.script('/hot.js', hot);
  for (let seed = 1; seed <= seeds; seed++) {
    const page = await open(site.page(`/odd${seed}`, { scripts: ['/hot.js'] }), oddEntries, seed);
    for (let i = 0; i < 4; i++) {
      await page.evaluate(() => globalThis.hot());
      await page.waitForTimeout(100);
    }
    await stop(page);
    await until('a trace', async () => (await daemon.traces()) >= seed);
    await page.close();
  }
  assert.equal(await refused(daemon), 0);
  let [all, parts] = [0, 0];
  for (let seed = 1; seed <= seeds; seed++) {
    all += (await daemon.profile('--page', `/odd${seed}`, '--label', 'interaction=~.+'))?.profiled ?? 0;
    parts += (await daemon.profile('--page', `/odd${seed}`, '--label', 'part=~.+'))?.profiled ?? 0;
  }
  assert.ok(all > 0 && Math.abs(parts / all - 1) < 0.01, `interactions take ${all} ms, their parts ${parts}`);
});

check('labels and features of any length do not prevent a trace', async ({ daemon, site, open }) => {
  site.script('/hot.js', hot);
  const labels = {
    long: 'x'.repeat(5000),
    ['k'.repeat(900)]: 'é'.repeat(300),
    odd: { toString: undefined } && 7,
    none: null,
  };
  const page = await open(site.page('/long', { start: { labels, release: 'r'.repeat(3000) }, scripts: ['/hot.js'] }));
  await page.evaluate(() => globalThis.fieldtrie.feature('f'.repeat(20_000), globalThis.hot));
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/long', '--label', 'odd=7'));
  seen(profile.total('hot'), 200, 'hot');
  assert.equal(await refused(daemon), 0);
  const { entries } = JSON.parse(await daemon.get('/api/v1/catalog'));
  const names = entries.map((/** @type {any} */ { name }) => name ?? '');
  assert.ok(names.includes('f'.repeat(199) + '…'), names.join(' ').slice(0, 600));
});

/**
 * Closes a page, and asserts that its feature is present in one page view.
 * @param {import('./daemon.js').Daemon} daemon
 * @param {import('playwright-core').Page} page
 * @param {string} path
 * @param {number} ms that the feature took
 */
async function once(daemon, page, path, ms) {
  await closeTab(page);
  const profile = await until('a profile', () => daemon.profile('--page', path, '--feature', 'work'));
  seen(profile.total('hot'), ms, 'hot');
  await new Promise((resolve) => setTimeout(resolve, 1000)); // for data that must not arrive
  assert.equal((await daemon.profile('--page', path))?.coverage.views, 1);
}

for (const second of ['/sdk.js', '/sdk-all.js', '/sdk-core.js'])
  for (const first of ['/sdk.js', '/sdk-all.js'])
    check(`a second copy does nothing: ${first} and ${second}`, async ({ daemon, site, open }) => {
      site.script('/hot.js', hot);
      const tag = `<script src="${daemon.collector}${second}" crossorigin="anonymous"></script>`;
      const again = `<script>fieldtrie.start({ url: '${daemon.collector}', sampleRate: 1, maxCost: 1 })</script>`;
      const page = await open(
        site.page('/twice', { sdk: daemon.collector + first, body: tag + again, scripts: ['/hot.js'] }),
      );
      const ms = await page.evaluate(() => globalThis.fieldtrie.feature('work', globalThis.hot));
      await stop(page);
      await once(daemon, page, '/twice', ms);
    });

check('a module in addition to a script is the second copy', async ({ daemon, site, open }) => {
  site.script('/hot.js', hot);
  const tag = `<script src="${daemon.collector}/sdk-all.js" crossorigin="anonymous"></script><script type="module">
    import * as second from '${daemon.collector}/sdk-all.mjs';
    second.start({ url: '${daemon.collector}', sampleRate: 1, maxCost: 1 });
    globalThis.second = second;
  </script>`;
  const page = await open(site.page('/module', { tag, scripts: ['/hot.js'] }));
  await page.waitForFunction(() => globalThis.second);
  const ms = await page.evaluate(() => globalThis.second.feature('work', globalThis.hot));
  await page.evaluate(() => globalThis.second.stop());
  await stop(page);
  await once(daemon, page, '/module', ms);
});

check('a URL of the collector may end with a slash', async ({ daemon, site, open }) => {
  site.script('/hot.js', hot);
  const options = { url: daemon.collector + '/' };
  const page = await open(
    site.page('/slash', { sdk: daemon.collector + '/sdk.js', start: options, scripts: ['/hot.js'] }),
  );
  const ms = await page.evaluate(() => globalThis.hot());
  await page.waitForTimeout(1500);
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/slash'));
  seen(profile.total('hot'), ms, 'hot');
});

check('a page name that throws affects nothing else', async ({ daemon, site, open }) => {
  site.script('/hot.js', hot);
  const tag = `<script src="${daemon.collector}/sdk-all.js" crossorigin="anonymous"></script><script>
    fieldtrie.start({ url: '${daemon.collector}', decided: 1, maxCost: 1, page: () => {
      throw new Error('no route') } });
  </script>`;
  const page = await open(site.page('/thrown', { tag, start: false, scripts: ['/hot.js'] }));
  const ms = await page.evaluate(() => globalThis.hot());
  await stop(page);
  const profile = await until('a profile', () => daemon.profile());
  seen(profile.total('hot'), ms, 'hot');
});

check('without a decision, the console has one warning, and nothing is thrown', async ({ site, daemon, context }) => {
  /** @type {string[]} */
  const said = [];
  context.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  for (const call of [
    'start()',
    `start({ url: '${daemon.collector}' })`,
    'start({ sampleRate: 0 })',
    `start({ url: '${daemon.collector}', sampleRate: 0 })`,
  ]) {
    said.length = 0;
    const page = await context.newPage();
    const tag =
      `<script src="${daemon.collector}/sdk.js" ` +
      `crossorigin="anonymous"></script><script>fieldtrie.${call};fieldtrie.${call}</script>`;
    await page.goto(site.page('/nothing', { tag, start: false }));
    await page.close();
    assert.deepEqual(said, /url.*sampleRate/.test(call) ? [] : ['warning: fieldtrie: no url or sampleRate'], call);
  }
});
