import assert from 'node:assert/strict';
import { check, seen } from './check.js';
import { until } from './daemon.js';
import { stop } from './browser.js';

// Content that a handler starts, such as a request, and that is painted much later, belongs to its
// interaction, if the browser tracks it.

const app = () => {
  const show = (/** @type {string} */ text) => {
    const heading = document.createElement('h1');
    heading.style.fontSize = '50px';
    heading.textContent = text.repeat(8);
    document.querySelector('main').replaceChildren(heading);
  };
  const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
  Object.assign(globalThis, {
    renderResults: function renderResults() {
      globalThis.spin(150);
      show('Results. ');
    },
    renderPosted: function renderPosted() {
      globalThis.spin(150);
      show('Posted ones. ');
    },
    keepDraft: function keepDraft() {
      globalThis.spin(150);
    },
    refresh: function refresh() {
      globalThis.spin(150);
    },
  });
  document.querySelector('#search').addEventListener('click', async () => {
    await (await fetch('/results.js')).text();
    await wait(100);
    globalThis.renderResults();
  });
  document.querySelector('#post').addEventListener('click', async () => {
    await globalThis.scheduler.postTask(() => {}, { delay: 200 });
    globalThis.renderPosted();
  });
  document.querySelector('#save').addEventListener('click', () => setTimeout(() => globalThis.keepDraft(), 200));
  globalThis.raw = [];
  new PerformanceObserver((list) =>
    list
      .getEntries()
      .forEach((entry) =>
        globalThis.raw.push([entry.interactionId, entry.startTime, entry.largestContentfulPaint?.renderTime]),
      ),
  ).observe({ type: 'interaction-contentful-paint', buffered: true });
};

check(
  'the work that an interaction starts is attributed to it until its content is painted',
  async ({ daemon, site, open }) => {
    site.script('/app.js', app);
    site.script('/results.js', '1');
    site.delay = 50;
    const body =
      '<button id="search">Search</button> <button id="post">Post</button> <button ' +
      'id="save">Save</button><main><p>Nothing</p></main>';
    const page = await open(site.page('/content', { body, scripts: ['/app.js'] }));
    await page.waitForTimeout(300);
    for (const [button, shown] of [
      ['#search', 'Results'],
      ['#post', 'Posted'],
    ]) {
      await page.click(button);
      await page.waitForSelector(`h1:has-text("${shown}")`);
      await page.waitForTimeout(300);
      await page.evaluate(() => globalThis.refresh()); // not started by an interaction
      await page.waitForTimeout(100);
    }
    await page.click('#save');
    await page.waitForTimeout(600);
    const raw = await page.evaluate(() => globalThis.raw);
    assert.ok(new Set(raw.map(([id]) => id)).size >= 2, `the browser tracks no interaction: ${JSON.stringify(raw)}`);
    await stop(page);
    await until('a trace', async () => (await daemon.traces()) > 0);
    const work = ['renderResults', 'renderPosted', 'keepDraft', 'refresh'];
    for (const [button, inside] of [
      ['search', 'renderResults'],
      ['post', 'renderPosted'],
      ['save', ''],
    ]) {
      const profile = await daemon.profile(
        '--page',
        '/content',
        '--label',
        `interaction=pointer button#${button}`,
        '--label',
        'part=content',
      );
      for (const name of work)
        if (name == inside) seen(profile?.total(name), 150, `${name} of ${button}`);
        else assert.equal(profile?.total(name) ?? 0, 0, `${name} of ${button}`);
    }
  },
);
