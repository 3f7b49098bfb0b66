import { chromium } from 'playwright-core';
import { launch as start } from '../../test/chromium/launch.mjs';
import { within } from '../../test/chromium/limits.mjs';
import { Daemon } from './daemon.js';
import { Site } from './site.js';

/** @import { Browser, BrowserContext, Page } from 'playwright-core' */

/** Starts Chromium with the back/forward cache, which Playwright disables by default. */
export const launch = () => start(chromium, { ignoreDefaultArgs: ['--disable-back-forward-cache'] });

/** @type {Promise<Browser> | undefined} */
let browser;

/** Closes the browser that all tests of a process share. */
export const closeBrowser = async () => (await browser)?.close();

/** A daemon, a site, another company's site, and a browser without a history. */
export class Setup {
  /** @type {string[]} errors in pages */
  problems = [];
  /** @type {RegExp[]} */
  #expected = [];
  /** @type {(() => Promise<void>)[]} */
  #closers = [];

  /** @param {string[]} [flags] of the daemon */
  static async start(flags) {
    const setup = new Setup();
    try {
      setup.daemon = await Daemon.start(flags);
      setup.#closers.push(() => setup.daemon.close());
      setup.site = await Site.start(setup.daemon.collector);
      setup.#closers.push(() => setup.site.close());
      setup.third = await Site.start();
      setup.#closers.push(() => setup.third.close());
      await setup.#visit();
    } catch (error) {
      await setup.close();
      throw error;
    }
    return setup;
  }

  /** Starts with the browser of a new visitor. */
  async #visit() {
    browser ??= launch();
    /** @type {BrowserContext} */
    this.context = await (await browser).newContext();
    const context = this.context;
    this.#closers.push(() => context.close());
    // Violations are reported here even if they are not in the console.
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) => {
        console.error(`violation of ${event.violatedDirective}: ${event.blockedURI}`);
      });
    });
    context.on('page', (page) => {
      page.on('pageerror', (error) => this.#note(`error: ${error.stack ?? error}`));
      page.on('crash', () => this.#note('crash'));
      page.on('console', (message) => {
        if (message.type() == 'error') this.#note(`console: ${message.text()}`);
      });
    });
  }

  /** @param {string} problem */
  #note(problem) {
    if (!this.#expected.some((expected) => expected.test(problem))) this.problems.push(problem);
  }

  /** @param {RegExp} problem that is not an error in this test */
  expect = (problem) => {
    this.#expected.push(problem);
  };

  /**
   * Opens a page in a new tab.
   * @param {string} url
   * @param {(argument: any) => void} [init] runs before any script of the page
   * @param {any} [argument] of init
   */
  open = async (url, init, argument) => {
    const page = await this.context.newPage();
    if (init) await page.addInitScript(init, argument);
    await page.goto(url);
    return page;
  };

  /** Closes everything, even if some of it fails to close. */
  async close() {
    const close = this.#closers.pop();
    if (!close) return;
    try {
      await within(60_000, `${close}`, close());
    } finally {
      await this.close();
    }
  }
}

/**
 * Makes a page paint. Otherwise Chromium may not report it as idle after a click, and the SDK would
 * wait 5 s.
 * @param {Page} page
 */
export const paint = (page) =>
  page.evaluate(() => {
    requestAnimationFrame(() => requestAnimationFrame(() => {}));
  });

/**
 * Ends profiling, so that all data is sent while the page is open.
 * @param {Page} page
 */
export async function stop(page) {
  await page.evaluate(() => globalThis.fieldtrie.stop());
  await paint(page);
}

/**
 * For open(): the first profilers of a page have small buffers. At 10 ms a buffer of 100 is full
 * after about a second. `stopped` is the number of stopped profilers.
 * @param {{count: number, size: number}} which
 */
export const smallBuffers = ({ count, size }) => {
  const Real = globalThis.Profiler;
  globalThis.stopped = 0;
  globalThis.Profiler = class extends Real {
    constructor(options) {
      super({ ...options, maxBufferSize: count-- > 0 ? size : options.maxBufferSize });
    }
    stop() {
      globalThis.stopped++;
      return super.stop();
    }
  };
};
