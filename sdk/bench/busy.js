// node bench/busy.js [N]
//
// Measures the error of the mean of page views on a busy machine, where the browser takes too few
// samples: N page views, by default 8, at each of 1×, 4× and 6× throttling, with BUSY processes in
// parallel that use all of a processor: by default 0, 6 and 10 in turn. Each page view measures its
// own work. It prints one figure per line.
import { spawn } from 'node:child_process';
import { Setup, closeBrowser, stop } from '../test/browser.js';

const count = +process.argv[2] || 8;
const print = (name, value, unit, reach = '', more = {}) =>
  console.log(JSON.stringify({ name, value, unit, reach, ...more }));

/** Bursts of work and pauses of random lengths, for some seconds. */
const app = () => {
  let state = 1 + Number(new URLSearchParams(location.search).get('seed'));
  const chance = () => (state = (state * 48271) % 2147483647) / 2147483647;
  globalThis.took = 0;
  let work;
  const step = () => {
    const from = performance.now();
    work ??= globalThis.fieldtrie.feature('work');
    if (from > 8000) return void (work.end(), (globalThis.done = true));
    const ms = 5 + 115 * chance() ** 2;
    while (performance.now() - from < ms);
    globalThis.took += performance.now() - from;
    setTimeout(step, 150 * chance());
  };
  setTimeout(step, 2000);
};

const setup = await Setup.start();
const { site, daemon, context } = setup;
site.script('/busy.js', app);
// Each has its own session: Linux shares processors among sessions.
const other = () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore', detached: true });
for (const busy of process.env.BUSY ? [+process.env.BUSY] : [0, 6, 10]) {
  const others = Array.from({ length: busy }, other);
  try {
    for (const rate of [1, 4, 6]) {
      const path = `/beside${busy}/${rate}x`;
      const url = site.page(path, {
        sdk: daemon.collector + '/sdk.js',
        start: { maxCost: undefined },
        scripts: ['/busy.js'],
      });
      let took = 0;
      for (let i = 0; i < count; i++) {
        const page = await context.newPage();
        const session = await context.newCDPSession(page);
        await session.send('Emulation.setCPUThrottlingRate', { rate });
        await page.goto(`${url}?seed=${rate * 1000 + i}`);
        await page.waitForFunction(() => globalThis.done, undefined, { timeout: 120000, polling: 500 });
        took += await page.evaluate(() => globalThis.took);
        await stop(page);
        await page.close();
      }
      for (let tries = 0; tries < 100 && (await daemon.views('profiled', path)) < count; tries++)
        await new Promise((done) => setTimeout(done, 200));
      const { groups } = JSON.parse(
        await daemon.get(`/api/v1/series?page=${encodeURIComponent(path)}&step=all&feature=work`),
      );
      const [{ views, mean_ms, scaled_mean_ms, scaled_low_ms, scaled_high_ms, self_us, stackless_us, unsampled_us }] =
        groups[0].points;
      const of = took / count;
      const name = `sdk/beside_${busy}_${rate}x`;
      print(`${name}_unsampled`, unsampled_us / (self_us + stackless_us + unsampled_us), 'share', '', { views });
      print(`${name}_mean`, mean_ms / of, 'of the truth');
      print(`${name}_scaled_error`, Math.abs(scaled_mean_ms / of - 1), 'share', '<= 0.05', {
        likely: scaled_mean_ms / of,
        from: scaled_low_ms / of,
        to: scaled_high_ms / of,
      });
    }
  } finally {
    for (const one of others) one.kill('SIGKILL');
  }
}
if (setup.problems.length) console.error(setup.problems.join('\n'));
await setup.close();
await closeBrowser();
