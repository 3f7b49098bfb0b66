import assert from 'node:assert/strict';
import { transform } from 'esbuild';
import { smallBuffers, stop } from './browser.js';
import { check, near, seen, took } from './check.js';
import { until } from './daemon.js';

// The times that aggregate prints equal those that the pages measure themselves.

/** @type {typeof check} */
const measure = (name, body, options) => check(name, body, { tries: 3, ...options });

measure('the time of a hot function is measured', async ({ daemon, site, open }) => {
  site.script('/app.js', () => {
    globalThis.hot = function hot() {
      return globalThis.spin(1000);
    };
  });
  const page = await open(site.page('/hot', { scripts: ['/app.js'] }));
  const ms = await page.evaluate(() => globalThis.hot());
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/hot'));
  took(profile.total('hot'), ms, 0.15, 'hot', profile.unsampled);
  assert.match(await daemon.aggregate('--page', '/hot', '--format', 'folded'), /^hot .*;spin /m);
});

measure(
  'the time of a third-party script is measured separately from idle time',
  async ({ daemon, site, third, open }) => {
    // It sets the timer itself, so that no function of the site is on the stack.
    third.script('/third.js', () => {
      globalThis.measured = new Promise((resolve) => {
        globalThis.begin = () =>
          setTimeout(() => {
            const from = performance.now();
            while (performance.now() - from < 500);
            resolve(performance.now() - from);
          });
      });
    });
    const page = await open(site.page('/third', { scripts: [third.url('/third.js')] }));
    const ms = await page.evaluate(() => {
      globalThis.begin();
      return globalThis.measured;
    });
    const idle = await page.evaluate(async () => {
      const from = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 700));
      return performance.now() - from;
    });
    await stop(page);
    const profile = await until('a profile', () => daemon.profile('--page', '/third'));
    took(profile.total(`(third-party ${third.host})`), ms, 0.2, 'third party', profile.unsampled);
    assert.ok(profile.idle > idle * 0.8, `idle: got ${profile.idle} ms of ${idle}`);
    const others = profile.profiled - profile.idle;
    assert.ok(others > ms * 0.8, `not idle: got ${others} ms of ${ms}`);
  },
  { measures: true },
);

measure('the time of layout by the browser is measured', async ({ daemon, site, open }) => {
  site.script('/app.js', () => {
    const words = Array.from({ length: 20000 }, (_, i) => `<b>word ${i}</b> `);
    document.body.insertAdjacentHTML('beforeend', `<div id="text">${words.join('')}</div>`);
    function dirty() {
      document.querySelector('#text').style.cssText = 'font-size: 19px; width: 300px';
    }
    /** Returns the time from the start of style and layout to the end of the frame. */
    globalThis.relayout = async () => {
      const { end } = globalThis.fieldtrie.feature('relayout');
      const ms = await new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [{ startTime, duration, styleAndLayoutStart: from }] = list.getEntries();
          if (from) resolve(startTime + duration - from);
        }).observe({ type: 'long-animation-frame' });
        setTimeout(dirty);
      });
      end();
      return ms;
    };
  });
  const page = await open(site.page('/layout', { scripts: ['/app.js'] }));
  await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve), 100)));
  const ms = await page.evaluate(() => globalThis.relayout());
  assert.ok(ms > 100, `it took ${ms} ms, which is too short to measure`);
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--feature', 'relayout'));
  took(profile.total('(layout)') + profile.total('(style)'), ms, 0.2, 'layout', profile.unsampled);
});

// The time between the full buffer and its event is lost: one or two intervals, and the rest of the
// task. So tasks are short here, and buffers fill at most twice.
measure(
  'a full buffer loses no time',
  async ({ daemon, site, open }) => {
    site.script('/app.js', () => {
      globalThis.work = async function work() {
        while (performance.now() < globalThis.from + 5000) {
          globalThis.spin(5);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        return performance.now() - globalThis.from;
      };
    });
    const head = '<script>globalThis.from = performance.now()</script>';
    const url = site.page('/full', { head, scripts: ['/app.js'], start: { sampleInterval: 1 } });
    const page = await open(url, smallBuffers, { count: 100, size: 200 });
    const ms = await page.evaluate(() => globalThis.work());
    await stop(page);
    const profile = await until(
      '97 % of all time',
      async () => {
        const profile = await daemon.profile('--page', '/full');
        return profile && profile.profiled + profile.unsampled > ms * 0.97 && profile;
      },
      5000,
    );
    // Within a chunk the browser may have taken no samples for a while, which is not due to
    // buffers.
    near(profile.profiled + profile.unsampled, ms, 0.03, 'all time');
    assert.ok((await daemon.traces()) > 1, 'the buffer was never full');
  },
  { measures: true },
);

measure('a function with a short name is found by its location', async ({ daemon, site, open }) => {
  const source = `(() => {
    function formatTheDate(ms) { return globalThis.spin(ms) + 'the date'.length }
    globalThis.go = () => formatTheDate(400);
  })()`;
  const { code } = await transform(source, { minify: true });
  site.script('/app.min.js', code);
  // V8 reports the position of the parameters.
  const before = code.slice(0, code.indexOf('spin'));
  const [head, name] = /^.*function ([\w$]+)(?=\()/s.exec(before) ?? [];
  assert.ok(head && name && name.length < 3, `there is no function with a short name in ${code}`);
  const page = await open(site.page('/min', { scripts: ['/app.min.js'] }));
  const ms = await page.evaluate(() => globalThis.go());
  await stop(page);
  const profile = await until('a profile', () => daemon.profile('--page', '/min'));
  const at = profile.named(name).find(({ resource }) => resource == site.url('/app.min.js'));
  const lines = head.split('\n');
  assert.deepEqual([at?.line, at?.column], [lines.length, lines[lines.length - 1].length + 1]);
  seen(at.total_us / 1000, ms, name);
});
