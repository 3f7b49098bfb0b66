/** @import { Visit } from './loader.js' */

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
