// node visit.js COLLECTOR VIEWS BUILD OUT
//
// Builds two releases of the React app, A and the next one B, without markers, and visits each so many times in
// Chromium, with the browser script of a daemon at COLLECTOR, its public address. The builds are left in OUT/A and OUT/B,
// to be uploaded afterwards.

import { cp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { launch } from '../../sdk/test/browser.js';
import { build, copyApp, scriptsOf } from './build.js';
import { builds } from './builds.js';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css' };

/** The page of a build, which starts the browser script first. */
async function documentOf(which, folder, dist, collector, release) {
  const start = `<script src="${collector}/sdk.js" crossorigin="anonymous"></script>
    <script>fieldtrie.start({url: ${JSON.stringify(collector)}, release: '${release}', sampleRate: 1})</script>`;
  if (which.document) return (await readFile(join(folder, which.document), 'utf8')).replace('<head>', `<head>${start}`);
  const scripts = (await scriptsOf(dist)).filter((path) => /^(main|vendor)\b/.test(path));
  return `<!doctype html><meta charset="utf-8"><title>App</title>${start}<div id="root"></div>${scripts.map((path) => `<script defer src="/${path}"></script>`).join('')}`;
}

/** Serves a build and returns its URL. */
async function serve(document, dist) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const type = types[extname(pathname)];
    if (!type) {
      response.writeHead(200, { 'Content-Type': types['.html'], 'Document-Policy': 'js-profiling' }).end(document);
      return;
    }
    const content = await readFile(join(dist, pathname)).catch(() => undefined);
    response.writeHead(content ? 200 : 404, { 'Content-Type': type }).end(content);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

/** Until what a click began is over: a render that the next one interrupts is begun again, and times would vary more. */
const settle = (page) => page.waitForTimeout(500);

/** One visit: the list, sorted, and the report by another key. */
async function visit(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText('20000 shipments').waitFor();
  await page.click('[data-column=ship]');
  await settle(page);
  await page.click('a:text("Report")');
  await settle(page);
  await page.click('[data-key=month]');
  await settle(page);
  await page.close({ runBeforeUnload: true });
  await new Promise((resolve) => setTimeout(resolve, 100)); // the last chunk is on its way
  await context.close();
}

const [collector, views, name, out] = process.argv.slice(2);
const which = builds.find((build) => build.name == name);
if (!which || !out) throw new Error('node visit.js COLLECTOR VIEWS BUILD OUT');
const sites = [];
for (const [release, patch] of [['A'], ['B', 'app-next.patch']]) {
  const folder = await copyApp(which, `visit-${release}`, patch);
  const dist = await build(which, folder);
  await cp(dist, join(out, release), { recursive: true });
  sites.push(await serve(await documentOf(which, folder, dist, collector, release), dist));
}
const browser = await launch();
for (let i = 0; i < Number(views); i++) for (const { url } of sites) await visit(browser, url);
await browser.close();
for (const { server } of sites) server.close();
