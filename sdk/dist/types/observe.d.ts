import type { Visit } from './loader.js';
/** @import { Visit } from './loader.js' */
/**
 * Whether the page is hidden. Read through the prototype, because a form or an image may have this
 * name.
 */
export declare const hidden: () => boolean;
/**
 * Appends an item to a list that keeps at most `most`, and returns the item.
 * @template T
 * @param {T[]} list
 * @param {T} item
 * @param {number} most
 */
export declare const append: <T>(list: T[], item: T, most: number) => T;
/**
 * Calls a function for each event of the window until the script is stopped. Repeated calls add it
 * only once.
 * @param {Visit} visit
 * @param {string} type
 * @param {(event: any) => void} work
 * @param {boolean} [capture]
 */
export declare function listen({ $listens: all, $stop: { signal } }: Visit, type: string, work: (event: any) => void, capture?: boolean): void;
/**
 * Calls back for each performance entry of some types, ordered by their ends, including earlier
 * ones. Types that the browser does not support are skipped. Returns a function that immediately
 * delivers the remaining entries.
 * @param {Visit} visit
 * @param {Record<string, (entry: any) => void>} takes by type; only events of at least 40 ms
 * @param {() => number} since minimum start time of the entries
 */
export declare function observe(visit: Visit, takes: Record<string, (entry: any) => void>, since?: () => number): () => void;
