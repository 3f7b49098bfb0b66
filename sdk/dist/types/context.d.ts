/** How the document was loaded. */
export declare const loading: PerformanceNavigationTiming;
/**
 * Labels for the device and for how the visitor came here, coarse enough for very many to share them.
 * @param {boolean} [restored] from the back/forward cache
 */
export declare function labels(restored?: boolean): {
    device: string;
    connection: string | undefined;
    navigation: string;
    phase: string;
};
/**
 * Notes as spans of the label `phase` what the page view is at: load until 2 s after the load event,
 * interaction from an input to the next paint, background while the page is hidden. Where several
 * overlap, the one that began last holds. Returns a function that notes what is not noted yet.
 */
export declare function phases(): () => void;
/**
 * Calls back for each performance entry of a type, also for those that were there before. Returns a
 * function that calls back at once for those that the browser has not yet delivered.
 * @param {PerformanceObserverInit} options
 * @param {(entry: PerformanceEntry) => void} callback
 */
export declare function observe(options: PerformanceObserverInit, callback: (entry: PerformanceEntry) => void): () => void;
