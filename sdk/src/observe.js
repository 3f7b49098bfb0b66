import { guard } from './spans.js';

/** @import { Visit } from './loader.js' */

/**
 * Whether the page is hidden. Read through the prototype, because a form or an image may have this
 * name.
 */
export const hidden = () => Reflect.get(Document.prototype, 'hidden', document);

/**
 * Appends an item to a list that keeps at most `most`, and returns the item.
 * @template T
 * @param {T[]} list
 * @param {T} item
 * @param {number} most
 */
export const append = (list, item, most) => {
  if (list.push(item) > most) list.shift();
  return item;
};

/**
 * Calls a function for each event of the window until the script is stopped. Repeated calls add it
 * only once.
 * @param {Visit} visit
 * @param {string} type
 * @param {(event: any) => void} work
 * @param {boolean} [capture]
 */
export function listen({ $listens: all, $stop: { signal } }, type, work, capture) {
  if (all.has(work)) return;
  const guarded = guard(work);
  const add = () => addEventListener(type, guarded, { capture, signal });
  all.set(work, add);
  add();
}

/**
 * Calls back for each performance entry of some types, ordered by their ends, including earlier
 * ones. Types that the browser does not support are skipped. Returns a function that immediately
 * delivers the remaining entries.
 * @param {Visit} visit
 * @param {Record<string, (entry: any) => void>} takes by type; only events of at least 40 ms
 * @param {() => number} since minimum start time of the entries
 */
export function observe(visit, takes, since = () => 0) {
  const takeAll = (/** @type {PerformanceEntryList} */ entries) =>
    entries
      .filter(({ startTime }) => startTime >= since())
      .sort((a, b) => a.startTime + a.duration - b.startTime - b.duration)
      .forEach(guard((entry) => takes[entry.entryType](entry))); // an exception must not drop the other entries
  const observer = new PerformanceObserver(guard((list) => takeAll(list.getEntries())));
  const { signal } = visit.$stop;
  for (const type of PerformanceObserver.supportedEntryTypes)
    // a part may be loaded after stop()
    if (takes[type] && !signal.aborted) observer.observe({ type, buffered: true, durationThreshold: 40 });
  const flush = () => takeAll(observer.takeRecords());
  signal.addEventListener('abort', () => {
    guard(flush)();
    observer.disconnect();
  });
  return flush;
}
