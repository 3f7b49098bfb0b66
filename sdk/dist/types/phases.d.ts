import type { Visit } from './loader.js';
/** @import { Span } from './encodeTrace.js' */
/** @import { Interaction } from './interactions.js' */
/** @import { Visit } from './loader.js' */
/**
 * Records the phases of the page view as spans of the label `phase`: before-lcp, load until 2 s
 * after the load event, interaction from an input to the next paint, slow-interaction if that took
 * 200 ms, background while the page is hidden. Where several overlap, the one that started last
 * applies. For interactions it records the name, the parts, and the time until the content that
 * they started is painted, if that is later. Elements that the site marked with elementtiming or
 * containertiming become features, from the start of the page to their first paint.
 * @param {Visit} visit
 */
export declare function phases(visit: Visit): void;
