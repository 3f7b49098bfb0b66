import { start as begin, visit } from './loader.js';

/** @import { Options } from './loader.js' */

/** The loader for bundlers: it imports all else where a page view is chosen. */

export { keep, stop } from './loader.js';
export { feature, page } from './spans.js';

/**
 * Begins to profile this page view, if it is chosen. With `recorder` it keeps the last seconds, and
 * sends them when something bad happens.
 * @param {Options} options
 */
export const start = (options) =>
  begin(options, () =>
    (self.requestIdleCallback ?? setTimeout)(
      async () => (await import('./rest.mjs')).default(visit), // rest.js, built
      { timeout: 1000 },
    ),
  );
