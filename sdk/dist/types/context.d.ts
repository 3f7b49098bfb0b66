import type { View, Visit } from './loader.js';
/** @import { Interaction } from './interactions.js' */
/** @import { View, Visit } from './loader.js' */
/** @import { Span } from './encodeTrace.js' */
/** How the document was loaded. */
export declare const loading: PerformanceNavigationTiming;
/**
 * Labels for the device and for how the visitor came here, coarse enough for very many to share them.
 * @param {View} view
 */
export declare function labels({ $event: event }: View): {
    device: string;
    connection: string | undefined;
    navigation: string;
    phase: string;
};
/**
 * Notes as spans of the label `phase` what the page view is at: before-lcp, load until 2 s after the load
 * event, interaction from an input to the next paint, slow-interaction if that took 200 ms, background
 * while the page is hidden. Where several overlap, the one that began last holds. Of interactions it
 * notes which it was, its parts, and the time until what it has started is painted, if that is later. What the
 * site has marked with elementtiming or containertiming becomes a feature, from the beginning of the page to its first
 * paint. Returns a function that notes what is not noted yet.
 * @param {Visit} visit
 * @param {() => number} [lcp] when the largest contentful paint was, 0 if it was not yet
 */
export declare function phases(visit: Visit, lcp?: () => number): () => void;
/**
 * Calls back for each performance entry of some types, in order of their ends, also for those that were there before. Types that the
 * browser does not have are left out. Returns a function that calls back at once for those that it has not yet delivered.
 * @param {Visit} visit
 * @param {Record<string, (entry: any) => void>} takes by type; events from 40 ms on
 * @param {() => number} since when those that are taken began
 */
export declare function observe(visit: Visit, takes: Record<string, (entry: any) => void>, since?: () => number): () => void;
