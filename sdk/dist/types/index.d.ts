import type { Options } from './core.js';
import type { Recorder } from './recorder.js';
/** @import { Options } from './core.js' */
/** @import { Recorder } from './recorder.js' */
export { stop } from './core.js';
export { keep } from './recorder.js';
export { feature, page } from './spans.js';
/**
 * Begins to profile this page view, if it is chosen. With `recorder` it keeps the last seconds, and
 * sends them when something bad happens.
 * @param {Options & {recorder?: Recorder}} options
 */
export declare const start: ({ recorder: options, ...rest }: Options & {
    recorder?: Recorder;
}) => void;
