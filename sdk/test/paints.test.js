import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { launch } from '../../test/chromium/launch.mjs';
import { stop } from './browser.js';
import { check, seen } from './check.js';
import { until } from './daemon.js';

// Code that runs before the site's own elements are painted is a feature. Paint times are compared
// with the times that the browser reports to the page.

/** Works and shows elements, each after the previous one was painted, and a route. */
const app = async () => {
  globalThis.early = function early() {
    globalThis.spin(150);
  };
  globalThis.middle = function middle() {
    globalThis.spin(150);
  };
  globalThis.after = function after() {
    globalThis.spin(150);
  };
  globalThis.routed = function routed() {
    globalThis.spin(150);
  };
  const type = document.querySelector('script[src="/container.js"]') ? 'container' : 'element';
  const painted = (/** @type {string} */ name) => {
    const element = document.createElement('p');
    if (type == 'element') element.setAttribute('elementtiming', name);
    else element.setAttribute('containertiming', name);
    element.innerHTML = `<b>${'Something to see. '.repeat(20)}</b>`;
    if (type == 'element') element.textContent = element.textContent;
    document.body.append(element);
    return new Promise((resolve) =>
      new PerformanceObserver(
        (list) => list.getEntries().some((entry) => entry.identifier == name) && setTimeout(resolve, 50),
      ).observe({ type, buffered: true }),
    );
  };
  const work = (/** @type {string} */ name) =>
    new Promise((resolve) => setTimeout(() => resolve(globalThis[name]()), 50));
  await work('early');
  await painted('hero');
  await work('middle');
  await painted('results');
  await work('after');
  await painted('results'); // another paint
  history.pushState({}, '', `${location.pathname}/route`);
  await work('routed');
  await painted('detail');
  globalThis.done = true;
};

for (const type of ['element', 'container'])
  check(`the work before ${type}s are painted is a feature`, async ({ daemon, site }) => {
    site.script('/app.js', app);
    site.script('/container.js', '');
    const path = `/${type}`;
    const url = site.page(path, { scripts: type == 'element' ? ['/app.js'] : ['/container.js', '/app.js'] });
    const browser = await launch(chromium, { args: ['--enable-blink-features=ContainerTiming'] });
    try {
      const page = await browser.newPage();
      await page.goto(url);
      assert.ok(
        await page.evaluate((type) => PerformanceObserver.supportedEntryTypes.includes(type), type),
        `this browser has no ${type} timing`,
      );
      await page.waitForFunction(() => globalThis.done);
      await stop(page);
      await until('a trace', async () => (await daemon.traces()) > 0);
    } finally {
      await browser.close();
    }
    /** @type {[string, string, string[]][]} */
    const want = [
      [path, 'hero', ['early']],
      [path, 'results', ['early', 'middle']],
      [`${path}/route`, 'detail', ['routed']],
    ];
    for (const [page, name, inside] of want) {
      const profile = await daemon.profile('--page', page, '--feature', `before-${name}`);
      for (const work of ['early', 'middle', 'after', 'routed'])
        if (inside.includes(work)) seen(profile?.total(work), 150, `${work} before ${name}`);
        else assert.equal(profile?.total(work) ?? 0, 0, `${work} before ${name}`);
    }
  });
