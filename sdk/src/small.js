import { start as begin, stop as end, visit } from './loader.js';
import { guard } from './spans.js';

/** @import { Options } from './loader.js' */

/** The loader for bundlers: it imports the rest if a page view is selected. */

export { keep } from './loader.js';
export { feature, page } from './spans.js';

/**
 * Starts to profile this page view, if it is selected. With `recorder` it keeps the last seconds,
 * and sends them when a problem occurs. On a server it does nothing, like all functions here.
 */
export const start = guard((/** @type {Options} */ options) =>
  begin(options, () =>
    (self.requestIdleCallback ?? setTimeout)(
      async () => {
        try {
          (await import('./rest.mjs')).default(visit); // rest.js, built
        } catch {
          visit.$view.$profiler?.stop(); // otherwise it would run until the page is closed
        }
      },
      { timeout: 1000 },
    ),
  ),
);

/**
 * Ends profiling for this document and sends the remaining data. It removes all listeners,
 * observers and timers.
 */
export const stop = guard(end);
