import type { Visit } from './loader.js';
/** @import { Visit } from './loader.js' */
/** Whether the page is hidden. A form or an image may have that name, so it is not read from the document itself. */
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
 * Calls a function for each event of the window until the script is stopped; once, however often it is added.
 * @param {Visit} visit
 * @param {string} type
 * @param {(event: any) => void} work
 * @param {boolean} [capture]
 */
export declare function listen({ $listens: all, $stop: { signal } }: Visit, type: string, work: (event: any) => void, capture?: boolean): void;
/**
 * Calls back for each performance entry of some types, in order of their ends, also for those that were there before. Types that the
 * browser does not have are left out. Returns a function that calls back at once for those that it has not yet delivered.
 * @param {Visit} visit
 * @param {Record<string, (entry: any) => void>} takes by type; events from 40 ms on
 * @param {() => number} since when those that are taken began
 */
export declare function observe(visit: Visit, takes: Record<string, (entry: any) => void>, since?: () => number): () => void;
