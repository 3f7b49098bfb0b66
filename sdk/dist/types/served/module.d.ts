import type { Options } from '../loader.js';
/** @import { Options } from '../loader.js' */
/** The loader as the collector serves it: it loads the parts from there. */
export { keep, stop } from '../loader.js';
export { feature, page } from '../spans.js';
/** @param {Options} options */
export declare const start: (options: Options) => void;
