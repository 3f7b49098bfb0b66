import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { launch } from '../sdk/test/browser.js';
import { scriptsOf } from './build.js';
import { markerName } from './truth/marker.js';

/** @import { Page } from 'playwright-core' */

/** Where the pages of all apps are, as far as the browser knows. */
export const site = 'https://site.example';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.json': 'application/json',
};

/**
 * The page of an app. Bundlers that make none give the scripts that are loaded at first, by the names of their entry
 * and of what it shares with others.
 * @param {string} dist
 */
async function documentOf(dist) {
  const index = join(dist, 'index.html');
  if (existsSync(index)) return readFile(index, 'utf8');
  const scripts = await scriptsOf(dist);
  const texts = await Promise.all(scripts.map((path) => readFile(join(dist, path), 'utf8')));
  const main = texts[scripts.findIndex((path) => /^main\b/.test(path))];
  const type = /^import\b|\bexport\{/.test(main) ? 'type="module"' : 'defer';
  const first = scripts.filter((path) => /^(main|vendor)\b/.test(path));
  const tags = first.map((path) => `<script ${type} src="/${path}"></script>`);
  return `<!doctype html><meta charset="utf-8"><title>App</title><div id="root"></div>${tags.join('')}`;
}

/**
 * Runs a built app in Chromium, slowed down as on a phone, and drives it while it is profiled.
 * @param {string} dist
 * @param {(page: Page) => Promise<void>} drive
 * @returns {Promise<any>} a ProfilerTrace
 */
export async function traceOf(dist, drive) {
  const document = await documentOf(dist);
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
      const file = join(dist, pathname);
      if (!existsSync(file)) return route.fulfill({ status: 404 });
      return route.fulfill({ body: await readFile(file), headers: { 'Content-Type': type } });
    });
    await page.addInitScript((marker) => {
      globalThis[marker] = () => {};
      globalThis.profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 100_000 });
    }, markerName);
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.goto(`${site}/`);
    await drive(page);
    const trace = await page.evaluate(async () => JSON.parse(JSON.stringify(await globalThis.profiler.stop())));
    if (problems.length) throw new AggregateError(problems, `the app fails: ${problems[0]}`);
    return withoutMarkers(trace);
  } finally {
    await browser.close();
  }
}

/** A trace in which the time of markers is that of the functions they are in. */
function withoutMarkers({ frames, resources, stacks, samples }) {
  const isMarker = ({ frameId }) => frames[frameId].name == markerName;
  for (const sample of samples) {
    while (sample.stackId != undefined && isMarker(stacks[sample.stackId])) sample.stackId = stacks[sample.stackId].parentId;
  }
  return { frames, resources, stacks, samples };
}
