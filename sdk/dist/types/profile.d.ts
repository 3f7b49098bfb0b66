import type { RunningProfiler, Visit } from './loader.js';
import type recorder from './recorder.js';
import type stackless from './stackless.js';
export type Mode = (on: boolean, first?: boolean) => void;
export type Parts = {
    stackless?: (then: (part: {
        default: typeof stackless;
    }) => void) => void;
    recorder?: (then: (part: {
        default: typeof recorder;
    }) => void) => void;
};
export type Profiling = {
    $visit: Visit;
    /**
     * starts a profiler, if it can
     */
    $open: (onFull: () => void) => RunningProfiler | undefined;
    /**
     * stops a
     * profiler and sends what it has after `since`, with more labels
     */
    $close: (profiler: RunningProfiler, since?: number, more?: Record<string, string>) => void;
};
/**
 * Goes on with what the loader has begun: cuts the time of a page view into chunks, and encodes and sends
 * them.
 * @param {Visit} visit
 * @param {Parts} parts
 * @param {typeof import('./vitals.js').vitals} [vitals]
 */
export declare function profile(visit: Visit, parts: Parts, vitals?: typeof import('./vitals.js').vitals): void;
