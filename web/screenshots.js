// node screenshots.js
//
// Takes the screenshots in docs/images, of the shop of `ingest --demo`. `make screenshots` builds
// the requirements.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { launch } from '../test/chromium/launch.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const images = join(root, 'docs/images');

/** The screenshots: a page of the dashboard, its height in CSS pixels, and the theme. */
const pictures = [
  { name: 'overview', path: '', height: 860, theme: 'light' },
  { name: 'page', path: 'page?page=/products', height: 1180, theme: 'light' },
  {
    name: 'compare',
    path: 'compare?page=/products&release=2.5.0&compare_release=2.4.0&tab=flame',
    height: 980,
    theme: 'dark',
  },
];

/** Returns the address of the dashboard when the daemon accepts requests. */
async function addressOf(daemon) {
  for await (const line of createInterface({ input: daemon.stderr })) {
    const found = /msg=listening .*private=(\S+)/.exec(line);
    if (found) return `http://${found[1]}`;
  }
  throw new Error('ingest did not start');
}

const daemon = spawn(join(root, 'bin/ingest'), ['--demo', '--listen', '127.0.0.1:0', '--query-listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
const ended = once(daemon, 'exit');
try {
  const url = await addressOf(daemon);
  daemon.stderr.resume();
  await mkdir(images, { recursive: true });
  const browser = await launch(chromium);
  for (const { name, path, height, theme } of pictures) {
    const page = await browser.newPage({
      viewport: { width: 1280, height },
      colorScheme: theme,
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    await page.goto(`${url}/${path}`);
    await page.waitForLoadState('networkidle');
    if (!path)
      await page.locator('.attention', { hasText: 'budget blown' }).filter({ hasText: 'was edited in' }).waitFor();
    await page.waitForTimeout(1000); // for the last drawing
    await page.screenshot({ path: join(images, `${name}.png`) });
    console.log(`docs/images/${name}.png`);
  }
  await browser.close();
} finally {
  daemon.kill('SIGTERM');
  await ended;
}
