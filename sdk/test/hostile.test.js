import assert from 'node:assert/strict';
import { check, long } from './check.js';
import { until } from './daemon.js';
import { hostile } from './hostile.js';
import { closeTab } from './leave.js';
import { header } from './site.js';
import { chances } from './visits.js';

// For any page, the script throws no error into it, the daemon accepts every request, and Web
// Vitals equal the browser's. HOSTILE is the number of pages, SEED the first one; LONG=1 visits
// 2,000.

const count = Number(process.env.HOSTILE ?? (long ? 2000 : 24));
const first = Number(process.env.SEED ?? 1);
const batch = 100; // pages per daemon
const tabs = 4; // at the same time

/**
 * Runs before any script of a page: stores the browser's own entries, read by functions that the
 * page cannot patch.
 */
const listen = () => {
  globalThis.truth = { lcp: 0, inp: 0, inputs: 0 };
  const { truth } = globalThis;
  const ids = new Set();
  const { getEntries } = PerformanceObserverEntryList.prototype;
  const each = Function.call.bind(Array.prototype.forEach);
  const note = (/** @type {string} */ type, /** @type {(entry: any) => void} */ take) =>
    new PerformanceObserver((list) => each(getEntries.call(list), take)).observe({
      type,
      buffered: true,
      durationThreshold: 40,
    });
  note('largest-contentful-paint', ({ startTime }) => (truth.lcp = startTime));
  note('event', ({ interactionId, duration }) => {
    if (!interactionId) return;
    truth.inputs = ids.add(interactionId).size;
    if (duration > truth.inp) truth.inp = duration;
  });
};

const place = (/** @type {number} */ top) => `position: fixed; left: 20px; top: ${top}px; width: 200px; height: 60px`;

/**
 * Returns the document of a page.
 * @param {import('./hostile.js').Hostile} page
 * @param {string} collector
 * @param {string} release identifies its report
 * @param {number[]} ms that the handlers of the button and the form take
 */
function documentOf({ file, before, options, after, top, button, inputs }, collector, release, ms) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hostile</title>
<script>${before}</script>
</head><body><div id="all"><div id="top">${top}</div>
<h1 style="margin-top: 300px">A heading that is the largest text</h1>
<form style="${place(20)}; padding: 70px 0 0" onsubmit="return false" onclick="event.target == this &&
  spin(${ms[1]})">${inputs}
<button style="${place(20)}" type="button" ${button} onclick="spin(${ms[0]})">Go</button></form></div>
<script>
  globalThis.spin = (ms) => { const from = performance.now(); while (performance.now() - from < ms); };
  globalThis.ready = () => { globalThis.isReady = true; };
  globalThis.loaded = ${file == '/sdk.js' ? restLoaded : () => true};
</script>
<script src="${collector}${file}" crossorigin="anonymous"></script>
<script>fieldtrie.start({ url: '${collector}', sampleRate: 1, maxCost: 1, release: '${release}', ${options} });</script>
<script>const b = document.querySelector('button'); { ${after} } ${after.includes('ready()') ? '' : 'ready()'}</script>
</body></html>`;
}

/** Returns a name of letters, because digits in names are masked. @param {number} n */
const letters = (n) => [...n.toString(26)].map((digit) => String.fromCharCode(97 + parseInt(digit, 26))).join('');

/** Reports whether the rest of the script has started and requested a part. */
const restLoaded = () =>
  performance.getEntriesByType('resource').some(({ name, responseEnd }) => /stackless\.mjs/.test(name) && responseEnd);

/**
 * Visits a page: clicks the button, then the form.
 * @param {import('./browser.js').Setup} setup
 * @param {number} seed
 * @param {number} time distinguishes the visits of a page
 */
async function visit({ daemon, site, context }, seed, time) {
  const chance = chances(seed);
  const page = hostile(chance);
  const release = letters(seed) + '-' + letters(time);
  const ms = [50 + chance() * 60, 120 + chance() * 60];
  const url = site.html(`/${release}`, documentOf(page, daemon.collector, release, ms), { ...header, ...page.headers });
  const tab = await context.newPage();
  /** @type {string[]} */
  const errors = [];
  tab.on('pageerror', (error) => errors.push(`${error.stack ?? error}`));
  tab.on('console', (message) => message.type() == 'error' && errors.push(message.text()));
  await tab.addInitScript(listen);
  let truth = { lcp: 0, inp: 0, inputs: 0 };
  try {
    await tab.goto(url);
    await tab.waitForFunction(() => globalThis.isReady, undefined, { polling: 50 });
    await tab.waitForFunction(() => globalThis.loaded(), undefined, { polling: 50 });
    await tab.waitForTimeout(400);
    await tab.mouse.click(60, 50); // the button
    await tab.waitForTimeout(150);
    await tab.mouse.click(60, 110); // the form below it
    // The last entries arrive after a paint. If the page has lost its form, there are fewer.
    await tab
      .waitForFunction(() => globalThis.truth.inputs > 1, undefined, { polling: 50, timeout: 3000 })
      .catch(() => {});
    await tab.waitForTimeout(200);
    truth = await tab.evaluate(() => globalThis.truth);
    await closeTab(tab);
  } catch (error) {
    errors.push(`${error.stack}`);
  }
  return { seed, release, page, truth, errors };
}

for (let from = 0; from < count; from += batch) {
  const seeds = Array.from({ length: Math.min(batch, count - from) }, (_, i) => first + from + i);
  check(
    `hostile pages ${seeds[0]} to ${seeds.at(-1)} are unharmed and measured`,
    async (setup) => {
      const { daemon } = setup;
      setup.expect(/./); // each visit has its own
      /** @type {string[]} */
      const wrong = [];
      // A busy machine may close a tab before everything is sent, hostile or not. Such a view is
      // repeated.
      let left = seeds;
      for (let tries = 3; left.length && tries; tries--) {
        const { visits, refused } = await visitAll(setup, left, tries);
        wrong.push(...refused);
        left = [];
        for (const { seed, release, page, truth, errors } of visits) {
          const got = await vitals(daemon, release);
          const say = (/** @type {string} */ text) =>
            wrong.push(`page ${seed} (${page.file}, ${page.traits}): ${text}`);
          for (const error of errors) say(error);
          const traced = page.traits.includes('noFetch') || (await daemon.profile('--release', release));
          if (!(got.ttfb && traced) && tries > 1) left.push(seed);
          // Values are stored as histograms with buckets 3 % wide.
          else {
            if (!traced) say('no trace');
            for (const name of /** @type {const} */ (['lcp', 'inp']))
              if (!(Math.abs((got[name] ?? 0) - truth[name]) <= 0.035 * truth[name] + (truth[name] ? 1 : 40)))
                say(`${name} is ${got[name]}, the browser says ${truth[name]}`);
          }
        }
        if (left.length) console.error(`repeated without a report or trace: ${left}`);
      }
      assert.equal(wrong.length, 0, wrong.join('\n'));
    },
    { tries: 1, time: 60_000 + seeds.length * 10_000 },
  );
}

/**
 * Visits pages, and waits until their reports are stored. It also returns the metrics of refused
 * requests.
 * @param {import('./browser.js').Setup} setup
 * @param {number[]} seeds
 * @param {number} time distinguishes the visits of a page
 */
async function visitAll(setup, seeds, time) {
  const { daemon } = setup;
  const reports = () => daemon.metric('fieldtrie_ingest_requests_total{code="204",path="/v1/views"}');
  /** @type {Awaited<ReturnType<typeof visit>>[]} */
  const visits = [];
  const left = [...seeds];
  const tab = async () => {
    for (let seed = left.shift(); seed; seed = left.shift()) visits.push(await visit(setup, seed, time));
  };
  await Promise.all(Array.from({ length: tabs }, tab));
  // views without one are repeated
  await until('reports', async () => (await reports()) >= seeds.length).catch(() => {});
  const metrics = (await daemon.get('/metrics')).split('\n');
  const refused = metrics.filter((line) => /^fieldtrie_ingest_requests_total\{code="[45]/.test(line));
  assert.ok(
    metrics.some((line) => /^fieldtrie_ingest_requests_total\{code="2/.test(line)),
    'accepted requests are counted',
  );
  await daemon.stop(); // which stores the reports
  await daemon.start();
  return { visits, refused };
}

/**
 * Returns the Web Vitals of the one page view of a release, by name.
 * @param {import('./daemon.js').Daemon} daemon
 * @param {string} release
 * @returns {Promise<Record<string, number>>}
 */
async function vitals(daemon, release) {
  const { pages = [] } = JSON.parse(await daemon.get(`/api/v1/vitals?release=${release}`));
  return Object.fromEntries((pages[0]?.vitals ?? []).map((/** @type {any} */ { name, p50 }) => [name, p50.value]));
}
