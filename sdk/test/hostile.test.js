import assert from 'node:assert/strict';
import { check, long } from './check.js';
import { until } from './daemon.js';
import { hostile } from './hostile.js';
import { closeTab } from './leave.js';
import { header } from './site.js';
import { chances } from './visits.js';

// Whatever a page does, no error of the script is in it, all that is sent is taken, and Web Vitals are those of the browser.
// HOSTILE says how many pages, SEED which; LONG=1 is 2,000.

const count = Number(process.env.HOSTILE ?? (long ? 2000 : 24));
const first = Number(process.env.SEED ?? 1);
const batch = 100; // pages of a daemon
const tabs = 4; // at once

/** Runs before all else in a page: keeps what the browser says, by functions that the page can not patch. */
const listen = () => {
  globalThis.truth = { lcp: 0, inp: 0 };
  const { truth } = globalThis;
  const { getEntries } = PerformanceObserverEntryList.prototype;
  const each = Function.call.bind(Array.prototype.forEach);
  const note = (/** @type {string} */ type, /** @type {(entry: any) => void} */ take) =>
    new PerformanceObserver((list) => each(getEntries.call(list), take)).observe({ type, buffered: true, durationThreshold: 40 });
  note('largest-contentful-paint', ({ startTime }) => (truth.lcp = startTime));
  note('event', ({ interactionId, duration }) => {
    if (interactionId && duration > truth.inp) truth.inp = duration;
  });
};

const place = (/** @type {number} */ top) => `position: fixed; left: 20px; top: ${top}px; width: 200px; height: 60px`;

/**
 * Writes the document of a page.
 * @param {import('./hostile.js').Hostile} page
 * @param {string} collector
 * @param {string} release that its report is found by
 * @param {number[]} ms that the handlers of the button and the form take
 */
function documentOf({ file, before, options, after, top, button, inputs }, collector, release, ms) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hostile</title>
<script>${before}</script>
</head><body><div id="all"><div id="top">${top}</div>
<h1 style="margin-top: 300px">A heading that is the largest text</h1>
<form style="${place(20)}; padding: 70px 0 0" onsubmit="return false" onclick="event.target == this && spin(${ms[1]})">${inputs}
<button style="${place(20)}" type="button" ${button} onclick="spin(${ms[0]})">Go</button></form></div>
<script>
  globalThis.spin = (ms) => { const from = performance.now(); while (performance.now() - from < ms); };
  globalThis.ready = () => { globalThis.isReady = true; };
</script>
<script src="${collector}${file}" crossorigin="anonymous"></script>
<script>fieldtrie.start({ url: '${collector}', sampleRate: 1, maxCost: 1, release: '${release}', ${options} });</script>
<script>const b = document.querySelector('button'); { ${after} } ${after.includes('ready()') ? '' : 'ready()'}</script>
</body></html>`;
}

/** A name of letters, as digits in names are masked. @param {number} n */
const letters = (n) => [...n.toString(26)].map((digit) => String.fromCharCode(97 + parseInt(digit, 26))).join('');

/**
 * Visits a page: clicks the button, then the form.
 * @param {import('./browser.js').Setup} setup
 * @param {number} seed
 */
async function visit({ daemon, site, context }, seed) {
  const chance = chances(seed);
  const page = hostile(chance);
  const release = letters(seed);
  const ms = [50 + chance() * 60, 120 + chance() * 60];
  const url = site.html(`/${release}`, documentOf(page, daemon.collector, release, ms), { ...header, ...page.headers });
  const tab = await context.newPage();
  /** @type {string[]} */
  const errors = [];
  tab.on('pageerror', (error) => errors.push(`${error.stack ?? error}`));
  tab.on('console', (message) => message.type() == 'error' && errors.push(message.text()));
  await tab.addInitScript(listen);
  await tab.goto(url);
  await tab.waitForFunction(() => globalThis.isReady);
  if (page.file == '/sdk.js') {
    await tab.waitForFunction(() => performance.getEntriesByType('resource').some(({ name, responseEnd }) => /rest\.mjs/.test(name) && responseEnd));
  }
  await tab.waitForTimeout(400);
  await tab.mouse.click(60, 50); // the button
  await tab.waitForTimeout(150);
  await tab.mouse.click(60, 110); // the form below it
  await tab.waitForTimeout(350); // the last entries come after a paint
  const truth = await tab.evaluate(() => globalThis.truth);
  await closeTab(tab);
  return { seed, release, page, truth, errors };
}

for (let from = 0; from < count; from += batch) {
  const seeds = Array.from({ length: Math.min(batch, count - from) }, (_, i) => first + from + i);
  check(
    `hostile pages ${seeds[0]} to ${seeds.at(-1)} are not harmed, and are measured`,
    async (setup) => {
      const { daemon } = setup;
      setup.expect(/./); // each visit has its own
      /** @type {Awaited<ReturnType<typeof visit>>[]} */
      const all = [];
      const left = [...seeds];
      await Promise.all(
        Array.from({ length: tabs }, async () => {
          for (let seed = left.shift(); seed; seed = left.shift()) all.push(await visit(setup, seed));
        }),
      );
      const reports = () => daemon.metric('fieldtrie_ingest_requests_total{code="204"}');
      await until('reports', async () => (await reports()) >= all.length).catch(() => {}); // what lacks is said below
      await daemon.stop(); // which stores what was reported
      await daemon.start();
      /** @type {string[]} */
      const wrong = [];
      for (const { seed, release, page, truth, errors } of all) {
        const got = await vitals(daemon, release);
        const say = (/** @type {string} */ text) => wrong.push(`page ${seed} (${page.file}, ${page.traits}): ${text}`);
        for (const error of errors) say(error);
        for (const name of /** @type {const} */ (['lcp', 'inp'])) {
          // Stored are histograms, whose buckets are 3 % wide.
          if (!(Math.abs(got[name] - truth[name]) <= 0.035 * truth[name] + 1)) say(`${name} is ${got[name]}, the browser says ${truth[name]}`);
        }
      }
      const text = await daemon.get('/metrics');
      wrong.push(...text.split('\n').filter((line) => /^fieldtrie_ingest_requests_total\{.*code="[45]/.test(line)));
      assert.deepEqual(wrong, []);
    },
    { tries: 1, time: 60_000 + seeds.length * 10_000 },
  );
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
