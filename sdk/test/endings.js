// Measures the share of page views that arrive if they end without beforeunload, like on phones:
//
//   node sdk/test/endings.js [N]
//
// It prints two lines of JSON for each way to close a page and kind of device: the share of page
// views that arrive, and the share of their JavaScript. N, by default 30, is the number of page
// views of each, which are ended after 1 to 8 s.
import { Setup, closeBrowser } from './browser.js';
import { phone } from './leave.js';

/** @import { Page } from 'playwright-core' */

const work = () => {
  globalThis.ms = 0;
  addEventListener('click', () => (globalThis.ms += globalThis.spin(60)));
  globalThis.ms += globalThis.spin(50 + Math.random() * 100);
  setInterval(() => (globalThis.ms += globalThis.spin(10)), 50);
};

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {Page} page */
const kill = async (page) => {
  const session = await page.context().newCDPSession(page);
  session.send('Page.crash').catch(() => {}); // which never returns
  await wait(300);
};

/** @type {Record<string, (page: Page) => Promise<unknown>>} */
const ways = {
  closed: (page) => page.close(),
  browser: (page) => page.context().close(),
  // The events before an app switcher closes a page. Chromium shows all automated tabs, so these
  // events are simulated.
  hidden: async (page) => {
    await page.evaluate(() => {
      Object.defineProperty(Document.prototype, 'hidden', { get: () => true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    });
    await wait(50);
    await kill(page);
  },
  killed: kill,
};

const count = +process.argv[2] || 30;
const setup = await Setup.start();
const { site, daemon, context } = setup;
site.delay = 20; // no remote server responds faster
site.script('/work.js', work);
for (const device of ['phone', 'desktop'])
  for (const [way, end] of Object.entries(ways)) {
    const path = `/${device}-${way}`;
    const url = site.page(path, { scripts: ['/work.js'] });
    let known = 0;
    for (let i = 0; i < count; i++) {
      const visitor = /** @type {import('playwright-core').Browser} */ (context.browser());
      const page = await (await visitor.newContext()).newPage();
      if (device == 'phone') await phone(page);
      await page.goto(url);
      const half = 500 + (i / count) * 3500;
      await page.waitForTimeout(half);
      if (i % 2) await page.mouse.click(50, 50);
      await page.waitForTimeout(half);
      known += await page.evaluate(() => globalThis.ms);
      const of = page.context();
      await end(page);
      await of.close().catch(() => {}); // some ways have closed it already
    }
    await wait(2000); // requests in flight arrive within this time or never
    const views = (await daemon.views('profiled', path)) / count;
    const time = ((await daemon.profile('--page', path))?.total('spin') ?? 0) / known;
    for (const [name, value] of Object.entries({ views, time }))
      console.log(
        JSON.stringify({
          name: `sdk/ended_${device}_${way}_${name}`,
          value,
          unit: 'share',
          reach: '>= 0.8',
          endings: count,
        }),
      );
  }
await setup.close();
await closeBrowser();
