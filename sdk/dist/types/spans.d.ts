/** @import { Span } from './encodeTrace.js' */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Span } from './encodeTrace.js';
/** Time of the page in ms, as all times of the browser. */
export declare const now: () => number;
/** How many spans are kept: the server takes 1,000 for a trace. */
export declare const most = 800;
/**
 * Returns a function that does the same and never throws: an error of ours, or of what a page has patched, must not
 * become one of the page. Everything that a browser or a page calls is guarded, but for `feature`, which throws what
 * its work throws.
 * @template {any[]} A
 * @template R
 * @param {(...args: A) => R} work
 * @returns {(...args: A) => R | undefined}
 */
export declare const guard: <A extends any[], R>(work: (...args: A) => R) => (...args: A) => R | undefined;
/**
 * What all copies of the script on a page share, whatever their versions: spans, pages, and the options of the one that
 * has begun.
 * @type {[Span[], Span[], object?]}
 */
export declare const shared: [Span[], Span[], object?];
/**
 * The spans of features and labels that a trace may still need, oldest first. Those that are not over
 * end at Infinity.
 */
export declare const spans: Span[];
/** Those of pages, which cover all time. The last one is shown. There is always one. */
export declare const pages: Span[];
/** @type {(text: string, length: number) => string} the beginning of a text, without half a character at its end */
export declare const head: (text: string, length: number) => string;
/**
 * The longest name that is sent: a longer one ends with an ellipsis. It is what the server keeps.
 * @param {unknown} text
 */
export declare const cut: (text: unknown) => string;
export declare function feature<T>(name: string, work: () => T): T;
export declare function feature(name: string): {
    end(): void;
} & Disposable;
/**
 * Says which page is shown, as a route of an application of one page is: its path, or better its
 * pattern, such as "/user/:id". Changes of the URL are seen without that; a name that is given within
 * 50 ms of one takes its place.
 * @param {string} name what is no text becomes one
 */
export declare function page(name: string): void;
