/** @import { Options } from './loader.js' */
/** The core in one file: no Web Vitals, no flight recorder, and time without a stack is not split. */
export { feature, page } from './spans.js';
/**
 * Begins to profile this page view, if it is chosen. On a server it does nothing, like all functions here.
 * @param {Options} options
 */
export declare const start: (options: any) => void | undefined;
/** Ends profiling for this document and sends what there is. Nothing is left: no listener, observer or timer. */
export declare const stop: () => void | undefined;
