import { start as begin, visit } from './loader.js';
import { profile } from './profile.js';

/** @import { Options } from './loader.js' */

/** The core in one file: no Web Vitals, no flight recorder, and time without a stack is not split. */

export { stop } from './loader.js';
export { feature, page } from './spans.js';

/**
 * Begins to profile this page view, if it is chosen.
 * @param {Options} options
 */
export const start = (options) => begin(options, () => profile(visit));
