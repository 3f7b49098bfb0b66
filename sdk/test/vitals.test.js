import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { check, near, took } from './check.js';
import { until } from './daemon.js';
import { closeTab } from './leave.js';
import { header } from './site.js';

// Web Vitals and functions in interactions, compared with the library web-vitals on the same page
// views.

const library = readFileSync(new URL('../node_modules/web-vitals/dist/web-vitals.iife.js', import.meta.url), 'utf8');

/** Stores the reports of the library in the page. */
const listen = () => {
  globalThis.said = {};
  for (const name of ['LCP', 'INP', 'CLS', 'FCP', 'TTFB'])
    globalThis.webVitals['on' + name](
      (metric) => {
        globalThis.said[name.toLowerCase()] = metric.value;
      },
      { reportAllChanges: true },
    );
};

/**
 * A page with a late heading, a layout shift, and a button whose handler calls nested functions.
 */
const app = () => {
  globalThis.renderHero = function renderHero() {
    globalThis.spin(250);
    const hero = document.createElement('h1');
    hero.textContent = 'A heading that is larger than all else on this page';
    hero.style.fontSize = '60px';
    document.body.prepend(hero);
  };
  globalThis.filterRows = function filterRows() {
    return globalThis.spin(200);
  };
  globalThis.onClick = function onClick() {
    globalThis.spin(60);
    globalThis.clicked = globalThis.filterRows();
  };
  document.querySelector('button').addEventListener('click', () => globalThis.onClick());
  requestAnimationFrame(() => setTimeout(globalThis.renderHero, 100));
};

const body = `<p>Some text that is painted first</p><button id="save">Save</button><p id="end">The end</p>`;

/**
 * Visits a page like a person; returns the reports of the library.
 * @param {import('./browser.js').Setup} setup
 * @param {string} url
 */
async function visit({ open }, url) {
  const page = await open(url);
  await page.waitForSelector('h1');
  await page.waitForTimeout(300);
  await page.click('#save');
  await page.waitForFunction(() => globalThis.said.inp); // the library reports it when the page is idle
  const said = await page.evaluate(() => globalThis.said);
  await closeTab(page);
  return said;
}

for (const [name, sdk] of [
  ['the loader', '/sdk.js'],
  ['everything in one file', '/sdk-all.js'],
])
  check(`Web Vitals equal the library's values, and their functions are found: ${name}`, async (setup) => {
    const { daemon, site } = setup;
    site.script('/vitals.js', `${library};(${listen})()`);
    site.script('/app.js', app);
    const count = 3;
    const said = [];
    for (let i = 0; i < count; i++) {
      const url = site.page(`/view${i}`, { sdk: daemon.collector + sdk, body, scripts: ['/vitals.js', '/app.js'] });
      said.push(await visit(setup, url));
    }
    await until('traces', async () => (await daemon.traces()) >= count);
    const reports = () =>
      daemon.metric(`fieldtrie_ingest_vital_page_views_total{page="/view${count - 1}",rating="good",vital="fcp"}`);
    await until('reports', reports);
    await daemon.stop(); // which stores the reports
    await daemon.start();
    for (const [i, want] of said.entries()) {
      const { vitals } = (await daemon.vitals(`/view${i}`)) ?? { vitals: [] };
      const got = Object.fromEntries(vitals.map((vital) => [vital.name, vital.p50.value]));
      assert.deepEqual(
        Object.keys(got).sort(),
        Object.keys(want).sort(),
        `${JSON.stringify(got)}, the library ${JSON.stringify(want)}`,
      );
      // Values are stored as histograms with buckets 3 % wide.
      for (const vital of ['lcp', 'inp', 'fcp', 'ttfb']) near(got[vital], want[vital], 0.035, vital, 0.1);
      near(got.cls, want.cls, 0.035, 'cls', 0.001);
      assert.ok(want.inp >= 250 && want.cls > 0, `the page has its planned Web Vitals: ${JSON.stringify(want)}`);
    }
    for (let i = 0; i < count; i++) {
      const slow = await daemon.profile('--page', `/view${i}`, '--label', 'phase=slow-interaction');
      took(slow?.total('filterRows') ?? 0, 200, 0.15, 'filterRows in the slow interaction', 30);
      took(slow?.total('onClick') ?? 0, 260, 0.15, 'onClick in the slow interaction', 30);
      assert.equal(slow?.total('renderHero'), 0);
      const hero = await daemon.profile('--page', `/view${i}`, '--label', 'phase=before-lcp');
      took(hero?.total('renderHero') ?? 0, 250, 0.15, 'renderHero before LCP', 30);
      const named = await daemon.profile(
        '--page',
        `/view${i}`,
        '--label',
        'interaction=pointer button#save',
        '--label',
        'part=processing',
      );
      took(named?.total('filterRows') ?? 0, 200, 0.15, 'filterRows in the processing of the click', 30);
    }
  });

check('soft navigations share requests', async ({ daemon, site, open }) => {
  site.script('/app.js', () => {
    let routes = 0;
    document.querySelector('button').addEventListener('click', () => {
      history.pushState({}, '', `/route${'abcdefghijklm'[routes++]}`);
      document.querySelector('#end').innerHTML = `<h2>${'Another route '.repeat(routes)}</h2>`;
    });
  });
  const page = await open(site.page('/routes', { body, scripts: ['/app.js'] }));
  const soft = await page.evaluate(() => PerformanceObserver.supportedEntryTypes.includes('soft-navigation'));
  assert.ok(soft, 'this browser supports soft navigations');
  for (let i = 0; i < 12; i++) {
    await page.click('button');
    await page.waitForTimeout(150);
  }
  await closeTab(page);
  const requests = () => daemon.metric('fieldtrie_ingest_requests_total{code="204",path="/v1/views"}');
  await until('the reports', requests);
  assert.ok((await requests()) < 4, `${await requests()} requests`);
  await daemon.stop(); // which stores the reports
  await daemon.start();
  const { pages } = JSON.parse(await daemon.get('/api/v1/vitals'));
  const routes = pages.filter((/** @type {any} */ { page }) => page.startsWith('/route'));
  assert.ok(routes.length > 10, `${routes.length} of 13 pages were reported`);
});
