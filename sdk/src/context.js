import { most, now } from './spans.js';

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
 * Names what a visitor has used, without what it says: as the site has named it, else by tag and id or
 * role.
 * @param {Element} [target] none if it has gone
 */
function nameOf(target) {
  /** @type {HTMLElement | null | undefined} */
  const named = target?.closest?.('[data-fieldtrie]');
  const { localName = '', id, role } = target ?? {};
  return (named?.dataset.fieldtrie || localName + (id ? '#' + id : role ? `[${role}]` : '')).slice(0, 60);
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

  let last = 0; // interaction
  let [longest, start, end, from, until] = [0, 0, 0, 0, 0];
  /** @type {Span[]} */
  let noted;
  const flush = observe(visit, { type: 'event', durationThreshold: 40 }, (entry) => {
    const { interactionId, name, startTime, duration, processingStart, processingEnd, target } = entry;
    if (!interactionId) return;
    // Each key or click has several entries. The longest is that of the interaction, and those that end with
    // the same paint were worked on one after the other. Their times are in steps of 8 ms.
    if (interactionId != last) {
      last = interactionId;
      longest = end = 0;
      noted = [0, 0, 0, 0, 0].map((never) => add('', never, never));
    }
    const together = Math.abs(startTime + duration - end) < 9;
    if (!together && duration < longest) return;
    from = together ? Math.min(from, processingStart) : processingStart;
    until = together ? Math.max(until, processingEnd) : processingEnd;
    if (duration > longest) {
      longest = duration;
      start = startTime;
      end = start + duration;
    }
    const key = /^key/.test(name) ? 'key ' : 'pointer ';
    // The paint may seem to come before the work is done, as its time alone is in steps.
    const [begun, done] = [from, until].map((time) => Math.max(start, Math.min(time, end)));
    [
      [start, end, `phase=${longest < 200 ? '' : 'slow-'}interaction`],
      [start, end, 'interaction=' + key + nameOf(target)],
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
