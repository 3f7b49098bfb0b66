import { guard } from './spans.js';

/** @import { Visit } from './loader.js' */

/** Whether the page is hidden. A form or an image may have that name, so it is not read from the document itself. */
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
 * Calls a function for each event of the window until the script is stopped; once, however often it is added.
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
      .forEach(guard((entry) => takes[entry.entryType](entry))); // what one throws drops none of the others
  const observer = new PerformanceObserver(guard((list) => takeAll(list.getEntries())));
  const { signal } = visit.$stop;
  for (const type of PerformanceObserver.supportedEntryTypes)
    if (takes[type] && !signal.aborted) observer.observe({ type, buffered: true, durationThreshold: 40 }); // a part may be loaded after stop()
  const flush = () => takeAll(observer.takeRecords());
  signal.addEventListener('abort', () => {
    guard(flush)();
    observer.disconnect();
  });
  return flush;
}
