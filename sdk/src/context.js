import { interactions, partsOf } from './interactions.js';
import { most, now } from './spans.js';

/** @import { Interaction } from './interactions.js' */
/** @import { View, Visit } from './loader.js' */
/** @import { Span } from './encodeTrace.js' */

/** How the document was loaded. */
export const loading = /** @type {PerformanceNavigationTiming} */ (performance.getEntriesByType('navigation')[0] ?? {});

/**
 * Labels for the device and for how the visitor came here, coarse enough for very many to share them.
 * @param {View} view
 */
export function labels({ $event: event }) {
  const { hardwareConcurrency, deviceMemory = 4, userAgentData, connection } = navigator;
  const size = Math.min(hardwareConcurrency, deviceMemory);
  return {
    device: (userAgentData?.mobile ? 'mobile-' : 'desktop-') + (size < 4 ? 'low' : size < 8 ? 'mid' : 'high'),
    connection: connection?.effectiveType,
    navigation: event?.persisted ? 'bfcache' : loading.activationStart ? 'prerender' : loading.type,
    phase: 'idle', // where no span says otherwise
  };
}

/**
 * Notes as spans of the label `phase` what the page view is at: before-lcp, load until 2 s after the load
 * event, interaction from an input to the next paint, slow-interaction if that took 200 ms, background
 * while the page is hidden. Where several overlap, the one that began last holds. Of interactions it
 * notes which it was, and its parts. Returns a function that notes what is not noted yet.
 * @param {Visit} visit
 * @param {() => number} [lcp] when the largest contentful paint was, 0 if it was not yet
 */
export function phases(visit, lcp) {
  const { $spans: spans } = visit;
  const add = (/** @type {string} */ name, start = now(), end = Infinity) => {
    /** @type {Span} */
    const added = [start, end, 2, name];
    if (spans.push(added) > most) spans.shift();
    return added;
  };
  const before = add('phase=before-lcp', 0, 0);
  const load = add('phase=load', 0);
  let background = load;
  const look = () => {
    if (document.hidden) background = add('phase=background');
    else background[1] = now();
  };
  look();
  addEventListener('visibilitychange', look, visit.$stop);

  const interactionOf = interactions();
  /** @type {[Interaction, Span[]]} the last one, and its spans */
  let last;
  const flush = observe(visit, { type: 'event', durationThreshold: 40 }, (entry) => {
    const of = interactionOf(entry);
    if (of && of != last?.[0]) last = [of, [0, 0, 0, 0, 0].map((never) => add('', never, never))];
    if (!last) return;
    const [{ $name: name, $start: start, $ms: ms }, noted] = last;
    const [delay, processing] = partsOf(last[0]);
    const [begun, done, end] = [start + delay, start + delay + processing, start + ms];
    [
      [start, end, `phase=${ms < 200 ? '' : 'slow-'}interaction`],
      [start, end, 'interaction=' + name],
      [start, begun, 'part=input-delay'],
      [begun, done, 'part=processing'],
      [done, end, 'part=presentation'],
    ].forEach(([start, end, name], i) => Object.assign(noted[i], [start, end, 2, name]));
  });
  return () => {
    flush();
    before[1] = load[0] = lcp?.() ?? 0;
    load[1] = Math.max(load[0], (loading.loadEventEnd || Infinity) + 2000);
  };
}

/**
 * Calls back for each performance entry of a type, also for those that were there before. Returns a
 * function that calls back at once for those that the browser has not yet delivered.
 * @param {Visit} visit
 * @param {PerformanceObserverInit} options
 * @param {(entry: any) => void} callback
 */
export function observe(visit, options, callback) {
  const observer = new PerformanceObserver((list) => list.getEntries().forEach(callback));
  const { signal } = visit.$stop;
  if (!signal.aborted) observer.observe({ ...options, buffered: true }); // a part may be loaded after stop()
  const flush = () => observer.takeRecords().forEach(callback);
  signal.addEventListener('abort', () => {
    flush();
    observer.disconnect();
  });
  return flush;
}
