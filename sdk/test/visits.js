import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { closeTab, follow, goBack } from './leave.js';

// Random visits from a seed, with the interactions reported by the browser and by the library
// web-vitals.

/** @import { Page } from 'playwright-core' */
/** @import { Setup } from './browser.js' */

const library = readFileSync(new URL('../node_modules/web-vitals/dist/web-vitals.iife.js', import.meta.url), 'utf8');

/**
 * Returns a generator of numbers from 0 to 1 that is the same for the same seed: mulberry32.
 * @param {number} seed
 */
export function chances(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * An action of a visitor: click a button or type a key whose handler takes ms, click many times,
 * change the route, work in an iframe, or wait.
 * @typedef {{does: 'click' | 'type' | 'burst' | 'route' | 'frame' | 'wait', ms: number}} Action
 */

/**
 * @typedef {object} Plan
 * @property {string} arrives load, prerender, or bfcache after a stay without an input
 * @property {Action[]} actions
 * @property {number} throttle factor of the processor
 * @property {boolean} busy whether the machine has other work
 * @property {boolean} shuffled whether the browser delivers entries in another order
 */

/**
 * Returns a random visit.
 * @param {() => number} chance
 * @returns {Plan}
 */
export function draw(chance) {
  /** @type {<T>(list: readonly T[]) => T} */
  const one = (list) => list[Math.floor(chance() * list.length)];
  const arrives = one(['load', 'load', 'load', 'load', 'prerender', 'bfcache']);
  // With handlers of equal times, interactions could not be distinguished.
  const action = () => ({
    does: one(['click', 'click', 'click', 'type', 'burst', 'route', 'frame', 'wait']),
    ms: Math.round(5 + 250 * chance() ** 2),
  });
  /** @type {any[]} */
  const actions = Array.from({ length: 1 + Math.floor(chance() * 5) }, action);
  if (arrives == 'bfcache') for (const action of actions) if (action.does == 'route') action.does = 'click';
  return { arrives, actions, throttle: one([1, 1, 1, 4, 6]), busy: chance() < 0.15, shuffled: chance() < 0.2 };
}

/**
 * Runs before any script of a page: delivers entries to the page's own observers in another order.
 */
const shuffle = () => {
  const { prototype } = PerformanceObserverEntryList;
  const { getEntries } = prototype;
  prototype.getEntries = function () {
    return getEntries.call(this).reverse();
  };
};

/**
 * Runs before any script of a page: stores the browser's entries of interactions, and the library's
 * results.
 */
const listen = () => {
  globalThis.spent = 0;
  globalThis.raw = { events: [], soft: [], shown: [], count: 0 };
  const { raw } = globalThis;
  const { getEntries } = PerformanceObserverEntryList.prototype;
  const note = (type, take) =>
    new PerformanceObserver((list) => getEntries.call(list).forEach(take)).observe({
      type,
      buffered: true,
      durationThreshold: 40,
    });
  const event = ({ interactionId: id, startTime, duration }) => {
    if (id) raw.events.push({ id, startTime, duration });
  };
  note('event', event);
  note('first-input', event);
  note('soft-navigation', ({ startTime, interactionId }) =>
    raw.soft.push({ startTime, id: interactionId, count: performance.interactionCount }),
  );
  addEventListener('pageshow', ({ persisted, timeStamp }) => persisted && raw.shown.push(timeStamp));
};

/** The site's own report of the library's results. */
const report = () => {
  globalThis.said = [];
  globalThis.webVitals.onINP(
    ({ value, id, navigationType }) => {
      const old = globalThis.said.find((one) => one.id == id);
      if (old) old.value = value;
      else globalThis.said.push({ id, value, navigationType });
    },
    { reportAllChanges: true, reportSoftNavs: true },
  );
};

/** An app with routes. The visitor's next action determines how long its handlers take. */
const app = () => {
  globalThis.next = 0;
  globalThis.work = function work() {
    globalThis.spent += globalThis.spin(globalThis.next);
  };
  document.querySelector('#act').addEventListener('click', () => globalThis.work());
  document.querySelector('#text').addEventListener('keydown', () => globalThis.work());
  document.querySelector('#route').addEventListener('click', () => {
    globalThis.work();
    history.pushState(
      {},
      '',
      `${location.pathname.replace(/\/route.*/, '')}/route${(globalThis.routes = (globalThis.routes ?? 0) + 1)}`,
    );
    const main = document.createElement('main');
    main.innerHTML =
      `<h1 style="font-size: 60px">Route ` + `${globalThis.routes}</h1><p>${'Something to read. '.repeat(40)}</p>`;
    document.querySelector('main').replaceWith(main);
  });
};

const body = `<button id="act">Act</button> <button id="route">Next</button> <input id="text">
  <iframe srcdoc="<button id=inner
  onclick='for (const from = performance.now(); performance.now() - from < 50;);'>Inner</button>"></iframe><main>
    <p>Some text</p></main>`;

/**
 * Returns INP by its definition: of the interactions of a stay, the longest one after skipping one
 * for every 50 of them. The browser reports interactions of at least 40 ms.
 * @param {{id: number, duration: number}[]} events
 * @param {number} count of interactions
 */
function inpOf(events, count) {
  /** @type {Map<number, number>} */
  const longest = new Map();
  for (const { id, duration } of events) longest.set(id, Math.max(longest.get(id) ?? 0, duration));
  const sorted = [...longest.values()].sort((a, b) => b - a);
  return sorted[Math.min(sorted.length - 1, Math.floor(count / 50))];
}

/**
 * Returns the ways to load the script: from the daemon, and from the package bundled with the site.
 * Each is a tag that loads and starts it.
 * @param {Setup} setup
 * @returns {Promise<string[]>}
 */
export async function ways({ site, daemon }) {
  const options = JSON.stringify({ url: daemon.collector, sampleRate: 1, maxCost: 1 }); // tests do not limit the cost
  const served = ['/sdk.js', '/sdk-all.js'].map(
    (path) =>
      `<script src="${daemon.collector}${path}" ` +
      `crossorigin="anonymous"></script><script>fieldtrie.start(${options})</script>`,
  );
  const entries = ['fieldtrie', 'fieldtrie/loader'].map((name, i) => {
    const contents =
      `import * as fieldtrie from '${name}'; fieldtrie.start(${options}); globalThis.fieldtrie = ` + `fieldtrie;`;
    return { name: `/npm${i}.js`, contents };
  });
  const bundled = entries.map(async ({ name, contents }) => {
    const resolveDir = fileURLToPath(new URL('..', import.meta.url));
    /** @type {import('esbuild').BuildOptions} */
    const how = {
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      outdir: '/',
      write: false,
      logLevel: 'warning',
    };
    const { outputFiles = [] } = await build({
      ...how,
      stdin: { contents, resolveDir },
      entryNames: name.slice(1, -3),
    });
    for (const { path, text } of outputFiles) site.script(path, text);
    return `<script type="module" src="${name}"></script>`;
  });
  return [...served, ...(await Promise.all(bundled))];
}

/**
 * A stay: a loaded document, a document restored from the back/forward cache, or a route.
 * @typedef {object} Stay
 * @property {string} page
 * @property {number} [library] INP reported by the library
 * @property {(number | undefined)[]} browser INP from the browser's entries, with and without the
 *   interactions that started this stay and the next one; undefined if all were under 40 ms
 */

/**
 * Visits a page; returns the stays and the time of handlers in ms.
 * @param {Setup} setup
 * @param {string} path
 * @param {Plan} plan
 * @param {string} tag loads the script
 * @returns {Promise<{stays: Stay[], spent: number}>}
 */
export async function visit({ site, context }, path, plan, tag) {
  site.script('/library.js', `${library};(${report})()`);
  site.script('/app.js', app);
  const url = site.page(path, { tag, start: false, body, scripts: ['/library.js', '/app.js'] });
  const page = await context.newPage();
  await page.addInitScript(listen);
  if (plan.shuffled) await page.addInitScript(shuffle);
  const cdp = await context.newCDPSession(page);
  const busy = plan.busy
    ? spawn(process.execPath, ['-e', 'for (const end = Date.now() + 30000; Date.now() < end;);'])
    : undefined;
  try {
    await arrive(page, url, plan.arrives, site, path);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: plan.throttle });
    for (const action of plan.actions) await act(page, action);
    await page.waitForTimeout(400); // the last entries arrive after a paint
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    const { raw, said, spent, count } = await page.evaluate(() => {
      const { raw, said, spent } = globalThis;
      return { raw, said, spent, count: performance.interactionCount };
    });
    await closeTab(page);
    return { stays: staysOf(path, plan, raw, said, count), spent };
  } finally {
    busy?.kill();
  }
}

/**
 * @type {(page: Page, url: string, how: string, site: Setup['site'], path: string) =>
 *   Promise<void>}
 */
async function arrive(page, url, how, site, path) {
  if (how == 'prerender') {
    const rules =
      `<script type="speculationrules">{"prerender": [{"urls": ["${url}"], "eagerness": ` + `"immediate"}]}</script>`;
    await page.goto(site.page(`${path}/before`, { start: false, tag: '', head: rules }));
    await page.waitForTimeout(500);
    await follow(page, url);
  } else {
    await page.goto(url);
    if (how == 'bfcache') {
      await page.waitForTimeout(300);
      await follow(page, site.page(`${path}/away`, { start: false, tag: '' }));
      await goBack(page, url);
    }
  }
  await page.waitForTimeout(300);
}

/** @type {(page: Page, action: Action) => Promise<void>} */
async function act(page, { does, ms }) {
  if (does == 'wait') return page.waitForTimeout(ms * 2);
  const at = async (/** @type {string} */ selector, dx = 5) => {
    const box = await page.locator(selector).boundingBox();
    await page.mouse.move((box?.x ?? 0) + dx, (box?.y ?? 0) + dx);
  };
  await page.evaluate(
    (ms) => {
      globalThis.next = ms;
    },
    does == 'burst' ? ms / 10 : ms,
  );
  if (does == 'burst' || does == 'frame') {
    await at(does == 'frame' ? 'iframe' : '#act', does == 'frame' ? 20 : 5);
    for (let i = 0; i < (does == 'frame' ? 1 : 60); i++) {
      await page.mouse.down();
      await page.mouse.up();
    }
  } else if (does == 'type') await page.locator('#text').pressSequentially('abcde');
  else await page.click(does == 'route' ? '#route' : '#act');
  await page.waitForTimeout(150);
}

/** @type {(path: string, plan: Plan, raw: any, said: any[], count: number) => Stay[]} */
function staysOf(path, plan, raw, said, count) {
  const starts = [{ startTime: plan.arrives == 'bfcache' ? raw.shown[0] : 0, id: 0, count: 0 }, ...raw.soft];
  const library =
    plan.arrives == 'bfcache' ? said.filter(({ navigationType }) => navigationType == 'back-forward-cache') : said;
  return starts.map(({ startTime, id }, i) => {
    const end = starts[i + 1]?.startTime ?? Infinity;
    const events = raw.events.filter(
      (/** @type {any} */ event) => event.startTime >= startTime && event.startTime < end,
    );
    const others = events.filter((/** @type {any} */ event) => event.id != id);
    const began = raw.events.filter((/** @type {any} */ event) => event.id == starts[i + 1]?.id);
    // The number of a route's interactions is known, except for interactions at its changes.
    const many = (starts[i + 1]?.count ?? count) - starts[i].count;
    const browser = [events, others, [...events, ...began], [...others, ...began]].flatMap((of) =>
      (starts.length > 1 ? [many - 3, many, many + 3] : [many]).map((many) => inpOf(of, Math.max(many, 0))),
    );
    return { page: i ? `${path}/route${i}` : path, library: library[i]?.value, browser };
  });
}
