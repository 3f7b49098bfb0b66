export type ProfilerTrace = {
    /**
     * URLs of scripts
     */
    resources: string[];
    frames: {
        name: string;
        resourceId?: number;
        line?: number;
        column?: number;
    }[];
    stacks: {
        frameId: number;
        parentId?: number;
    }[];
    /**
     * times in ms
     */
    samples: {
        timestamp: number;
        stackId?: number;
        marker?: string;
    }[];
};
export type Span = [start: number, end: number, kind: 0 | 1 | 2, name: string];
export type Context = {
    /**
     * path
     */
    page: string;
    /**
     * up to 16 random bytes
     */
    $viewId: Uint8Array;
    /**
     * number of this trace in its page view, from 0
     */
    $chunk: number;
    /**
     * performance.timeOrigin
     */
    timeOrigin: number;
    /**
     * profiler.sampleInterval
     */
    $interval: number;
    /**
     * probability that any moment of the page view is profiled; 0: unknown
     */
    $share: number;
    release?: string;
    environment?: string;
    /**
     * missing and empty values are skipped; long ones are
     * truncated, like names of spans
     */
    labels: Record<string, unknown>;
    $spans: Span[];
};
/**
 * The result of the JS Self-Profiling API: https://wicg.github.io/js-self-profiling/
 * @typedef {object} ProfilerTrace
 * @property {string[]} resources URLs of scripts
 * @property {{name: string, resourceId?: number, line?: number, column?: number}[]} frames
 * @property {{frameId: number, parentId?: number}[]} stacks
 * @property {{timestamp: number, stackId?: number, marker?: string}[]} samples times in ms
 */
/**
 * A time range of a page (kind 0), of a feature (1) or of a label (2; the name is `key=value`).
 * Times are in the clock of performance.now().
 * @typedef {[start: number, end: number, kind: 0 | 1 | 2, name: string]} Span
 */
/**
 * The context of a trace. Times are in ms.
 * @typedef {object} Context
 * @property {string} page path
 * @property {Uint8Array} $viewId up to 16 random bytes
 * @property {number} $chunk number of this trace in its page view, from 0
 * @property {number} timeOrigin performance.timeOrigin
 * @property {number} $interval profiler.sampleInterval
 * @property {number} $share probability that any moment of the page view is profiled; 0: unknown
 * @property {string} [release]
 * @property {string} [environment]
 * @property {Record<string, unknown>} labels missing and empty values are skipped; long ones are
 *   truncated, like names of spans
 * @property {Span[]} $spans
 */
/**
 * Encodes a trace as a document of the binary trie format, version 1: see docs/format.md. The Go
 * package encode writes the same bytes for the same trace, except that it keeps stacks without
 * samples.
 * @param {ProfilerTrace} trace
 * @param {Context} context
 * @param {() => number[]} cost called after everything else is encoded: µs to start, stop and
 *   encode, bytes sent, traces dropped
 */
export declare function encodeTrace(trace: ProfilerTrace, context: Context, cost: () => number[]): Uint8Array<ArrayBuffer>;
