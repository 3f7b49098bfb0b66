import assert from 'node:assert/strict';
import { check } from './check.js';
import { until } from './daemon.js';
import { closeTab, follow, goBack, openAndClose } from './leave.js';

// Whatever ends a page view, its trace arrives.

/** The work of each page view. */
const load = () => {
  function hotLoad() {
    globalThis.spin(60);
  }
  hotLoad();
};

/**
 * Asserts that all page views of a page arrive with their work.
 * @param {import('./daemon.js').Daemon} daemon
 * @param {string} page
 * @param {number} count
 */
async function allArrive(daemon, page, count) {
  let got = 0;
  await until(`the traces of ${count} page views`, async () => {
    got = (await daemon.profile('--page', page))?.named('hotLoad')[0]?.views ?? 0;
    return got >= count;
  }, 3000).catch(() => {});
  assert.equal(got, count, `page views of ${page} with their work`);
  const profile = await daemon.profile('--page', page);
  assert.equal(profile?.coverage.views, count);
  assert.equal(await daemon.views('profiled', page), count);
  assert.ok(profile.total('hotLoad') > 60 * count * 0.7, `time: ${profile.total('hotLoad')} ms of ${60 * count}`);
}

check('a tab is closed', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  const url = site.page('/closed', { scripts: ['/load.js'] });
  for (let i = 0; i < 20; i++) await closeTab(await open(url));
  await allArrive(daemon, '/closed', 20);
});

check('a window is closed by its opener', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  const opener = await open(site.page('/opener', { start: false }));
  const url = site.page('/window', { scripts: ['/load.js'] });
  for (let i = 0; i < 20; i++) await openAndClose(opener, url);
  await allArrive(daemon, '/window', 20);
});

check('a visitor goes to another page of the site', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  const page = await open(site.page('/leave', { scripts: ['/load.js'] }));
  for (let i = 1; i < 20; i++) await follow(page, site.url('/leave'));
  await follow(page, site.page('/end', { start: false }));
  await allArrive(daemon, '/leave', 20);
});

check('a visitor goes to another site', async ({ daemon, site, third, open }) => {
  site.script('/load.js', load);
  const url = site.page('/leave', { scripts: ['/load.js'] });
  const other = third.page('/other', { start: false }).replace('127.0.0.1', 'localhost');
  const page = await open(other);
  for (let i = 0; i < 20; i++) {
    await follow(page, url);
    await follow(page, other);
  }
  await allArrive(daemon, '/leave', 20);
});

check('a page is loaded again', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  const page = await open(site.page('/again', { scripts: ['/load.js'] }));
  for (let i = 1; i < 20; i++) await page.reload();
  await follow(page, site.page('/end', { start: false }));
  await allArrive(daemon, '/again', 20);
});

check('a page comes back from the back/forward cache as a new page view', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  site.script('/app.js', () => {
    addEventListener('pageshow', function onShow({ persisted }) {
      if (persisted) globalThis.spin(100);
      globalThis.shown = persisted;
    });
  });
  const first = site.page('/first', { scripts: ['/load.js', '/app.js'] });
  const second = site.page('/second', { start: false });
  for (let i = 0; i < 4; i++) {
    const page = await open(first);
    for (let j = 0; j < 4; j++) {
      await follow(page, second);
      await goBack(page, first);
      assert.ok(await page.evaluate(() => globalThis.shown), 'the page was loaded again');
    }
    await closeTab(page);
  }
  await until('20 page views', async () => (await daemon.views('profiled', '/first')) >= 20, 3000).catch(() => {});
  assert.equal(await daemon.views('profiled', '/first'), 20);
  const restored = await daemon.profile('--page', '/first', '--label', 'navigation=bfcache');
  assert.equal(restored?.coverage.views, 16);
  assert.equal(restored.named('onShow')[0].views, 16);
  assert.equal(restored.named('hotLoad').length, 0);
  const loaded = await daemon.profile('--page', '/first', '--label', 'navigation=navigate');
  assert.equal(loaded?.coverage.views, 4);
  assert.equal(loaded.named('hotLoad')[0].views, 4);
});
