// Measures the share of traces that arrive if they are sent while a page is closed:
//
//   node sdk/test/closes.js [N]
//
// It prints a line of JSON for a server with a delay of 20 ms, and for one without. N, by default
// 200, is the number of page views: a quarter each are ended by closing the tab, by window.close(),
// by navigation and by a reload.
import { Setup, closeBrowser } from './browser.js';
import { closeTab, follow, openAndClose } from './leave.js';

const work = () => {
  globalThis.spin(50 + Math.random() * 100);
  globalThis.timer = setInterval(() => globalThis.spin(10), 50);
};

/**
 * @type {Record<string, (setup: Setup, url: string, opener: import('playwright-core').Page) =>
 *   Promise<unknown>>}
 */
const ways = {
  tab: async ({ open }, url) => closeTab(await open(url)),
  window: async (_, url, opener) => openAndClose(opener, url),
  navigation: async ({ open, site }, url) => {
    const page = await open(url);
    await follow(page, site.url('/end'));
    await page.close();
  },
  reload: async ({ open, site }, url) => {
    const page = await open(url);
    // Only the first of the two views is counted.
    site.page(new URL(url).pathname, { start: false });
    await page.reload();
    site.page(new URL(url).pathname, { scripts: ['/work.js'] });
    await page.close();
  },
};

const names = Object.keys(ways);
const count = Math.ceil((+process.argv[2] || 200) / names.length);
const setup = await Setup.start();
const { site, daemon, open } = setup;
site.script('/work.js', work);
site.page('/end', { start: false });
const opener = await open(site.page('/opener', { start: false }));

// Real servers respond in 20 ms or more; a server without delay is the worst case.
for (const [delay, figure] of /** @type {const} */ ([
  [20, 'sdk/close_chunks_arrived'],
  [0, 'sdk/close_chunks_arrived_at_once'],
])) {
  site.delay = delay;
  /** @type {Record<string, number>} */
  const views = {};
  const page = (/** @type {string} */ name) => `/${name}${delay}`;
  for (let i = 0; i < count; i++)
    for (const name of names) await ways[name](setup, site.page(page(name), { scripts: ['/work.js'] }), opener);

  // Requests in flight arrive within this time or never.
  for (let before = -1, tries = 0; tries < 10; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const now = await daemon.traces();
    if (now != before) tries = 0;
    before = now;
  }
  for (const name of names) views[name] = (await daemon.views('profiled', page(name))) / count;
  const value = names.reduce((sum, name) => sum + views[name], 0) / names.length;
  console.log(
    JSON.stringify({ name: figure, value, unit: 'share', reach: '>= 0.99', closes: count * names.length, ...views }),
  );
}
if (setup.problems.length) console.error(setup.problems.join('\n'));
await setup.close();
await closeBrowser();
