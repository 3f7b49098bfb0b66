import { start as startCore } from './core.js';
import { recorder } from './recorder.js';
import { stackless } from './stackless.js';

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
export const start = ({ recorder: options, ...rest }) =>
  startCore(rest, stackless, options && (() => recorder(options)));
