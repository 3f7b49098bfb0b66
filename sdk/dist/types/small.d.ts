import type { Options } from './loader.js';
/** @import { Options } from './loader.js' */
/** The loader for bundlers: it imports the rest if a page view is selected. */
export { keep } from './loader.js';
export { feature, page } from './spans.js';
/**
 * Starts to profile this page view, if it is selected. With `recorder` it keeps the last seconds,
 * and sends them when a problem occurs. On a server it does nothing, like all functions here.
 */
export declare const start: (options: Options) => void | undefined;
/**
 * Ends profiling for this document and sends the remaining data. It removes all listeners,
 * observers and timers.
 */
export declare const stop: () => void | undefined;
