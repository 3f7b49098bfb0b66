import type { RunningProfiler, Visit } from './loader.js';
export type Mode = (on: boolean, first?: boolean) => void;
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
    /**
     * begins to profile in this mode
     */
    $go: (mode: Mode) => void;
};
/**
 * Goes on with what the loader has begun: cuts the time of a page view into chunks, and encodes and sends
 * them.
 * @param {Visit} visit
 * @param {(visit: Visit) => void} [vitals] begins with the first page view that says something
 * @param {((visit: Visit) => void)[]} [chosen] begin with the first page view that is chosen
 * @param {(profiling: Profiling) => void} [recorder] calls `$go`
 */
export declare function profile(visit: Visit, vitals?: (visit: Visit) => void, chosen?: ((visit: Visit) => void)[], recorder?: (profiling: Profiling) => void): void;
