import { now, span } from './spans.js';

/** How the document was loaded. */
export const loading = /** @type {PerformanceNavigationTiming} */ (performance.getEntriesByType('navigation')[0] ?? {});

/**
 * Labels for the device and for how the visitor came here, coarse enough for very many to share them.
 * @param {boolean} [restored] from the back/forward cache
 */
export function labels(restored) {
  const { hardwareConcurrency, deviceMemory = 4, userAgentData, connection } = navigator;
  const size = Math.min(hardwareConcurrency, deviceMemory);
  return {
    device: (userAgentData?.mobile ? 'mobile-' : 'desktop-') + (size < 4 ? 'low' : size < 8 ? 'mid' : 'high'),
    connection: connection?.effectiveType,
    navigation: restored ? 'bfcache' : loading.activationStart ? 'prerender' : loading.type,
    phase: 'idle', // where no span says otherwise
  };
}

/**
 * Notes as spans of the label `phase` what the page view is at: load until 2 s after the load event,
 * interaction from an input to the next paint, background while the page is hidden. Where several
 * overlap, the one that began last holds. Returns a function that notes what is not noted yet.
 */
export function phases() {
  const load = span(2, 'phase=load', 0);
  let background = load;
  const look = () => {
    if (document.hidden) background = span(2, 'phase=background');
    else background[1] = now();
  };
  look();
  addEventListener('visibilitychange', look);
  let last = load;
  const flush = observe({ type: 'event', durationThreshold: 16 }, ({ startTime, duration, interactionId }) => {
    // Each key or click has several entries, which overlap.
    if (!interactionId) return;
    if (last == load || startTime > last[1]) last = span(2, 'phase=interaction', startTime, 0);
    last[1] = Math.max(last[1], startTime + duration);
  });
  return () => {
    flush();
    load[1] = (loading.loadEventEnd || Infinity) + 2000;
  };
}

/**
 * Calls back for each performance entry of a type, also for those that were there before. Returns a
 * function that calls back at once for those that the browser has not yet delivered.
 * @param {PerformanceObserverInit} options
 * @param {(entry: PerformanceEntry) => void} callback
 */
export function observe(options, callback) {
  const observer = new PerformanceObserver((list) => list.getEntries().forEach(callback));
  observer.observe({ ...options, buffered: true });
  return () => observer.takeRecords().forEach(callback);
}
