// node record.js OUT [VISITS]
//
// Builds the releases of the shop, visits each page of each release VISITS times in Chromium, and
// writes the data that the browser script sends: OUT/RELEASE.json.gz contains a release's script
// with its map, and its visits. See README.md.

import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { launch } from '../chromium/launch.mjs';
import { build, releases, require } from './release.js';
import { pages } from './visits.js';

/**
 * The visitors' processor is this many times slower than this machine: then samples show shorter
 * functions.
 */
const slowdown = 3;

/** Response times of each host in ms. */
const delay = { 'shop.example': 90, 'tag.example': 60, 'profiles.example': 20 };

const dist = new URL('../../sdk/dist/', import.meta.url);
const types = {
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
};
const circles = Array.from(
  { length: 40 },
  (_, i) =>
    `<circle cx="${(i * 97) % 1000}" cy="${(i * 53) % 320}" r="${20 + (i % 7) * 9}" fill="hsl(${i * 9} 40% 70%)"/>`,
);
const hero = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 320">${circles.join('')}</svg>`;

/** Returns the document of a page. */
const documentOf = (release, { path }) => `<!doctype html><meta charset="utf-8"><title>Shop</title>
<style>body{font:16px sans-serif} .offer{padding:40px}
  .cards{display:grid;grid-template-columns:repeat(6,1fr);gap:8px;list-style:none}
  img{display:block;width:100%;height:auto}</style>
<script src="http://profiles.example/sdk.js" crossorigin="anonymous"></script>
<script>fieldtrie.start({url: 'http://profiles.example', release: '${release}', environment: 'production',
  sampleRate: 1})</script>
<script src="http://tag.example/tag.js" defer></script>
<div id="root"></div><script src="/${path}" defer></script>`;

/** All hosts in one server: the shop, the third party whose script it loads, and the collector. */
class Hosts {
  /** Traces and reports that the collector received since the last call of take(). */
  #traces = [];
  #reports = [];
  #server = createServer((request, response) => void this.#answer(request, response));

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return this.#server.address().port;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Serves a release from now on. */
  show(release, built) {
    this.document = documentOf(release, built);
    this.built = built;
  }

  /** Returns and removes the data that the collector received. */
  take() {
    const all = { traces: this.#traces, reports: this.#reports };
    [this.#traces, this.#reports] = [[], []];
    return all;
  }

  async #answer(request, response) {
    const { host = '' } = request.headers;
    const { pathname } = new URL(request.url ?? '', `http://${host}`);
    const type = types[pathname.split('.')[1] ? pathname.split('.').at(-1) : ''];
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (pathname.startsWith('/t/')) this.#traces.push(Buffer.concat(chunks));
    if (pathname.startsWith('/v/')) this.#reports.push(JSON.parse(Buffer.concat(chunks).toString()));
    await new Promise((resolve) => setTimeout(resolve, delay[host] * (0.7 + Math.random())));
    const headers = { 'Content-Type': type ?? 'text/html; charset=utf-8' };
    if (host == 'profiles.example') headers['Access-Control-Allow-Origin'] = '*';
    if (!type) headers['Document-Policy'] = 'js-profiling';
    response.writeHead(200, headers).end(await this.#body(host, pathname));
  }

  async #body(host, path) {
    if (/^\/[tv]\//.test(path)) return '{}';
    if (host == 'profiles.example') return readFile(new URL(`.${path.replace(/^\/(?!sdk)/, '/sdk-')}`, dist));
    if (host == 'tag.example') return readFile(new URL('tag.js', import.meta.url));
    if (path == '/hero.svg') return hero;
    if (path == '/offer.json')
      return JSON.stringify({ text: 'Free delivery until Sunday for all that pours, grinds or whisks' });
    return path.startsWith('/assets/') ? this.built.script : this.document;
  }
}

/** Visits a page; returns the data that it sent. */
async function visit(browser, hosts, name, turn) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  try {
    const page = await context.newPage();
    const problems = [];
    page.on('pageerror', (error) => problems.push(error));
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    hosts.take();
    await page.goto(`http://shop.example${pages[name].path(turn)}`);
    await page.locator('h1').waitFor();
    await page.waitForTimeout(1400); // the rest of the browser script, and the tag
    await pages[name].visit(page, turn);
    if (problems.length) throw problems[0];
    await page.close({ runBeforeUnload: true });
    await new Promise((resolve) => setTimeout(resolve, 500)); // the last data is in flight
  } finally {
    await context.close();
  }
  const { traces, reports } = hosts.take();
  const vitals = reports.filter((report) => report.vitals);
  if (!traces.length || vitals.length != 1) return undefined; // the machine was too busy for the end of the visit
  const [{ vitals: values, elements, parts }] = vitals;
  return { page: name, traces: traces.map((trace) => trace.toString('base64')), vitals: values, elements, parts };
}

const [out, visits = '8'] = process.argv.slice(2);
if (!out) throw new Error('node record.js OUT [VISITS]');
const hosts = new Hosts();
const port = await hosts.listen();
const names = Object.keys(delay);
const browser = await launch(require('playwright-core').chromium, {
  args: [
    `--host-resolver-rules=${names.map((name) => `MAP ${name} 127.0.0.1:${port}`).join(',')}`,
    `--unsafely-treat-insecure-origin-as-secure=${names.map((name) => `http://${name}`).join(',')}`,
  ],
});
const built = await Promise.all(releases.map(build));
const recorded = releases.map(() => []);
// Releases take turns, because a machine may be slower for a while.
for (let turn = 0; turn < Number(visits); turn++) {
  for (const name of Object.keys(pages)) {
    for (const [i, release] of releases.entries()) {
      hosts.show(release, built[i]);
      let one;
      for (let tries = 0; !one && tries < 3; tries++) one = await visit(browser, hosts, name, turn);
      if (!one) throw new Error(`${release} ${name}: the browser script did not send a trace and one report`);
      recorded[i].push(one);
    }
  }
  console.log(`${turn + 1} of ${visits} visits of each page`);
}
await browser.close();
hosts.close();
for (const [i, release] of releases.entries()) {
  const text = JSON.stringify({ release, ...built[i], visits: recorded[i] });
  await writeFile(join(out, `${release}.json.gz`), gzipSync(text, { level: 9 }));
}
