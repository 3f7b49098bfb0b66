import assert from 'node:assert/strict';
import { smallBuffers } from './browser.js';
import { check, near } from './check.js';
import { until } from './daemon.js';
import { closeTab } from './leave.js';

// The cost of profiling must not bias the sample: slow devices are included, and a page view that
// stops early does not count as fast.

/** The same work on every device; it measures its own time. */
const app = () => {
  globalThis.took = 0;
  globalThis.work = function work() {
    const from = performance.now();
    let sum = 0;
    for (let i = 0; i < 4e6; i++) sum += Math.sqrt(i);
    globalThis.took += performance.now() - from;
    return sum;
  };
  let times = 0;
  const step = () => {
    globalThis.work();
    if (++times < 6) setTimeout(step, 60);
    else globalThis.done = true;
  };
  setTimeout(step);
};

check(
  'slow devices are profiled to the end of their page views',
  async ({ context, daemon, site }) => {
    site.script('/work.js', app);
    const views = 2;
    for (const rate of [1, 4, 6]) {
      const url = site.page(`/slow${rate}`, {
        sdk: daemon.collector + '/sdk.js',
        start: { maxCost: undefined },
        scripts: ['/work.js'],
      });
      let took = 0;
      for (let i = 0; i < views; i++) {
        const page = await context.newPage();
        const session = await context.newCDPSession(page);
        await session.send('Emulation.setCPUThrottlingRate', { rate });
        await page.goto(url);
        await page.waitForFunction(() => globalThis.done);
        await page.waitForTimeout(500 * rate); // the rest of the script is loaded when the browser is idle
        took += await page.evaluate(() => globalThis.took);
        await closeTab(page);
      }
      await until('traces', async () => (await daemon.views('profiled', `/slow${rate}`)) == views);
      const profile = await daemon.profile('--page', `/slow${rate}`);
      near(profile.total('work'), took, 0.15, `work at ${rate}x`, profile.unsampled);
      assert.equal(profile.coverage.views, views);
    }
    assert.equal(await daemon.profile('--label', 'stopped=cost'), undefined, 'none stopped early');
  },
  { measures: true },
);

check(
  'the time of the script and its parts is separate from the time of the page',
  async ({ context, daemon, site }) => {
    site.script('/hot.js', 'globalThis.spin(100)');
    const url = site.page('/apart', {
      sdk: daemon.collector + '/load.js',
      start: { maxCost: 1 },
      scripts: ['/hot.js'],
    });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await page.goto(url);
    await page.waitForTimeout(3000); // the rest of the script is loaded when the browser is idle
    await closeTab(page);
    await until('a trace', () => daemon.profile('--page', '/apart'));
    const top = await daemon.aggregate('--page', '/apart', '--format', 'top', '--rows', '1000');
    assert.match(top, /spin/);
    assert.match(top, /[(]fieldtrie[)]/);
    assert.ok(!top.includes(new URL(daemon.collector).host), top);
  },
);

check('a page view that stops early is reported, and excluded from percentiles', async ({ daemon, site, open }) => {
  const url = site.page('/dear', { start: { maxCost: 1e-9 } });
  const page = await open(url, smallBuffers, { count: 1, size: 100 });
  await page.evaluate(async () => {
    for (let i = 0; i < 30; i++) {
      globalThis.spin(40);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const stopped = await until('the last trace', () => daemon.profile('--label', 'stopped=cost'), 15000);
  assert.equal(stopped.coverage.views, 1);
  const { pages } = JSON.parse(await daemon.aggregate('--stats', '--page', '/dear', '--format', 'json'));
  assert.deepEqual(pages.map(({ views }) => views).filter(Boolean), []);
});
