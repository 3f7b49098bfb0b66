import type { Visit } from './loader.js';
/** @import { Span } from './encodeTrace.js' */
/** @import { Interaction } from './interactions.js' */
/** @import { Visit } from './loader.js' */
/**
 * Notes as spans of the label `phase` what the page view is at: before-lcp, load until 2 s after the load
 * event, interaction from an input to the next paint, slow-interaction if that took 200 ms, background
 * while the page is hidden. Where several overlap, the one that began last holds. Of interactions it
 * notes which it was, its parts, and the time until what it has started is painted, if that is later. What the
 * site has marked with elementtiming or containertiming becomes a feature, from the beginning of the page to its first
 * paint.
 * @param {Visit} visit
 */
export declare function phases(visit: Visit): void;
