/** @import { Span } from './encodeTrace.js' */
import type { Span } from './encodeTrace.js';
/** Time of the page in ms, as all times of the browser. */
export declare const now: () => number;
/**
 * The spans of features and labels that a trace may still need, oldest first. Those that are not over
 * end at Infinity.
 * @type {Span[]}
 */
export declare const spans: Span[];
/**
 * Those of pages, which cover all time.
 * @type {Span[]}
 */
export declare const pages: Span[];
/**
 * Begins a span. Of more than 800 the oldest is forgotten: the server takes 1,000 for a trace.
 * @param {Span[2]} kind
 * @param {string} name
 */
export declare function span(kind: Span[2], name: string, start?: number, end?: number): Span;
export declare function feature<T>(name: string, work: () => T): T;
export declare function feature(name: string): {
    end(): void;
} & Disposable;
/**
 * The page that is shown.
 * @type {Span}
 */
export declare let shown: Span;
/**
 * Says which page is shown, as a route of an application of one page is: its path, or better its
 * pattern, such as "/user/:id". Changes of the URL are seen without that; a name that is given within
 * 50 ms of one takes its place.
 * @param {string} name
 */
export declare function page(name: string): void;
