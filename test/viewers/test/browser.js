import { after } from 'node:test';
import { chromium } from 'playwright-core';
import { launch } from '../../chromium/launch.mjs';

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser;
after(async () => (await browser)?.close());

/**
 * Opens a page of its own browser context. Problems are errors of its scripts, messages that they
 * log as errors, and requests other than for files.
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function open(options) {
  browser ??= launch(chromium);
  const context = await (await browser).newContext(options);
  const page = await context.newPage();
  /** @type {string[]} */
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('request', (request) => /^(file|data|blob|about):/.test(request.url()) || problems.push(request.url()));
  return { page, problems };
}
