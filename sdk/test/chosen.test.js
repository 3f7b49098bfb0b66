import assert from 'node:assert/strict';
import { smallBuffers, stop } from './browser.js';
import { check } from './check.js';
import { until } from './daemon.js';
import { closeTab, follow, goBack } from './leave.js';
import { header } from './site.js';

// Tests which page views are profiled, and the reports of the others.

const timing = (/** @type {string} */ share) => ({ ...header, 'Server-Timing': `db;dur=12, fieldtrie;dur=${share}` });

const gpc = () => {
  Object.defineProperty(navigator, 'globalPrivacyControl', { value: true });
};

/**
 * @type {[name: string, outcome: string, document: import('./site.js').Document, init?: () =>
 *   void][]}
 */
const refusals = [
  ['a document without the header', 'header', { headers: {} }],
  ['a page view that is not drawn', 'unsampled', { start: { sampleRate: 0, reportRate: 1 } }],
  [
    'a browser without a profiler',
    'unsupported',
    {},
    () => {
      delete globalThis.Profiler;
    },
  ],
  ['a visitor with Global Privacy Control', 'refused', { start: { honourGPC: true } }, gpc],
  ['a page view that the server has not chosen', 'unsampled', { headers: timing('0'), start: { reportRate: 1 } }],
  ['a page view that the site has not selected itself', 'unsampled', { start: { decided: 0, reportRate: 1 } }],
  [
    'a browser with too many profilers',
    'quota',
    {},
    () => {
      globalThis.Profiler = class {
        constructor() {
          throw new TypeError('too many profilers');
        }
      };
    },
  ],
];
for (const [name, outcome, document, init] of refusals)
  check(`not profiled: ${name}`, async ({ daemon, site, open, expect }) => {
    if (outcome == 'header') expect(/Document policy violation/); // the browser always reports it
    const page = await open(site.page('/none', document), init);
    await page.evaluate(async () => {
      globalThis.fieldtrie.feature('still works', () => globalThis.spin(50));
      globalThis.fieldtrie.page('/other');
      globalThis.fieldtrie.keep?.('nothing');
      globalThis.fieldtrie.stop();
    });
    await until(outcome, () => daemon.views(outcome, '/none'));
    await page.goto(site.page('/end', { start: false }));
    assert.equal(await daemon.views(outcome, '/none'), 1);
    assert.deepEqual(await daemon.pages(), {});
  });

check('profiled: selected by the server, regardless of the draw in the page', async ({ daemon, site, open }) => {
  const page = await open(site.page('/chosen', { headers: timing('0.25'), start: { sampleRate: 0 } }));
  await page.evaluate(() => globalThis.spin(100));
  const sent = page.waitForRequest(/\/t\//);
  await stop(page);
  await until('a trace', () => daemon.traces());
  // The trace contains the share, as field 6 of the context, a double.
  const share = Buffer.from([0x31, 0, 0, 0, 0, 0, 0, 0xd0, 0x3f]);
  assert.ok((await sent).postDataBuffer()?.includes(share), 'the trace has no share of 0.25');
});

check('Web Vitals have the arm of the experiment', async ({ daemon, site, open }) => {
  const noProfiler = () => {
    delete globalThis.Profiler;
  };
  const noTraces = () => {
    const { fetch } = globalThis;
    globalThis.fetch = (url, more) =>
      String(url).includes('/t/') ? Promise.reject(new Error('lost')) : fetch(url, more);
  };
  const off = { 'Document-Policy': 'js-profiling=?0', 'Server-Timing': 'fieldtrie;dur=0' };
  /** @type {[arm: string, document: import('./site.js').Document, init?: () => void][]} */
  const visits = [
    ['profiled', { headers: timing('0.25') }],
    ['profiled', { start: { sampleRate: 1 } }],
    ['none', { headers: off, start: { sampleRate: 1 } }],
    ['none', { headers: off, start: { sampleRate: 0.5 } }],
    ['header', { start: { sampleRate: 1e-9 } }],
    ['profiled', { headers: { 'Server-Timing': 'fieldtrie;dur=0.25' }, start: { dryRun: true } }],
    ['', { headers: off }, noProfiler], // a browser without a profiler is in no arm, selected or not
    ['', { headers: timing('0.25') }, noProfiler],
    ['profiled', { start: { sampleRate: 1 } }, noTraces],
  ];
  for (const [i, [, document, init]] of visits.entries()) {
    const start = { reportRate: 1, ...document.start };
    const page = await open(site.page(`/arm${i}`, { ...document, start, body: '<p>Some text</p>' }), init);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
    await closeTab(page);
  }
  const reported = (/** @type {number} */ i) =>
    daemon.metric(`fieldtrie_ingest_vital_page_views_total{page="/arm${i}",rating="good",vital="ttfb"}`);
  for (const i of visits.keys()) await until(`the report of /arm${i}`, () => reported(i));
  await daemon.stop(); // which stores the reports
  await daemon.start();
  /** @type {{values: {value: string, coverage?: Record<string, number>}[]}} */
  const { values } = JSON.parse(await daemon.get('/api/v1/coverage'));
  for (const [i, [arm, document, init]] of visits.entries()) {
    const path = `/arm${i}`;
    assert.deepEqual(await daemon.arms(path), { [arm]: 1 }, path);
    const dry = /** @type {any} */ (document.start)?.dryRun;
    const lost = init == noTraces;
    assert.equal(path in (await daemon.pages()), arm == 'profiled' && !dry && !lost, path);
    assert.equal(values.find(({ value }) => value == path)?.coverage?.lost, lost ? 1 : undefined, path);
  }
});

check('a restored page view that is not selected reports nothing', async ({ daemon, site, open }) => {
  site.delay = 20;
  const first = site.page('/drawn', { start: { sampleRate: 0.5, reportRate: 0.5 } });
  const second = site.page('/second', { start: false });
  const page = await open(first, () => {
    globalThis.draw = 0;
    Math.random = () => globalThis.draw;
  });
  await page.evaluate(() => (globalThis.draw = 0.9));
  for (let i = 0; i < 2; i++) {
    await follow(page, second);
    await goBack(page, first);
    assert.equal(await page.evaluate(() => globalThis.draw), 0.9, 'the page was reloaded');
    await page.waitForTimeout(200);
  }
  await closeTab(page);
  await until('a trace', () => daemon.views('profiled', '/drawn'));
  await daemon.stop(); // which stores the reports
  await daemon.start();
  const { pages } = JSON.parse(await daemon.aggregate('--vitals', '--page', '/drawn', '--format', 'json'));
  assert.equal(pages[0].vitals.find((/** @type {any} */ { name }) => name == 'ttfb').views, 1);
  assert.equal(await daemon.views('profiled', '/drawn'), 0, 'counters start at 0 with the daemon');
});

check('profiled: a visitor with Global Privacy Control, if the site ignores it', async ({ daemon, site, open }) => {
  const page = await open(site.page('/gpc'), gpc);
  await stop(page);
  await until('a trace', () => daemon.views('profiled', '/gpc'));
});

check(
  'the server stops a page view and the next ones in the tab',
  async ({ daemon, site, open }) => {
    const url = site.page('/steered', { start: { reportRate: 1 } });
    const page = await open(url, smallBuffers, { count: 1, size: 100 });
    // The first profiler stops when its buffer is full, the second when the daemon has responded.
    await page.evaluate(async () => {
      while (globalThis.stopped < 2) {
        globalThis.spin(20);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    await until('a trace', () => daemon.views('profiled', '/steered'));
    await page.goto(url);
    await until('a report', () => daemon.views('stopped', '/steered'));
    assert.equal(await daemon.views('stopped', '/steered'), 1);
    assert.equal(await daemon.views('profiled', '/steered'), 1);
    // Other pages make their own draws.
    await page.goto(site.page('/free'));
    await stop(page);
    await until('a trace of another page', () => daemon.views('profiled', '/free'));
  },
  { flags: ['--sampling', 'FILE:/steered 0\n'] },
);

check('a visitor who forbids storage is profiled', async ({ daemon, site, open }) => {
  const page = await open(site.page('/forbidden'), () => {
    for (const name of ['sessionStorage', 'localStorage'])
      Object.defineProperty(globalThis, name, {
        get() {
          throw new DOMException('it is forbidden', 'SecurityError');
        },
      });
  });
  await page.evaluate(() => globalThis.spin(100));
  await stop(page);
  await until('a trace', () => daemon.views('profiled', '/forbidden'));
});
