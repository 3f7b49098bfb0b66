// Starts the browser of all tests and measurements.

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

// Without this feature disabled, each window renders two suggestion lists of the address bar, which
// are never shown: 1.5 s of CPU time for each browser context. The last switch replaces
// Playwright's, so it includes the features that keep the network quiet.
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
 * Starts Chromium like a visitor's, but without windows.
 * @template B
 * @param {{ launch(options: object): Promise<B> }} chromium of Playwright
 * @param {{ args?: string[], [option: string]: unknown }} [options] for Playwright; args are additional switches
 * @returns {Promise<B>}
 */
export function launch(chromium, { args = [], ...options } = {}) {
  assert.ok(executablePath, 'there is no Chromium: run make setup, or set CHROMIUM=/path/to/chromium');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', `--disable-features=${without.join(',')}`, ...args], // Chromium does not run as root with a sandbox
    ...options,
  });
}
