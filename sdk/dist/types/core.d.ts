import type { ProfilerTrace } from './encodeTrace.js';
export type Options = {
    /**
     * the collector, such as "https://profiles.example.com"
     */
    url: string;
    /**
     * write key, if the collector asks for one
     */
    key?: string;
    /**
     * version of the site
     */
    release?: string;
    /**
     * such as "production"
     */
    environment?: string;
    /**
     * name of the page, or what gives it for a
     * path; the path itself otherwise
     */
    page?: string | ((path: string) => string);
    /**
     * share of the page views that are profiled, 0 to 1; not asked where
     * the server has decided, see docs/sdk.md
     */
    sampleRate?: number;
    /**
     * the share with which the server has chosen this page view, 0 if it has
     * not, where Server-Timing can not say so
     */
    decided?: number;
    /**
     * ms between samples; 10
     */
    sampleInterval?: number;
    /**
     * further labels, with few values each; empty ones are
     * left out
     */
    labels?: Record<string, unknown>;
    /**
     * profile for `length` ms, at most 60,000, and then
     * not for `gap` ms on average, again and again, instead of throughout
     */
    windows?: {
        length: number;
        gap: number;
    };
    /**
     * share of the main thread's time over which the SDK switches itself off;
     * 0.005
     */
    maxCost?: number;
    /**
     * share of the page views that are not chosen which say so; 0.01
     */
    reportRate?: number;
    /**
     * do not profile visitors whose browser sends Global Privacy Control
     */
    honourGPC?: boolean;
};
export type Mode = (on: boolean, first?: boolean) => void;
export type Annotate = (trace: ProfilerTrace) => void;
/** Ends profiling for this page view and sends what there is. */
export declare function stop(): void;
/**
 * Begins to profile this page view, if it is chosen.
 * @param {Options} theOptions
 * @param {() => Annotate} [makeAnnotate]
 * @param {() => Mode} [makeMode] if none is given, throughout or in windows
 */
export declare function start(theOptions: Options, makeAnnotate?: () => Annotate, makeMode?: () => Mode): void;
