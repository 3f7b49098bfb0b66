import { interactions, nameOf, partsOf } from './interactions.js';
import { cut, most, now } from './spans.js';

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
 * notes which it was, its parts, and the time until what it has started is painted, if that is later. What the
 * site has marked with elementtiming or containertiming becomes a feature, from the beginning of the page to its first
 * paint. Returns a function that notes what is not noted yet.
 * @param {Visit} visit
 * @param {() => number} [lcp] when the largest contentful paint was, 0 if it was not yet
 */
export function phases(visit, lcp) {
  const { $spans: spans, $pages: pages } = visit;
  const add = (/** @type {string} */ name, start = now(), end = Infinity, /** @type {Span[2]} */ kind = 2) => {
    /** @type {Span} */
    const added = [start, end, kind, name];
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

  const [take, find] = interactions();
  const reserve = (/** @type {number} */ count) => Array.from({ length: count }, () => add('', 0, 0));
  const note = (/** @type {Span[]} */ noted, /** @type {[number, number, string][]} */ ...all) =>
    all.forEach(([start, end, name], i) => Object.assign(noted[i], [start, end, 2, name]));
  /** @type {Interaction | undefined} */
  let last;
  /** @type {[time: number, name: string, content?: Span[]][]} the last ones: the browser tells of no others than slow ones what was used */
  let inputs = [];
  for (const type of ['click', 'keydown'])
    addEventListener(
      type,
      ({ timeStamp, target }) => {
        inputs = [[timeStamp, (type == 'click' ? 'pointer ' : 'key ') + nameOf(target)], ...inputs.slice(0, 9)];
      },
      { capture: true, passive: true, signal: visit.$stop.signal },
    );
  const painted = new Set(); // each once, such as the entries of a list that have the same name
  /** @param {any} entry */
  const paint = ({ identifier, startTime, firstRenderTime: end = startTime }) => {
    const start = pages.findLast(([begun]) => begun <= end)?.[0] ?? end;
    const name = cut('before-' + identifier);
    if (identifier && !painted.has(start + name)) add(name, start, end, 1);
    painted.add(start + name);
  };
  const flush = observe(visit, {
    event: (entry) => {
      last = take(entry) ?? last; // an event without an id is of the same frame, or of none that is noted
      if (!last) return;
      const { $name: name, $start: start, $ms: ms } = last;
      const [delay, processing] = partsOf(last);
      const [begun, done, end] = [start + delay, start + delay + processing, start + ms];
      note(
        (last.$noted ??= reserve(5)),
        [start, end, `phase=${ms < 200 ? '' : 'slow-'}interaction`],
        [start, end, 'interaction=' + name],
        [start, begun, 'part=input-delay'],
        [begun, done, 'part=processing'],
        [done, end, 'part=presentation'],
      );
    },
    // What a handler has started, such as a request, may be painted later. The browser follows that.
    'interaction-contentful-paint': ({ interactionId, startTime, largestContentfulPaint }) => {
      const of = inputs.find(([time]) => Math.abs(time - startTime) < 1);
      const known = find(interactionId);
      const start = known ? known.$start + known.$ms : startTime;
      const end = largestContentfulPaint?.renderTime || 0;
      if (of && end > start + 8) note((of[2] ??= reserve(2)), [start, end, 'interaction=' + of[1]], [start, end, 'part=content']);
    },
    element: paint,
    container: paint,
  });
  return () => {
    flush();
    before[1] = load[0] = lcp?.() ?? 0;
    load[1] = Math.max(load[0], (loading.loadEventEnd || Infinity) + 2000);
  };
}

/**
 * Calls back for each performance entry of some types, in order of their ends, also for those that were there before. Types that the
 * browser does not have are left out. Returns a function that calls back at once for those that it has not yet delivered.
 * @param {Visit} visit
 * @param {Record<string, (entry: any) => void>} takes by type; events from 40 ms on
 * @param {() => number} since when those that are taken began
 */
export function observe(visit, takes, since = () => 0) {
  const takeAll = (/** @type {PerformanceEntryList} */ entries) =>
    entries
      .filter(({ startTime }) => startTime >= since())
      .sort((a, b) => a.startTime + a.duration - b.startTime - b.duration)
      .forEach((entry) => takes[entry.entryType](entry));
  const observer = new PerformanceObserver((list) => takeAll(list.getEntries()));
  const { signal } = visit.$stop;
  for (const type of PerformanceObserver.supportedEntryTypes)
    if (takes[type] && !signal.aborted) observer.observe({ type, buffered: true, durationThreshold: 40 }); // a part may be loaded after stop()
  const flush = () => takeAll(observer.takeRecords());
  signal.addEventListener('abort', () => {
    flush();
    observer.disconnect();
  });
  return flush;
}
