import { start as begin, visit } from './loader.js';
import rest from './rest.js';

/** @import { Options } from './loader.js' */

/** Everything in one file. */

export { keep, stop } from './loader.js';
export { feature, page } from './spans.js';

/**
 * Begins to profile this page view, if it is chosen. With `recorder` it keeps the last seconds, and
 * sends them when something bad happens.
 * @param {Options} options
 */
export const start = (options) => begin(options, () => rest(visit));
