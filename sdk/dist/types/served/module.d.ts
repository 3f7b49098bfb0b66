import type { Options } from '../loader.js';
/** @import { Options } from '../loader.js' */
/** The loader as served by the collector, from which it loads the parts. */
export { keep, stop } from '../loader.js';
export { feature, page } from '../spans.js';
/** @param {Options} options */
export declare const start: (options: Options) => void;
