import assert from 'node:assert/strict';
import { check, long } from './check.js';
import { until } from './daemon.js';
import { chances, draw, visit, ways } from './visits.js';

// Compares the daemon's Web Vitals of random visits with the browser and the library web-vitals on
// the same visits. VISITS is their number, SEED the seed; LONG=1 makes 400, which takes a quarter
// of an hour.

const visits = Number(process.env.VISITS ?? (long ? 400 : 5));
const seed = Number(process.env.SEED ?? (long ? 28 : 15));

/** Minimum shares of correct INP values and of accepted documents. */
const atLeast = { inp: 0.99, taken: 1 };

check(
  `${visits} visits equal the reports of the browser`,
  async (setup) => {
    const { daemon } = setup;
    const chance = chances(seed);
    const tags = await ways(setup);
    /**
     * @type {{path: string, plan: import('./visits.js').Plan, stays: import('./visits.js').Stay[],
     *   spent: number}[]}
     */
    const all = [];
    for (let i = 0; i < visits; i++) {
      const plan = draw(chance);
      const path = `/visit-${String.fromCharCode(97 + (i % 26), 97 + (Math.floor(i / 26) % 26))}`;
      all.push({ path, plan, ...(await visit(setup, path, plan, tags[i % tags.length])) });
      if (visits > 100 && i % 20 == 19) console.error(`${i + 1} visits`);
    }
    await until('traces', async () => (await daemon.traces()) >= visits * 0.95, 20_000);
    const refused = await refusals(daemon);
    await daemon.stop(); // which stores the reports
    await daemon.start();
    let [right, wrong] = [0, 0];
    for (const { path, plan, stays } of all)
      for (const { page, library, browser } of stays) {
        const want = library == undefined ? browser : [library, ...browser];
        const got = (await daemon.vitals(page))?.vitals.find(({ name }) => name == 'inp')?.p50.value;
        // Values are stored as histograms with buckets 3 % wide.
        const fits = want.some((ms) => {
          if (ms == undefined || got == undefined) return ms == undefined && (got ?? 0) <= 8;
          return Math.abs(got - ms) <= 0.035 * ms;
        });
        if (fits) right++;
        else {
          wrong++;
          console.error(
            `${page}: INP ${got}, the library ${library}, the browser ${browser}: ${JSON.stringify(plan)} of ${path}`,
          );
        }
      }
    console.error(`INP is right in ${right} of ${right + wrong}, ${refused.all} documents, ${refused.refused} refused`);
    assert.ok(right >= (right + wrong) * atLeast.inp - 1, `INP is wrong in ${wrong} of ${right + wrong}`);
    assert.equal(refused.refused, 0, `refused: ${refused.text}`);
    await times(daemon, all);
    await soft(daemon, all);
  },
  { tries: 1, time: 120000 + visits * 6000 },
);

/**
 * Route changes are distinguished from loads of documents, in reports and in traces.
 * @param {import('./daemon.js').Daemon} daemon
 * @param {{path: string, stays: import('./visits.js').Stay[], spent: number}[]} all
 */
async function soft(daemon, all) {
  const routes = all.filter(({ stays }) => stays.length > 1).slice(0, 5);
  assert.ok(routes.length > 1, 'no visit changed its route');
  for (const { path } of routes) {
    const names = async (/** @type {string} */ page, /** @type {string} */ label) => {
      const text = await daemon.aggregate('--vitals', '--page', page, '--label', label, '--format', 'json');
      return (text ? JSON.parse(text).pages : []).flatMap((/** @type {any} */ { vitals }) =>
        vitals.map((/** @type {any} */ { name }) => name),
      );
    };
    const of = [await names(path, 'navigation!=soft'), await names(`${path}/route1`, 'navigation=soft')];
    assert.deepEqual(
      of.map((all) => ['ttfb', 'fcp'].map((name) => all.includes(name))),
      [
        [true, true],
        [false, true],
      ],
      path,
    );
    assert.deepEqual(await names(`${path}/route1`, 'navigation!=soft'), []);
    const [route, rest] = await Promise.all(
      ['=', '!='].map((is) => daemon.profile('--page', `${path}/route1`, '--label', `navigation${is}soft`)),
    );
    assert.ok(
      (route?.profiled ?? 0) > 0 && !rest?.profiled,
      `${route?.profiled} ms of the route are soft, ${rest?.profiled} not`,
    );
  }
}

/**
 * Returns the number of documents, and how many of them were refused.
 * @param {import('./daemon.js').Daemon} daemon
 */
async function refusals(daemon) {
  const text = await daemon.get('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('fieldtrie_ingest_requests_total{'));
  const count = (/** @type {RegExp} */ code) =>
    lines.reduce((sum, line) => sum + (code.test(line) ? Number(line.split(' ').at(-1)) : 0), 0);
  return { all: count(/code="\d+"/), refused: count(/code="4\d\d"/), text: lines.join('\n') };
}

/**
 * The times of handlers equal their own measurements, except for time without samples.
 * @param {import('./daemon.js').Daemon} daemon
 * @param {{path: string, spent: number}[]} all
 */
async function times(daemon, all) {
  let [got, want, unsampled] = [0, 0, 0];
  for (const { path, spent } of all) {
    const profile = await daemon.profile('--page', path);
    const routes = await Promise.all([1, 2, 3, 4, 5].map((n) => daemon.profile('--page', `${path}/route${n}`)));
    for (const one of [profile, ...routes]) {
      got += one?.total('work') ?? 0;
      unsampled += one?.unsampled ?? 0;
    }
    want += spent;
  }
  console.error(
    `handlers took ${want.toFixed(0)} ms, ${got.toFixed(0)} ms are known, ${unsampled.toFixed(0)} ms were not sampled`,
  );
  assert.ok(got <= want * 1.1 && got + unsampled >= want * 0.85, `${got} of ${want} ms, ${unsampled} not sampled`);
}
