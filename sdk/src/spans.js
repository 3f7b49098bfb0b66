/// <reference lib="esnext.disposable" preserve="true" />
/** @import { Span } from './encodeTrace.js' */

/** Time of the page in ms, as all times of the browser. */
export const now = () => performance.now();

/** How many spans are kept: the server takes 1,000 for a trace. */
export const most = 800;

/**
 * Returns a function that calls `work` and never throws, so that an error of the script, or of a function that the page
 * has patched, does not become an error of the page. Everything that a browser or a page calls is guarded. `feature`
 * throws only what its work throws.
 * @template {any[]} A
 * @template R
 * @param {(...args: A) => R} work
 * @returns {(...args: A) => R | undefined}
 */
export const guard = (work) => (...args) => {
  try {
    return work(...args);
  } catch {}
};

/**
 * What all copies of the script on a page share, whatever their versions: spans, pages, and the options of the one that
 * has begun.
 * @type {[Span[], Span[], object?]}
 */
export const shared = (/** @type {any} */ (globalThis).fieldtrie$ ??= [[], [[0, Infinity, 0, '']]]);

/**
 * The spans of features and labels that a trace may still need, oldest first. Those that are not over
 * end at Infinity.
 */
export const spans = shared[0];

/** Those of pages, which cover all time. The last one is shown. There is always one. */
export const pages = shared[1];

/** @type {(text: string, length: number) => string} the beginning of a text, without half a character at its end */
export const head = (text, length) => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

/**
 * The longest name that is sent: a longer one ends with an ellipsis. It is what the server keeps.
 * @param {unknown} text
 */
export const cut = (text) => {
  const all = String(text);
  return all.length > 200 ? head(all, 199) + '…' : all;
};

/**
 * Says that a feature is at work, and so cuts its time out of the page's. Without `work` it returns a
 * span that lasts until its `end()`, or as long as a `using` declaration does. With `work` it calls
 * that and returns what it returns; the feature is at work until then, or until a promise is settled. Other objects that
 * have `then` are left alone: some are queries, which are sent each time it is called.
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

let changed = 0; // time of the last change of page

/**
 * Says which page is shown, as a route of an application of one page is: its path, or better its
 * pattern, such as "/user/:id". Changes of the URL are seen without that; a name that is given within
 * 50 ms of one takes its place. 
 * @param {string} name what is no text becomes one
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
