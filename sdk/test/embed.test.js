import assert from 'node:assert/strict';
import { stop } from './browser.js';
import { check, seen } from './check.js';
import { until } from './daemon.js';
import { header } from './site.js';

// Ways to load the script.

const hot = () => {
  globalThis.hot = function hot() {
    return globalThis.spin(200);
  };
};

check('with integrity and a strict policy', async ({ daemon, site, open }) => {
  const list = await (await fetch(`${daemon.collector}/sdk.json`)).json();
  const { path, integrity } = list.script;
  site.script('/hot.js', hot);
  // The policy does not allow inline scripts.
  site.script('/start.js', `fieldtrie.start({ url: '${daemon.collector}', sampleRate: 1, maxCost: 1 })`);
  const { collector } = daemon;
  const url = site.page('/strict', {
    tag: `<script src="${collector}${path}" integrity="${integrity}" crossorigin="anonymous"></script>`,
    start: false,
    scripts: ['/start.js', '/hot.js'],
    headers: {
      ...header,
      'Content-Security-Policy': `default-src 'none'; script-src 'self' ${collector}; connect-src ${collector}`,
      'Cross-Origin-Embedder-Policy': 'require-corp',
      'Referrer-Policy': 'no-referrer',
    },
  });
  const page = await open(url);
  const ms = await page.evaluate(() => globalThis.hot());
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/strict'));
  seen(profile.total('hot'), ms, 'hot');
});

check(
  'the loader in the document itself needs no request in page views that are not selected',
  async ({ daemon, site, open }) => {
    site.script('/hot.js', hot);
    const loader = await (await fetch(daemon.collector + '/sdk.js')).text();
    const inline = { tag: `<script>${loader}</script>`, scripts: ['/hot.js'] };
    const asked = [];
    const tab = await open('about:blank');
    tab.on('request', (request) => asked.push(request.url()));
    await tab.goto(site.page('/inline-none', { ...inline, start: { sampleRate: 0, reportRate: 0 } }));
    await tab.waitForTimeout(1500);
    assert.deepEqual(
      asked.filter((url) => url.startsWith(daemon.collector)),
      [],
    );
    assert.equal(asked.length, 3, 'the document and its two scripts');

    const page = await open(site.page('/inline', inline));
    const ms = await page.evaluate(() => globalThis.fieldtrie.feature('work', globalThis.hot));
    await stop(page);
    const profile = await until('a profile', () => daemon.profile('--page', '/inline'));
    seen(profile.total('hot'), ms, 'hot');
  },
);

check('a script with another integrity does not run', async ({ daemon, site, open, expect }) => {
  expect(/integrity|fieldtrie is not defined/);
  const list = await (await fetch(`${daemon.collector}/sdk.json`)).json();
  const tag =
    `<script src="${daemon.collector}/sdk.js" integrity="${list.module.integrity}" ` +
    `crossorigin="anonymous"></script>`;
  const page = await open(site.page('/other', { tag }));
  assert.equal(await page.evaluate(() => typeof globalThis.fieldtrie), 'undefined');
});

for (const name of ['sdk.mjs', 'sdk-core.mjs'])
  check(`as the module ${name}`, async ({ daemon, site, open }) => {
    site.script('/hot.js', hot);
    const options = JSON.stringify({ url: daemon.collector, sampleRate: 1, maxCost: 1 });
    const tag = `<script type="module">
      import * as fieldtrie from '${daemon.collector}/${name}';
      fieldtrie.start(${options});
      globalThis.fieldtrie = fieldtrie;
    </script>`;
    const page = await open(site.page('/module', { tag, start: false, scripts: ['/hot.js'] }));
    await page.waitForFunction(() => globalThis.fieldtrie);
    const ms = await page.evaluate(() => globalThis.fieldtrie.feature('work', globalThis.hot));
    await stop(page);
    const profile = await until('a profile', () => daemon.profile('--page', '/module', '--feature', 'work'));
    seen(profile.total('hot'), ms, 'hot');
  });

check('the core alone', async ({ daemon, site, open }) => {
  site.script('/hot.js', hot);
  const page = await open(site.page('/core', { sdk: daemon.collector + '/sdk-core.js', scripts: ['/hot.js'] }));
  const ms = await page.evaluate(() => globalThis.fieldtrie.feature('work', globalThis.hot));
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/core'));
  seen(profile.total('hot'), ms, 'hot');
  assert.equal(profile.idle, 0, 'the core does not classify time');
  assert.ok(await daemon.profile('--feature', 'work'));
});

check('loaded twice', async ({ daemon, site, open }) => {
  const head = `<script src="${daemon.collector}/sdk.js" crossorigin="anonymous"></script>
    <script>fieldtrie.start({ url: '${daemon.collector}', sampleRate: 1, maxCost: 1 })</script>`;
  const page = await open(site.page('/twice', { head }));
  await page.evaluate(() => globalThis.spin(100));
  await stop(page);
  await until('a trace', () => daemon.views('profiled', '/twice'));
});

check(
  'with a daemon that requires a key',
  async ({ daemon, site, open }) => {
    const page = await open(site.page('/key', { start: { key: 'sesame' } }));
    await page.evaluate(() => globalThis.spin(100));
    await stop(page);
    await until('a trace', () => daemon.views('profiled', '/key'));
  },
  { flags: ['--key', 'sesame'] },
);

check('with a header from a service worker', async ({ daemon, site, open }) => {
  // As in docs/sdk.md.
  site.script('/worker.js', () => {
    addEventListener('install', () => skipWaiting());
    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    addEventListener('fetch', (event) => {
      if (event.request.mode != 'navigate') return;
      event.respondWith(
        (async () => {
          const response = await fetch(event.request);
          const headers = new Headers(response.headers);
          headers.set('Document-Policy', 'js-profiling, js-profiling-mode=lazy');
          headers.set('Server-Timing', 'fieldtrie;dur=1');
          return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
        })(),
      );
    });
  });
  const page = await open(site.page('/plain', { tag: '', start: false, headers: {} }));
  await page.evaluate(async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
    await navigator.serviceWorker.register('/worker.js');
    await controlled;
  });
  await page.goto(site.page('/worked', { headers: {}, start: { sampleRate: 0 } }));
  await page.evaluate(() => globalThis.spin(100));
  await stop(page);
  await until('a trace', () => daemon.views('profiled', '/worked'));
});
