import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after } from 'node:test';
import { chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser;
after(async () => (await browser)?.close());

/**
 * Opens a page of its own browser context. Problems are errors of its scripts, what they
 * log as errors, and requests for anything but files.
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function open(options) {
  if (!browser) {
    const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));
    // A viewer that nothing opened is a viewer that was not tested.
    assert.ok(executablePath, `there is no Chromium at ${places.join(', ')} or $CHROMIUM`);
    browser = chromium.launch({ executablePath, args: ['--no-sandbox'] });
  }
  const context = await (await browser).newContext(options);
  const page = await context.newPage();
  /** @type {string[]} */
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('request', (request) => /^(file|data|blob|about):/.test(request.url()) || problems.push(request.url()));
  return { page, problems };
}
