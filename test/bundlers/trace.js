import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { launch } from '../../sdk/test/browser.js';
import { scriptsOf } from './build.js';
import { markerName } from './truth/marker.js';

/** @import { Page } from 'playwright-core' */
/** @import { Build } from './builds.js' */

/** The origin of all apps' pages in the browser. */
export const site = 'https://site.example';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.json': 'application/json',
};

/**
 * Creates a page for an app whose bundler makes none. The initial scripts have the names of their
 * entry and of the code that it shares with others.
 * @param {string} dist
 */
async function makeDocument(dist) {
  const scripts = (await scriptsOf(dist)).filter((path) => /^(main|vendor)\b/.test(path));
  const main = await readFile(join(dist, scripts.find((path) => path.startsWith('main')) ?? ''), 'utf8');
  const type = /^import\b|\bexport\{/.test(main) ? 'type="module"' : 'defer';
  const tags = scripts.map((path) => `<script ${type} src="/${path}"></script>`);
  return `<!doctype html><meta charset="utf-8"><title>App</title><div id="root"></div>${tags.join('')}`;
}

/**
 * Runs a built app in Chromium, throttled as on a phone, and drives it while it is profiled.
 * @param {Build} build
 * @param {string} folder of the app
 * @param {(page: Page) => Promise<void>} drive
 * @returns {Promise<any>} a ProfilerTrace
 */
export async function traceOf(build, folder, drive) {
  const dist = join(folder, build.dist ?? 'dist');
  const base = build.base ?? '/';
  const document = build.document ? await readFile(join(folder, build.document), 'utf8') : await makeDocument(dist);
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
    const problems = [];
    page.on('pageerror', (error) => problems.push(error));
    await page.route(`${site}/**`, async (route) => {
      const { pathname } = new URL(route.request().url());
      const type = types[extname(pathname)] ?? 'text/javascript; charset=utf-8';
      if (!extname(pathname)) {
        const headers = { 'Content-Type': types['.html'], 'Document-Policy': 'js-profiling' };
        return route.fulfill({ body: document, headers });
      }
      const file = join(dist, pathname.slice(base.length));
      if (!pathname.startsWith(base) || !existsSync(file)) return route.fulfill({ status: 404 });
      return route.fulfill({ body: await readFile(file), headers: { 'Content-Type': type } });
    });
    await page.addInitScript((marker) => {
      globalThis[marker] = () => {};
      globalThis.profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 100_000 });
    }, markerName);
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.goto(`${site}/`);
    await drive(page).catch((error) => problems.push(error));
    if (problems.length) throw new AggregateError(problems, `${build.name}: ${problems[0].stack}`);
    const trace = await page.evaluate(async () => JSON.parse(JSON.stringify(await globalThis.profiler.stop())));
    return withoutMarkers(trace);
  } finally {
    await browser.close();
  }
}

/** Returns a trace in which the time of markers counts for the enclosing functions. */
function withoutMarkers({ frames, resources, stacks, samples }) {
  const isMarker = ({ frameId }) => frames[frameId].name == markerName;
  for (const sample of samples) {
    while (sample.stackId != undefined && isMarker(stacks[sample.stackId]))
      sample.stackId = stacks[sample.stackId].parentId;
  }
  return { frames, resources, stacks, samples };
}
