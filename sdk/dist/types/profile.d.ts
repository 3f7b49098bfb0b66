import type { RunningProfiler, Visit } from './loader.js';
export type Mode = (on: boolean, first?: boolean) => void;
export type Profiling = {
    $visit: Visit;
    /**
     * starts a profiler, if it
     * can
     */
    $open: (onFull: () => void) => RunningProfiler | undefined;
    /**
     * stops a profiler and sends its data after `since`, with additional labels
     */
    $close: (profiler: RunningProfiler, since?: number, more?: Record<string, string>) => void;
    /**
     * starts to profile in this mode
     */
    $go: (mode: Mode) => void;
};
/**
 * Continues what the loader started: divides the time of a page view into chunks, and encodes and
 * sends them.
 * @param {Visit} visit
 * @param {(visit: Visit) => void} [vitals] starts with the first page view that reports
 * @param {((visit: Visit) => void)[]} [chosen] start with the first selected page view
 * @param {(profiling: Profiling) => void} [recorder] calls `$go`
 */
export declare function profile(visit: Visit, vitals?: (visit: Visit) => void, chosen?: ((visit: Visit) => void)[], recorder?: (profiling: Profiling) => void): void;
