// node bench/visits.js [N]
//
// Measures in Chromium the cost of the script for visitors, and the share of data that arrives: N
// page views of each kind, by default 100, with the processor throttled to a quarter. It prints one
// figure per line.
import { Setup, closeBrowser } from '../test/browser.js';
import { closeTab } from '../test/leave.js';
import { header } from '../test/site.js';

const count = +process.argv[2] || 100;
const print = (name, value, unit, reach = '', more = {}) =>
  console.log(JSON.stringify({ name, value, unit, reach, ...more }));
const sorted = (values) => values.toSorted((a, b) => a - b);
const quantile = (values, q) => sorted(values)[Math.min(values.length - 1, Math.floor(q * values.length))];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The difference between two medians, with its 95 % interval by resampling. */
function difference(a, b) {
  const draw = (values) => Array.from(values, () => values[Math.floor(Math.random() * values.length)]);
  const runs = sorted(Array.from({ length: 2000 }, () => quantile(draw(b), 0.5) - quantile(draw(a), 0.5)));
  return { value: quantile(b, 0.5) - quantile(a, 0.5), low: quantile(runs, 0.025), high: quantile(runs, 0.975) };
}

/** Opens a page with the processor throttled by a factor. */
async function openSlowly({ context }, url, rate) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  await page.goto(url);
  return page;
}

const setup = await Setup.start();
const { site, daemon } = setup;

/**
 * Main-thread time of the loader in page views that are not profiled, in ms, and of page views with
 * empty scripts. It is read from a trace of the browser, because a throttled processor interrupts
 * the thread regularly, whatever it does.
 */
async function notProfiled() {
  const headers = { 'Server-Timing': 'fieldtrie;dur=0' };
  site.script('/nothing.js', 'self.nothing = 0');
  const tag = (src, code) => `<script src="${src}" crossorigin="anonymous"></script><script>${code}</script>`;
  const start = `fieldtrie.start({ url: '${daemon.collector}', reportRate: 0 })`;
  const decided = start.replace(' })', ', decided: 0 })');
  const urls = [
    site.page('/nothing', { tag: tag('/nothing.js', 'self.nothing++'), start: false, headers }),
    site.page('/none', { tag: tag(daemon.collector + '/sdk.js', start), start: false, headers }),
    site.page('/decided', { tag: tag(daemon.collector + '/sdk.js?decided', decided), start: false }),
    site.page('/inline', {
      tag: `<script>${await (await fetch(daemon.collector + '/sdk.js')).text()}</script><script>${start}</script>`,
      start: false,
      headers,
    }),
  ];
  const browser = setup.context.browser();
  await browser.startTracing(undefined, { categories: ['devtools.timeline'] });
  for (let i = 0; i < urls.length * count; i++) {
    const page = await setup.context.newPage();
    await page.goto(urls[i % urls.length]);
    await page.close();
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  /** @type {Record<string, number>[]} by frame; each page view has one */
  const spent = urls.map(() => ({}));
  for (const { name, args, tdur } of traceEvents) {
    const { url = '', frame } = args?.data ?? {};
    if (name != 'EvaluateScript' && name != 'FunctionCall') continue;
    const kind = [/[/](nothing|nothing[.]js)$/, /[/](none|sdk[.]js)$/, /[/?]decided$/, /[/]inline$/].findIndex((of) =>
      of.test(url),
    );
    if (kind >= 0) spent[kind][frame] = (spent[kind][frame] ?? 0) + tdur / 1000;
  }
  const [without, ...withIt] = spent.map((views) => Object.values(views));
  const of = quantile(without, 0.5);
  for (const [i, name] of ['', '_decided', '_inline'].entries()) {
    const { value, low, high } = difference(without, withIt[i]);
    print(`sdk/not_profiled${name}_cpu_p50_ms`, value, 'ms', '<= 0.4', {
      low,
      high,
      without: of,
      views: withIt[i].length,
    });
    print(`sdk/not_profiled${name}_cpu_p95_ms`, quantile(withIt[i], 0.95) - of, 'ms', '<= 0.8');
  }
}

/** Observes the metrics of a page view. */
const observe = () => {
  const said = (globalThis.said = { lcp: 0, inp: 0, tbt: 0 });
  const take = (type, to) =>
    new PerformanceObserver((list) => list.getEntries().forEach(to)).observe({
      type,
      buffered: true,
      durationThreshold: 16,
    });
  take('largest-contentful-paint', ({ startTime }) => (said.lcp = startTime));
  take('event', ({ interactionId, duration }) => interactionId && (said.inp = Math.max(said.inp, duration)));
  take('longtask', ({ duration }) => (said.tbt += duration - 50));
};

/** A typical page: some work while it loads, a late heading, and a button. */
const app = () => {
  const build = () => {
    const list = document.querySelector('ul');
    for (let i = 0; i < 800; i++) {
      const item = document.createElement('li');
      item.textContent = [i, i * 7919, Math.sqrt(i)]
        .map((n) => n.toLocaleString('en'))
        .sort()
        .join(' ');
      list.append(item);
    }
    document.querySelector('h1').textContent = 'A heading that is larger than all else';
  };
  setTimeout(build, 50);
  document.querySelector('button').addEventListener('click', () => {
    for (const item of document.querySelectorAll('li'))
      item.textContent = item.textContent.split(' ').reverse().join(' ');
  });
};
const body = '<h1 style="font-size: 60px"></h1><button>Sort</button><ul></ul>';

/** LCP, INP and TBT of page views with and without profiling, in turn. */
async function profiled() {
  site.script('/observe.js', observe);
  site.script('/app.js', app);
  const scripts = ['/observe.js', '/app.js'];
  const urls = [
    site.page('/without', { tag: '', start: false, body, scripts, headers: {} }),
    site.page('/with', {
      sdk: daemon.collector + '/sdk.js',
      body,
      scripts,
      headers: header,
      start: { maxCost: 0.005 },
    }),
  ];
  const said = [[], []];
  for (let i = 0; i < 2 * count; i++) {
    const page = await openSlowly(setup, urls[i % 2], 4);
    await page.waitForFunction(() => globalThis.said.lcp && document.querySelectorAll('li').length);
    await page.waitForTimeout(1500);
    await page.click('button');
    await page.waitForFunction(() => globalThis.said.inp);
    said[i % 2].push(await page.evaluate(() => globalThis.said));
    await closeTab(page);
  }
  for (const [metric, reach] of [
    ['lcp', '<= +1 %'],
    ['inp', '<= +4 ms'],
    ['tbt', ''],
  ]) {
    const [without, withIt] = said.map((views) => views.map((view) => view[metric]));
    const { value, low, high } = difference(without, withIt);
    print(`sdk/profiled_${metric}_change_ms`, value, 'ms', reach, { low, high, without: quantile(without, 0.5) });
  }
}

/** Time to start a profiler, alone and while another one runs. */
async function starts() {
  const url = site.page('/starts', { tag: '', start: false, scripts: [] });
  for (const rate of [1, 4, 6]) {
    const times = [];
    for (let i = 0; i < Math.max(3, count / 10); i++) {
      const page = await openSlowly(setup, url, rate);
      times.push(
        await page.evaluate(async () => {
          const start = () => {
            const from = performance.now();
            const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 30000 });
            return [performance.now() - from, profiler];
          };
          const [first, one] = start();
          await new Promise((done) => setTimeout(done, 100));
          const [second, two] = start();
          await Promise.all([one.stop(), two.stop()]);
          return [first, second];
        }),
      );
      await page.close();
    }
    print(`sdk/profiler_first_start_${rate}x_ms`, mean(times.map(([first]) => first)), 'ms');
    print(`sdk/profiler_next_start_${rate}x_ms`, mean(times.map(([, next]) => next)), 'ms');
  }
}

/** Share of page views of 2 s that are lost because the rest of the script is not loaded yet. */
async function lost() {
  const url = site.page('/short', { sdk: daemon.collector + '/sdk.js', scripts: ['/app.js'], body });
  for (let i = 0; i < count; i++) {
    const page = await openSlowly(setup, url, 4);
    await page.waitForTimeout(2000);
    await closeTab(page);
  }
  for (let tries = 0; tries < 20 && (await daemon.views('profiled', '/short')) < count; tries++)
    await new Promise((done) => setTimeout(done, 200));
  print('sdk/lost_after_2s', 1 - (await daemon.views('profiled', '/short')) / count, 'share', '<= 0.01');
}

await starts();
await notProfiled();
await profiled();
await lost();
if (setup.problems.length) console.error(setup.problems.join('\n'));
await setup.close();
await closeBrowser();
