import type { Visit } from './loader.js';
/** @import { Visit } from './loader.js' */
/**
 * Lets the visit say what is known of the samples without a stack, by the long animation
 * frames of the page: https://w3c.github.io/long-animation-frames/
 *
 * Samples in a script of another host get the frame `(third-party HOST)`, samples after the begin of
 * style and layout the marker layout, and samples in no long frame the marker idle: then the main
 * thread had no task over 50 ms. Markers of the browser itself stay.
 * @param {Visit} visit
 */
export default function stackless(visit: Visit): void;
