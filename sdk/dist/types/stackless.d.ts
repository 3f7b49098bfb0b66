import type { Visit } from './loader.js';
/** @import { Visit } from './loader.js' */
/**
 * Makes the visit classify samples without a stack, using the long animation frames of the page:
 * https://w3c.github.io/long-animation-frames/
 *
 * Samples in a script of another host get the frame `(third-party HOST)`, samples after the start
 * of style and layout the marker layout, and samples in no long frame the marker idle: then the
 * main thread had no task over 50 ms. Markers of the browser itself are kept.
 * @param {Visit} visit
 */
export default function stackless(visit: Visit): void;
