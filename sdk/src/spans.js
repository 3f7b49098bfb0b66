/// <reference lib="esnext.disposable" preserve="true" />
/** @import { Span } from './encodeTrace.js' */

/** Time of the page in ms, on the clock of all browser times. */
export const now = () => performance.now();

/** Maximum number of spans: the server accepts 1,000 for a trace. */
export const most = 800;

/**
 * Returns a function that calls `work` and never throws, so that an error of the script, or of a
 * function that the page has patched, does not become an error of the page. Everything that a
 * browser or a page calls is guarded. `feature` throws only what its work throws.
 * @template {any[]} A
 * @template R
 * @param {(...args: A) => R} work
 * @returns {(...args: A) => R | undefined}
 */
export const guard =
  (work) =>
  (...args) => {
    try {
      return work(...args);
    } catch {}
  };

/**
 * State that all copies of the script on a page share, whatever their versions: spans, pages, and
 * the options of the copy that was started.
 * @type {[Span[], Span[], object?]}
 */
// @ts-expect-error: a name that only the script uses
export const shared = (globalThis.fieldtrie$ ??= [[], [[0, Infinity, 0, '']]]);

/**
 * Spans of features and labels that a trace may still need, oldest first. Open spans end at
 * Infinity.
 */
export const spans = shared[0];

/** Spans of pages, which cover all time. The last one is the current page. There is always one. */
export const pages = shared[1];

/**
 * Truncates a name to the maximum length, with an ellipsis. The server has the same maximum.
 * @param {unknown} text
 */
export const cut = (text) => {
  const all = String(text);
  return all.length > 200 ? all.slice(0, 199) + '…' : all;
};

/**
 * Marks a feature as active, and so attributes this time to it. Without `work` it returns a span
 * that lasts until its `end()`, or the end of a `using` declaration. With `work` it calls the
 * function and returns its result; the feature is active until the function returns, or until its
 * promise is settled. Other objects with `then` are not touched: some are queries, which each call
 * would send.
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
  /** @type {Span} */
  const added = [now(), Infinity, 1, name];
  const end = () => {
    added[1] = Math.min(added[1], now());
  };
  if (spans.push(added) > most) spans.shift();
  if (!work) return { end, [Symbol.dispose]: end };
  /** @type {any} */
  let result;
  try {
    return (result = work());
  } finally {
    guard(() => (result instanceof Promise ? result.then(end, end) : end()))();
  }
}

let changed = 0; // time of the last page change

/**
 * Sets the current page, such as a route of a single-page application: its path, or better its
 * pattern, such as "/user/:id". URL changes are detected automatically; a name set within 50 ms of
 * one replaces it.
 * @param {string} name other values are converted to text
 */
export function page(name) {
  name += '';
  const shown = /** @type {Span} */ (pages.at(-1));
  const time = now();
  if (shown[3] && time - changed > 50) {
    if (shown[3] != name) pages.push([(shown[1] = changed = time), Infinity, 0, name]);
  } else {
    shown[3] = name;
    changed ||= time;
  }
}
