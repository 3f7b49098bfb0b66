import type { Options } from './loader.js';
/** @import { Options } from './loader.js' */
/** The core in one file: no Web Vitals, no flight recorder, and time without a stack is not split. */
export { stop } from './loader.js';
export { feature, page } from './spans.js';
/**
 * Begins to profile this page view, if it is chosen.
 * @param {Options} options
 */
export declare const start: (options: Options) => void;
