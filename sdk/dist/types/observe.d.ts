/** @import { Visit } from './loader.js' */
import type { Visit } from './loader.js';
/**
 * Calls back for each performance entry of some types, in order of their ends, also for those that were there before. Types that the
 * browser does not have are left out. Returns a function that calls back at once for those that it has not yet delivered.
 * @param {Visit} visit
 * @param {Record<string, (entry: any) => void>} takes by type; events from 40 ms on
 * @param {() => number} since when those that are taken began
 */
export declare function observe(visit: Visit, takes: Record<string, (entry: any) => void>, since?: () => number): () => void;
