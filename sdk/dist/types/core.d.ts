import type { Options } from './loader.js';
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
export declare const start: (options: Options) => void | undefined;
/**
 * Ends profiling for this document and sends the remaining data. It removes all listeners,
 * observers and timers.
 */
export declare const stop: () => void | undefined;
