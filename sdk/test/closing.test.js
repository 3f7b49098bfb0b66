import assert from 'node:assert/strict';
import { stop } from './browser.js';
import { check, long, seen, took } from './check.js';
import { until } from './daemon.js';
import { closeTab, follow, goBack, openAndClose, phone } from './leave.js';

// The trace of a page view arrives, however the page is closed.

// The profiler delivers its trace some ms after beforeunload, and the page is gone before the
// server responds. No real server is faster than this.
const delay = 20;

/** Number of page views for each way to close a page. */
const views = long ? 20 : 6;

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
  await soon(async () => (await daemon.views('profiled', page)) >= count);
  assert.equal(await daemon.views('profiled', page), count, `page views of ${page}`);
  const profile = await daemon.profile('--page', page);
  assert.equal(profile?.coverage.views, count);
  took(profile.total('hotLoad'), 60 * count, 0.3, `work in ${count} page views`);
}

/**
 * Waits until a condition holds, or until a timeout. The assertion that follows has a better
 * message.
 * @param {() => Promise<boolean>} holds
 */
const soon = (holds) => until('', holds).catch(() => {});

check('a tab is closed', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  const url = site.page('/closed', { scripts: ['/load.js'] });
  for (let i = 0; i < views; i++) await closeTab(await open(url));
  await allArrive(daemon, '/closed', views);
});

check('a phone closes a page without an event', async ({ daemon, site, context }) => {
  site.script('/load.js', load);
  const url = site.page('/swiped', { scripts: ['/load.js'] });
  for (let i = 0; i < views; i++) {
    const page = await context.newPage();
    await phone(page);
    await page.goto(url);
    await page.waitForTimeout(1500);
    await page.close(); // without beforeunload
  }
  await allArrive(daemon, '/swiped', views);
});

check('a window is closed by its opener', async ({ daemon, site, open }) => {
  site.script('/load.js', load);
  const opener = await open(site.page('/opener', { start: false }));
  const url = site.page('/window', { scripts: ['/load.js'] });
  for (let i = 0; i < views; i++) await openAndClose(opener, url);
  await allArrive(daemon, '/window', views);
});

check('a visitor goes to another page of the site', async ({ daemon, site, open }) => {
  site.delay = delay;
  site.script('/load.js', load);
  const page = await open(site.page('/leave', { scripts: ['/load.js'] }));
  for (let i = 1; i < views; i++) await follow(page, site.url('/leave'));
  await follow(page, site.page('/end', { start: false }));
  await allArrive(daemon, '/leave', views);
});

check('a visitor goes to another site', async ({ daemon, site, third, open }) => {
  site.delay = third.delay = delay;
  site.script('/load.js', load);
  const url = site.page('/leave', { scripts: ['/load.js'] });
  const other = third.page('/other', { tag: '', start: false }).replace('127.0.0.1', 'localhost');
  const page = await open(other);
  for (let i = 0; i < views; i++) {
    await follow(page, url);
    await follow(page, other);
  }
  await allArrive(daemon, '/leave', views);
});

check('a page is reloaded', async ({ daemon, site, open }) => {
  site.delay = delay;
  site.script('/load.js', load);
  const page = await open(site.page('/again', { scripts: ['/load.js'] }));
  for (let i = 1; i < views; i++) await page.reload();
  await follow(page, site.page('/end', { start: false }));
  await allArrive(daemon, '/again', views);
});

check(
  'work during a navigation arrives',
  async ({ daemon, site, open }) => {
    site.script('/app.js', () => {
      addEventListener('beforeunload', () => {
        setInterval(function onItsWay() {
          sessionStorage.ms = +(sessionStorage.ms ?? 0) + globalThis.spin(20);
        }, 30);
      });
    });
    const page = await open(site.page('/slow', { scripts: ['/app.js'] }));
    site.delay = 1000;
    await page.reload(); // which leaves nothing of the page behind
    const ms = await page.evaluate(() => +sessionStorage.ms);
    await until('a trace', () => daemon.views('profiled', '/slow'));
    seen((await daemon.profile('--page', '/slow'))?.total('onItsWay'), ms, 'after beforeunload');
  },
  { todo: 'beforeunload takes the trace, so later samples are lost' },
);

check('a page comes back from the back/forward cache as a new page view', async ({ daemon, site, open }) => {
  site.delay = delay;
  site.script('/load.js', load);
  site.script('/app.js', () => {
    addEventListener('pageshow', function onShow({ persisted }) {
      if (persisted) globalThis.spin(100);
      globalThis.shown = persisted;
    });
  });
  const first = site.page('/first', { scripts: ['/load.js', '/app.js'] });
  const second = site.page('/second', { start: false });
  const tabs = long ? 4 : 1;
  for (let i = 0; i < tabs; i++) {
    const page = await open(first);
    for (let j = 0; j < 4; j++) {
      await follow(page, second);
      await goBack(page, first);
      assert.ok(await page.evaluate(() => globalThis.shown), 'the page was reloaded');
    }
    await closeTab(page);
  }
  await soon(async () => (await daemon.views('profiled', '/first')) >= 5 * tabs);
  assert.equal(await daemon.views('profiled', '/first'), 5 * tabs);
  const restored = await daemon.profile('--page', '/first', '--label', 'navigation=bfcache');
  assert.equal(restored?.coverage.views, 4 * tabs);
  took(restored.total('onShow'), 4 * tabs * 100, 0.3, 'work in page views of the cache');
  assert.equal(restored.total('hotLoad'), 0);
  const loaded = await daemon.profile('--page', '/first', '--label', 'navigation=navigate');
  assert.equal(loaded?.coverage.views, tabs);
  seen(loaded.total('hotLoad'), tabs * 60, 'work in page views that are loaded');
  assert.equal(loaded.total('onShow'), 0);
});

check(
  'work before a stay in the back/forward cache is not in the page view after it',
  async ({ daemon, site, third, open }) => {
    site.script('/app.js', () => {
      let timer = 0;
      addEventListener('beforeunload', () => {
        timer = setInterval(function onItsWay() {
          globalThis.spin(20);
        }, 30);
      });
      addEventListener('pageshow', () => clearInterval(timer));
    });
    const first = site.page('/kept', { scripts: ['/app.js'] });
    const page = await open(first);
    third.delay = 500;
    await follow(page, third.page('/other', { tag: '', start: false }).replace('127.0.0.1', 'localhost'));
    await goBack(page, first);
    await page.evaluate(() => globalThis.spin(100));
    await stop(page);
    await until('both page views', async () => (await daemon.views('profiled', '/kept')) == 2);
    const restored = await until('the page view after it', () => daemon.profile('--label', 'navigation=bfcache'));
    assert.equal(restored.total('onItsWay'), 0);
  },
);
