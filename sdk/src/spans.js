/** @import { Span } from './encodeTrace.js' */

/** Time of the page in ms, as all times of the browser. */
export const now = () => performance.now();

/**
 * The spans of features and labels that a trace may still need, oldest first. Those that are not over
 * end at Infinity.
 * @type {Span[]}
 */
export const spans = [];

/**
 * Those of pages, which cover all time.
 * @type {Span[]}
 */
export const pages = [];

/**
 * Begins a span. Of more than 800 the oldest is forgotten: the server takes 1,000 for a trace.
 * @param {Span[2]} kind
 * @param {string} name
 */
export function span(kind, name, start = now(), end = Infinity) {
  /** @type {Span} */
  const added = [start, end, kind, name];
  if (spans.push(added) > 800) spans.shift();
  return added;
}

/**
 * Says that a feature is at work, and so cuts its time out of the page's. Without `work` it returns a
 * span that lasts until its `end()`, or as long as a `using` declaration does. With `work` it calls
 * that and returns what it returns; the feature is at work until then, or until a promise is settled.
 * @template T
 * @overload
 * @param {string} name such as "search"
 * @param {() => T} work
 * @returns {T}
 */
/**
 * @overload
 * @param {string} name
 * @returns {{end(): void} & Disposable}
 */
/**
 * @param {string} name
 * @param {() => any} [work]
 */
export function feature(name, work) {
  const added = span(1, name);
  const end = () => {
    added[1] = Math.min(added[1], now());
  };
  if (!work) return { end, [Symbol.dispose]: end };
  let result;
  try {
    result = work();
  } finally {
    if (!result?.finally) end();
  }
  return result?.finally ? result.finally(end) : result;
}

/**
 * The page that is shown.
 * @type {Span}
 */
export let shown;
let changed = 0; // time of the last change of it

/**
 * Says which page is shown, as a route of an application of one page is: its path, or better its
 * pattern, such as "/user/:id". Changes of the URL are seen without that; a name that is given within
 * 50 ms of one takes its place.
 * @param {string} name
 */
export function page(name) {
  if (shown && now() - changed < 50) shown[3] = name;
  else if (shown?.[3] != name) {
    changed = now();
    const before = shown;
    pages.push((shown = [before ? changed : 0, Infinity, 0, name]));
    if (before) before[1] = changed;
  }
}
