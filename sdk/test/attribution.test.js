import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { check, long } from './check.js';
import { until } from './daemon.js';
import { closeTab } from './leave.js';
import { Site } from './site.js';
import { chances } from './visits.js';

// Compares the elements and parts of Web Vitals with the library web-vitals, with attribution, on
// random page views. VIEWS is their number, SEED the seed.

const views = Number(process.env.VIEWS ?? (long ? 100 : 8));
const seed = Number(process.env.SEED ?? 6);

const library = readFileSync(
  new URL('../node_modules/web-vitals/dist/web-vitals.attribution.iife.js', import.meta.url),
  'utf8',
);

/** Stores the reports of the library in the page: elements by their ids. */
const listen = () => {
  globalThis.said = {};
  for (const name of ['LCP', 'INP', 'CLS'])
    globalThis.webVitals['on' + name](
      ({ value, attribution: of }) => {
        globalThis.said[name.toLowerCase()] = {
          value,
          id: of.target ?? of.interactionTarget ?? of.largestShiftTarget,
          kind: name == 'LCP' ? (of.url ? 'image' : 'text') : of.interactionType,
          parts: [
            of.timeToFirstByte,
            of.resourceLoadDelay,
            of.resourceLoadDuration,
            of.elementRenderDelay,
            of.inputDelay,
            of.processingDuration,
            of.presentationDelay,
          ].filter((part) => part != undefined),
        };
      },
      { reportAllChanges: true, generateTarget: (node) => (node.nodeType == 1 ? node : node.parentElement).id },
    );
  // The library does not report a larger element that was painted at the same time as the previous
  // one.
  new PerformanceObserver((list) => {
    const { element, url } = list.getEntries().at(-1);
    globalThis.largest = { id: element.id, kind: url ? 'image' : 'text' };
  }).observe({ type: 'largest-contentful-paint', buffered: true });
};

/**
 * An app that follows the plan in its document: it shows the largest content, moves elements and
 * delays its responses to input.
 */
const app = () => {
  const { largest, url, after, shifts, handlers, before } = JSON.parse(document.querySelector('#plan').textContent);
  const show = () => {
    const hero = document.createElement(largest == 'text' ? 'h1' : 'img');
    hero.id = 'hero';
    if (largest == 'text')
      hero.textContent = 'A heading that is larger than all else on this page, and so has two lines or three';
    else Object.assign(hero, { src: url, width: 700, height: 400 });
    hero.style.fontSize = '60px';
    document.querySelector('#space').append(hero);
  };
  if (after) setTimeout(show, after);
  else show();
  shifts.forEach(({ at, height, id }) =>
    setTimeout(() => {
      const above = document.createElement('div');
      above.style.height = `${height}px`;
      document.querySelector(id).before(above);
    }, at),
  );
  for (const [type, ms] of Object.entries(handlers))
    document.querySelector('#act').addEventListener(type, () => globalThis.spin(ms));
  document.querySelector('#text').addEventListener('keydown', () => globalThis.spin(handlers.keydown ?? 60));
  document.querySelector('#act').addEventListener('pointerover', () => before && globalThis.spin(before));
};

/**
 * @param {() => number} chance
 * @param {Site} site
 * @param {Site} other
 * @param {number} i
 */
function draw(chance, site, other, i) {
  /** @type {<T>(list: readonly T[]) => T} */
  const one = (list) => list[Math.floor(chance() * list.length)];
  const ms = (/** @type {number} */ most) => Math.round(chance() * most);
  const largest = one(['text', 'image', 'image', 'foreign', 'data']);
  const { [largest]: url = '' } = {
    image: site.image(`/hero${i}.svg`, ms(400)),
    foreign: other.image(`/hero${i}.svg`, ms(400)),
    data: `data:image/svg+xml,${encodeURIComponent(
      '<svg xmlns="http://www.w3.org/2000/svg" width="700" height="400">' +
        '<rect width="700" height="400" fill="red"/></svg>',
    )}${'%20'.repeat(9000)}`,
  };
  const shifts = Array.from({ length: Math.floor(chance() * 4) }, () => ({
    at: 100 + ms(800),
    height: 10 + ms(80),
    id: one(['#one', '#two', '#three']),
  }));
  const does = one(['click', 'press', 'type']);
  /** @type {Record<string, number>} */
  const handlers = {};
  for (const type of does == 'press'
    ? ['mousedown', 'mousedown', 'click']
    : ['pointerdown', 'mousedown', 'pointerup', 'click', 'keydown'])
    if (chance() < 0.5) handlers[type] = 30 + ms(150);
  return {
    largest,
    url,
    after: chance() < 0.5 ? ms(300) : 0,
    shifts,
    handlers,
    before: chance() < 0.3 ? ms(100) : 0,
    does,
  };
}

const body = (/** @type {object} */ plan) => `<script type="application/json" id="plan">${JSON.stringify(plan)}</script>
<button id="act">Act</button> <input id="text"><div id="space" style="height: 450px"></div>
<p id="one">Some text that is painted first</p><section id="part"><p id="two">More of it</p></section>
  <p id="three">The end</p>`;

check(
  `${views} page views: elements and parts equal the library's`,
  async (setup) => {
    const { daemon, site, open } = setup;
    const other = await Site.start();
    const chance = chances(seed);
    site.script('/library.js', `${library};(${listen})()`);
    site.script('/app.js', app);
    /** @type {{path: string, plan: any, said: any}[]} */
    const all = [];
    for (let i = 0; i < views; i++) {
      const plan = draw(chance, site, other, i);
      const path = `/view-${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`;
      const page = await open(
        site.page(path, {
          sdk: daemon.collector + ['/sdk.js', '/sdk-all.js'][i % 2],
          body: body(plan),
          scripts: ['/library.js', '/app.js'],
        }),
      );
      await page.waitForTimeout(1200); // for the largest content and all shifts
      if (plan.does == 'press')
        await page.click('#act', { delay: 250 }); // so that its events are painted separately
      else if (plan.does == 'click') await page.click('#act');
      else await page.locator('#text').press('a');
      await page.waitForFunction(() => globalThis.said.inp); // the library reports it when the page is idle
      await page.waitForTimeout(300);
      const said = await page.evaluate(() => ({
        ...globalThis.said,
        lcp: { ...globalThis.said.lcp, ...globalThis.largest },
      }));
      await closeTab(page);
      all.push({ path, plan, said });
    }
    await until('traces', async () => (await daemon.traces()) >= views);
    await daemon.stop(); // which stores the reports
    await daemon.start();
    const counts = { elements: 0, parts: 0 };
    for (const { path, plan, said } of all) {
      const { vitals = [] } = (await daemon.vitals(path)) ?? {};
      for (const [name, want] of Object.entries(said)) {
        const got = /** @type {any} */ (vitals.find((vital) => vital.name == name));
        const note =
          `${path} ${name}: ${JSON.stringify(got)}, the library ${JSON.stringify(want)}, ` +
          `${JSON.stringify({ ...plan, url: '' })}`;
        assert.ok(got, note);
        if (want.id == undefined) continue; // no layout shift
        counts.elements++;
        const [element] = got.elements ?? [{}];
        assert.ok(element.element?.endsWith(`#${want.id}`), note);
        assert.equal(
          element.element.split(' ')[0].replace('key', 'keyboard'),
          name == 'cls' ? element.element : want.kind,
          note,
        );
        if (name == 'cls') continue;
        assert.equal(got.parts?.length, want.parts.length, note);
        // If the rounded paint time precedes the end of the work, the library's parts do not add
        // up.
        const off = Math.abs(
          want.parts.reduce((/** @type {number} */ sum, /** @type {number} */ part) => sum + part, -want.value),
        );
        // Values are stored as histograms with buckets 3 % wide.
        got.parts.forEach((/** @type {any} */ part, /** @type {number} */ i) => {
          counts.parts++;
          assert.ok(
            Math.abs(part.p50.value - want.parts[i]) <= 0.035 * want.parts[i] + 0.2 + off,
            `${part.name}: ${note}`,
          );
        });
      }
    }
    console.error(`${counts.elements} elements and ${counts.parts} parts equal the values of the library`);
    assert.ok(counts.elements >= 2 * views && counts.parts == 7 * views, 'the pages have the planned elements');
    await other.close();
  },
  { time: 60000 + views * 6000 },
);
