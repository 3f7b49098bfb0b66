// node screenshots.js [URL SINCE UNTIL]
//
// Takes the pictures in docs/images: of the dashboard at URL between two times, or, without arguments, of a daemon with
// visits of two releases of the app in test/bundlers/, which takes a quarter of an hour. `make screenshots` builds what it needs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { launch } from '../test/chromium/launch.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const images = join(root, 'docs/images');
const views = process.env.VIEWS ?? '130';

/** What is taken: a page of the dashboard without its times, its height in CSS pixels, and the theme. */
const pictures = [
  { name: 'overview', path: '?', height: 720, theme: 'light' },
  { name: 'page', path: 'page?page=/', height: 1180, theme: 'light' },
  { name: 'compare', path: 'compare?page=/&release=B&compare_release=A&tab=flame', height: 980, theme: 'dark' },
];

/** Runs a program of the repository to its end. */
async function run(program, args, options = {}) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', ...options });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

/** Starts a daemon with a new store; resolves with its addresses when it takes requests. */
async function startDaemon(data) {
  const args = ['--data', data, '--listen', '127.0.0.1:0', '--query-listen', '127.0.0.1:0'];
  const child = spawn(join(root, 'bin/ingest'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of createInterface({ input: child.stderr })) {
    const found = /msg=listening public=(\S+) private=(\S+)/.exec(line);
    if (!found) continue;
    child.stderr.resume();
    return { child, collector: `http://${found[1]}`, address: found[2] };
  }
  throw new Error('ingest did not start');
}

/** Visits two releases and uploads the names of their functions, then takes the pictures. */
async function visitAndTake() {
  const folder = await mkdtemp(join(tmpdir(), 'fieldtrie-screenshots-'));
  const { child, collector, address } = await startDaemon(join(folder, 'data'));
  try {
    const since = new Date();
    const builds = join(folder, 'builds');
    await run('node', ['visit.js', collector, views, 'app-webpack-terser', builds], { cwd: join(root, 'test/bundlers') });
    for (const release of ['A', 'B']) {
      await run(join(root, 'bin/upload'), ['--addr', address, '--release', release, join(builds, release)]);
    }
    await take(`http://${address}`, since.toISOString(), new Date().toISOString());
  } finally {
    child.kill();
    await once(child, 'exit');
    await rm(folder, { recursive: true });
  }
}

/** Takes the pictures. */
async function take(url, since, until) {
  await mkdir(images, { recursive: true });
  const browser = await launch(chromium);
  for (const { name, path, height, theme } of pictures) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: theme, locale: 'en-GB', timezoneId: 'UTC' });
    await page.goto(`${url}/${path}&since=${since}&until=${until}`);
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(500); // what is drawn last
    await page.screenshot({ path: join(images, `${name}.png`) });
    console.log(`docs/images/${name}.png`);
  }
  await browser.close();
}

const [url, since, until] = process.argv.slice(2);
await (url ? take(url, since, until) : visitAndTake());
