/** @import { Span } from './encodeTrace.js' */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Span } from './encodeTrace.js';
/** Time of the page in ms, on the clock of all browser times. */
export declare const now: () => number;
/** Maximum number of spans: the server accepts 1,000 for a trace. */
export declare const most = 800;
/**
 * Returns a function that calls `work` and never throws, so that an error of the script, or of a
 * function that the page has patched, does not become an error of the page. Everything that a
 * browser or a page calls is guarded. `feature` throws only what its work throws.
 * @template {any[]} A
 * @template R
 * @param {(...args: A) => R} work
 * @returns {(...args: A) => R | undefined}
 */
export declare const guard: <A extends any[], R>(work: (...args: A) => R) => (...args: A) => R | undefined;
/**
 * State that all copies of the script on a page share, whatever their versions: spans, pages, and
 * the options of the copy that was started.
 * @type {[Span[], Span[], object?]}
 */
export declare const shared: [Span[], Span[], object?];
/**
 * Spans of features and labels that a trace may still need, oldest first. Open spans end at
 * Infinity.
 */
export declare const spans: Span[];
/** Spans of pages, which cover all time. The last one is the current page. There is always one. */
export declare const pages: Span[];
/**
 * Truncates a name to the maximum length, with an ellipsis. The server has the same maximum.
 * @param {unknown} text
 */
export declare const cut: (text: unknown) => string;
export declare function feature<T>(name: string, work: () => T): T;
export declare function feature(name: string): {
    end(): void;
} & Disposable;
/**
 * Sets the current page, such as a route of a single-page application: its path, or better its
 * pattern, such as "/user/:id". URL changes are detected automatically; a name set within 50 ms of
 * one replaces it.
 * @param {string} name other values are converted to text
 */
export declare function page(name: string): void;
