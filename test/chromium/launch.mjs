// The browser of all tests and measurements.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));

// Without disabling this, each window renders two invisible suggestion lists of the address bar,
// which takes 1.5 s of processor time per browser context. The last switch replaces Playwright's,
// so it must also disable the features that cause network traffic.
const without = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
];

/**
 * Starts Chromium as visitors use it, but without windows.
 * @template B
 * @param {{ launch(options: object): Promise<B> }} chromium of Playwright
 * @param {{ args?: string[], [option: string]: unknown }} [options] for Playwright; args are
 *   further switches
 * @returns {Promise<B>}
 */
export function launch(chromium, { args = [], ...options } = {}) {
  assert.ok(executablePath, 'there is no Chromium: run make setup, or set CHROMIUM=/path/to/chromium');
  return chromium.launch({
    executablePath,
    // as root, it does not run with a sandbox
    args: ['--no-sandbox', `--disable-features=${without.join(',')}`, ...args],
    ...options,
  });
}
