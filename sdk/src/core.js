import { start as begin, stop as end, visit } from './loader.js';
import { profile } from './profile.js';
import { guard } from './spans.js';

/** @import { Options } from './loader.js' */

/**
 * The core in one file: without Web Vitals, flight recorder, and classification of time without a
 * stack.
 */

export { feature, page } from './spans.js';

/**
 * Starts to profile this page view, if it is selected. On a server it does nothing, like all
 * functions here.
 */
export const start = guard((/** @type {Options} */ options) => begin(options, () => profile(visit)));

/**
 * Ends profiling for this document and sends the remaining data. It removes all listeners,
 * observers and timers.
 */
export const stop = guard(end);
