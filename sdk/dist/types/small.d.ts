/** @import { Options } from './loader.js' */
/** The loader for bundlers: it imports all else where a page view is chosen. */
export { keep } from './loader.js';
export { feature, page } from './spans.js';
/**
 * Begins to profile this page view, if it is chosen. With `recorder` it keeps the last seconds, and
 * sends them when something bad happens. On a server it does nothing, like all functions here.
 * @param {Options} options
 */
export declare const start: (options: any) => void | undefined;
/** Ends profiling for this document and sends what there is. Nothing is left: no listener, observer or timer. */
export declare const stop: () => void | undefined;
