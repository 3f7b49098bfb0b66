import type { ProfilerTrace } from './encodeTrace.js';
import type { Field } from './wire.js';
export type Node = [parent: number, frame: number];
/** @type {(ms: number) => number} whole µs */
export declare const micros: (ms: number) => number;
/**
 * Orders rows of three numbers and a text.
 * @param {readonly any[]} a
 * @param {readonly any[]} b
 */
export declare const compareRows: (a: readonly any[], b: readonly any[]) => number;
/**
 * Returns the nodes of a trace's samples, in the order of their first sample and each stack from
 * the root up, and the fields of the samples, 14 to 20. The first node is node 1.
 * @param {ProfilerTrace} trace
 * @param {number} interval in µs
 * @returns {[Node[], Field[]]}
 */
export declare function sampleColumns({ samples, stacks }: ProfilerTrace, interval: number): [Node[], Field[]];
/**
 * Returns the row of each frame of nodes, and the fields of resources, names and frames, 3 to 10.
 * @param {ProfilerTrace} trace
 * @param {Node[]} nodes
 * @returns {[number[], Field[]]}
 */
export declare function frameColumns({ resources, frames }: ProfilerTrace, nodes: Node[]): [number[], Field[]];
/**
 * Returns the fields of nodes, 11 to 13.
 * @param {Node[]} nodes
 * @param {number[]} rowOf each frame
 * @returns {Field[]}
 */
export declare function nodeColumns(nodes: Node[], rowOf: number[]): Field[];
